import Media

/// Where a session begins: with its sources, or where the last one was left when there are none.
struct Beginning: Sendable, Equatable {
    /// What the last session left; sources come behind.
    var tracks: [Track] = []
    /// From 1; nil for the first in playing order.
    var start: Int?
    var position = Duration.zero
    var isPaused = false

    /// What of the web is begun with, as far as that is known before anything is read: the track of the
    /// queue that was left, or the first of `sources`.
    func firstURL(of sources: [String]) -> WebURL? {
        guard !tracks.isEmpty else { return sources.first.flatMap { WebURL($0) } }
        let index = (start ?? 1) - 1
        guard tracks.indices.contains(index), case .web(let url) = tracks[index].location else { return nil }
        return url
    }

    init(options: Options, memory: SessionMemory?) {
        self.init(
            options: options,
            queue: memory?.queue.tracks ?? [],
            place: memory?.place,
            session: memory?.session
        )
    }

    init(
        options: Options,
        queue: [Track],
        place: (index: Int, position: Duration)?,
        session: SavedSession?
    ) {
        start = options.start
        position = options.seek
        guard options.sources.isEmpty, !queue.isEmpty else { return }
        tracks = queue
        isPaused = session?.isPaused ?? false
        guard options.start == nil, let place else { return }
        start = place.index + 1
        // A typed time is about the track that is begun with, whichever it is.
        if options.seek == .zero { position = place.position }
    }
}
