import Media
import Playback

/// The start of a session: its sources, or without any, the queue and position of the last session.
struct Beginning: Sendable, Equatable {
    /// The queue of the last session.
    var tracks: [Track] = []
    /// From 1; `nil` for the first in playing order.
    var start: Int?
    var position = Duration.zero
    var isPaused = false

    /// The URL to request first, if it is known before anything is read: that of the track to continue, or of
    /// the first of `sources`.
    func firstURL(of sources: [String]) -> WebURL? {
        guard !tracks.isEmpty else { return sources.first.flatMap { WebURL($0) } }
        let index = (start ?? 1) - 1
        guard tracks.indices.contains(index), case .web(let url) = tracks[index].location else { return nil }
        return url
    }

    /// Plays the queue and `sources` on `player` until the session ends.
    func play(_ sources: [String], on player: Player) async -> PlayerOutcome {
        if isPaused { player.send(.pause) }
        return await player.run(tracks: tracks, sources: sources, start: start, position: position)
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
        // A typed time overrides the saved position.
        if options.seek == .zero { position = place.position }
    }
}
