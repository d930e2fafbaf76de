import Media
import Output
import Playback

/// The start of a session: its sources, or without any, the queue and position of the last session.
struct Beginning: Sendable, Equatable {
    /// The queue of the last session.
    private(set) var tracks: [Track] = []
    /// From 1; `nil` for the first in playing order.
    private(set) var start: Int?
    private(set) var position: Duration
    private(set) var isPaused = false
    private var downloads: [SavedDownload]

    init(options: Options, last: SavedState) {
        start = options.start
        position = options.seek
        downloads = last.session.downloads
        guard options.sources.isEmpty, !last.queue.tracks.isEmpty else { return }
        tracks = last.queue.tracks
        isPaused = last.session.isPaused
        guard options.start == nil, let place = last.place else { return }
        start = place.index + 1
        // A typed time overrides the saved position.
        if options.seek == .zero { position = place.position }
    }

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
        return await player.run(
            tracks: tracks,
            sources: sources,
            start: start,
            position: position,
            downloads: downloads.map(\.report)
        )
    }
}

extension PlaybackSettings {
    /// Typed and configured options override the last session.
    init(_ options: Options, _ presentation: Presentation, last: SavedSession?) {
        // A session that never changed the volume saves 100; in that case, leave the volume to the audio
        // server.
        let lastVolume = last.flatMap { $0.volume == 100 ? nil : $0.volume }
        self.init()
        exitsAtEnd = presentation != .screen
        volume = options.volume ?? lastVolume
        device = options.sink.device ?? last?.device
        repeatMode = options.repeatMode ?? last?.modes.repeatMode ?? .off
        shuffle = options.shuffle ?? last?.modes.isShuffled ?? false
        fillsHeardTracks = options.fill
        // Only the screen shows waveforms.
        if presentation == .screen, options.waveform != .played { scanRest = Self.usualScanRest }
        ahead = options.ahead?.goal
        gainMode = options.gain ?? last?.modes.gainMode ?? .off
        // Without a screen, positions are printed once a second.
        if presentation != .screen { tick = .seconds(1) }
    }
}
