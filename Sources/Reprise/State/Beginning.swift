import Media

/// Where a session begins: with its sources, or where the last one was left when there are none.
struct Beginning: Sendable, Equatable {
    /// What the last session left; sources come behind.
    var tracks: [Track] = []
    /// From 1; nil for the first in playing order.
    var start: Int?
    var position = Duration.zero
    var isPaused = false

    /// Whether the track that is begun with is on the web.
    var isOnWeb: Bool {
        guard let start, tracks.indices.contains(start - 1) else { return false }
        guard case .web = tracks[start - 1].location else { return false }
        return true
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
