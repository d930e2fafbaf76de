import Media

/// The saved state: the last session with its queue, and positions, episodes and command lines of all
/// sessions.
struct SavedState: Sendable, Equatable {
    var queue = SavedQueue()
    var session = SavedSession()
    var places = ResumePlaces()
    /// The keys of the played episodes.
    var played: Set<String> = []
    /// The lines typed after `:`, oldest first.
    var history: [String] = []

    init() {}

    /// Without `isContinued`, only what is no part of a session.
    init(_ tables: StateTables, isContinued: Bool) throws {
        played = try tables.played()
        history = try tables.history()
        guard isContinued else { return }
        queue = try tables.queue()
        session = try tables.session()
        let heard = try tables.heard()
        session.heard = heard[StateTables.currentKey] ?? HeardSpans()
        places = ResumePlaces(positions: try tables.places(), heard: heard)
    }

    /// The index and position in the queue.
    var place: (index: Int, position: Duration)? {
        guard let current = session.current, queue.tracks.indices.contains(current) else { return nil }
        return (current, session.position)
    }
}

/// The saved state of a session, other than its tracks: the position in the queue, volume and modes.
struct SavedSession: Sendable, Equatable {
    /// The index in the queue, from 0.
    var current: Int?
    var position = Duration.zero
    /// The parts of the current track that were heard.
    var heard = HeardSpans()
    var isPaused = false
    /// 0...100.
    var volume = 100
    /// The name of the chosen sound device.
    var device: String?
    var modes = PlayModes()
    /// Scheme, host and port of the servers named on the command line, which may receive its secrets.
    var origins: [String] = []
    var downloads: [SavedDownload] = []

    init() {}

    /// Position, volume and modes of `snapshot`. A queue that was played to its end restarts, paused.
    init(_ snapshot: PlayerSnapshot) {
        let isAtEnd = snapshot.state == .ended
        current = isAtEnd ? (snapshot.tracks.isEmpty ? nil : 0) : snapshot.currentIndex
        position = isAtEnd ? .zero : snapshot.position
        heard = isAtEnd ? HeardSpans() : snapshot.heard
        isPaused = [.paused, .stopped, .ended].contains(snapshot.state)
        volume = snapshot.volume
        device = snapshot.device
        modes = snapshot.modes
        downloads = snapshot.downloads.compactMap { SavedDownload($0, snapshot.learned[$0.track.id]) }
    }
}

/// A download that is not finished, which the next session goes on with.
struct SavedDownload: Sendable, Equatable {
    let track: Track
    let isPaused: Bool

    init(of track: Track, isPaused: Bool) {
        self.track = track
        self.isPaused = isPaused
    }

    /// `nil` if it failed for another reason than the network: it would fail again. `nil` also if it is only
    /// ahead of the music, of which the next session decides anew.
    init?(_ report: DownloadReport, _ facts: TrackFacts?) {
        if report.isAhead { return nil }
        if case .failed(let error) = report.phase, !Self.passing.contains(error.code) { return nil }
        self.init(of: report.track.described(by: facts), isPaused: report.phase == .paused)
    }

    private static let passing: Set<MediaError.Code> = [
        .offline, .unknownHost, .networkUnreachable, .connectionFailed, .connectionRefused, .timedOut, .cut,
    ]

    var report: DownloadReport { DownloadReport(track, phase: isPaused ? .paused : .waiting) }

    /// A title that is learned later is not worth a write.
    static func == (left: SavedDownload, right: SavedDownload) -> Bool {
        left.track.location == right.track.location && left.isPaused == right.isPaused
    }
}

/// The positions at which long tracks and episodes were left, so that they continue there.
struct ResumePlaces: Sendable, Equatable {
    /// The shortest track whose position is saved: longer ones are podcasts and books, hardly songs.
    static let shortestTrack = Duration.seconds(20 * 60)
    /// A position this near to the start or the end is not worth returning to.
    static let margin = Duration.seconds(30)

    /// By `Track.placeKey`.
    private(set) var positions: [String: Duration] = [:]
    /// The parts that were heard before the positions.
    private(set) var heard: [String: HeardSpans] = [:]
    /// The keys whose positions were set or removed since they were saved.
    var unsaved: Set<String> = []

    /// Records the position of a long track, or of an episode of any length, that `player` plays. Near its
    /// end the saved position is removed, so that the track starts from its beginning the next time.
    mutating func note(_ track: Track, of player: PlayerSnapshot) {
        guard let duration = player.duration, player.position >= Self.margin,
            track.episode != nil || duration > Self.shortestTrack
        else { return }
        let isNearEnd = duration - player.position < Self.margin
        set(isNearEnd ? nil : player.position, heard: player.heard, of: track.placeKey)
    }

    /// Without a position, the track starts from its beginning the next time.
    mutating func set(_ position: Duration?, heard parts: HeardSpans = HeardSpans(), of key: String) {
        positions[key] = position
        heard[key] = position == nil ? nil : parts
        unsaved.insert(key)
    }
}
