package import Media
package import System

/// The settings of the player; each tunable number has its reason beside it.
package struct PlaybackSettings: Sendable {
    /// PCM needed before the first sound: the size of the sink's own buffer, so that it starts full.
    package var startTime = Duration.milliseconds(250)
    /// The longest time between two updates of the position while music plays.
    package var tick = Duration.milliseconds(250)
    package var gainMode = GainMode.off
    /// The length of the next track's head that is fetched in advance.
    package var headTime = Duration.seconds(10)
    /// `true` if tracks that were heard in part are fetched completely in the background.
    package var fillsHeardTracks = false
    /// How many times as long as it works the scan rests that decodes in the background, for waveforms, what
    /// is cached of the current and the next track; `nil` without such a scan.
    package var scanRest: Int?
    /// With it, the scan takes 1 % of a core.
    package static let usualScanRest = 99
    /// How much of what the queue plays next is downloaded ahead; `nil` for nothing.
    package var ahead: AheadGoal?
    /// The most background fetches at a time. More would only add connections that share the same bandwidth.
    package var mostBackgroundFetches = 4

    package var exitsAtEnd = false
    /// In percent; `nil` keeps the volume that the sink remembers.
    package var volume: Int?
    /// The name of the chosen sound device; `nil` follows the default of the audio server.
    package var device: String?
    package var repeatMode = RepeatMode.off
    package var shuffle = false
    /// Determines every shuffle.
    package var seed = UInt64.random(in: 0 ... .max)

    package init() {}
}

/// The parts of which the player is made.
package struct PlaybackParts: Sendable {
    package typealias Open = @Sendable (Track, Opening) async throws -> any ResourceReader
    package typealias OpenFile = @Sendable (String, WorkThread) async throws -> any ResourceReader

    package enum Opening: Sendable {
        case playing
        /// Cached bytes are revalidated with the server first.
        case refreshing
        /// It is downloaded because the queue plays it next (`ResourceUse.ahead`).
        case ahead
    }

    /// Opens the resource of a track.
    package var open: Open
    /// Opens the local file at a path for reading its tags on a thread. `nil` if the tags of tracks that were
    /// not played yet are not shown.
    package var openFile: OpenFile?
    package typealias OpenHead = @Sendable (WebURL) async throws -> (any ResourceReader)?
    /// Opens a resource from the web to read its tags, if its server may be asked for tags of tracks that
    /// were not played yet. `nil` if none may.
    package var openHead: OpenHead?
    /// Chooses the decoder of an open resource by its kind, and makes it.
    package var makeDecoder: TrackDownload.MakeDecoder
    /// Opens the stream of segments (HLS) whose list a reader has opened; the new reader closes that one.
    /// `nil` if the resource is no such list.
    package var openStream: TrackDownload.OpenStream = { _, _, _ in nil }
    package var output: any AudioOutput
    /// A connection attempt of `output` that has begun already; `nil` if the player must connect.
    package var connecting: Task<Void, any Error>?
    package var resolver: any TrackResolver
    package var save: @Sendable ([Track], String) async throws -> Void
    package var clock: any MonotonicClock
    /// The cache; `nil` without one.
    package var cache: (any CacheStatus)?
    /// Reports whether the network is available; `nil` if that is unknown.
    package var connectivity: (any Connectivity)?
    /// `nil` if nothing is remembered between sessions.
    package var memory: (any ListeningMemory)?

    package init(
        open: @escaping Open,
        makeDecoder: @escaping TrackDownload.MakeDecoder,
        output: any AudioOutput,
        resolver: any TrackResolver,
        save: @escaping @Sendable ([Track], String) async throws -> Void,
        clock: any MonotonicClock,
        cache: (any CacheStatus)? = nil,
        connectivity: (any Connectivity)? = nil
    ) {
        self.open = open
        self.makeDecoder = makeDecoder
        self.output = output
        self.resolver = resolver
        self.save = save
        self.clock = clock
        self.cache = cache
        self.connectivity = connectivity
    }
}

/// The result of a session.
package struct PlayerOutcome: Sendable, Equatable {
    package var summary: PlayerEvent.SummaryReport
    /// The reason why the player could not continue; `nil` if it ended as requested.
    package var fatal: MediaError?
    /// `true` if the user quit.
    package var isQuit: Bool
}

extension PlayerEvent.SummaryReport {
    mutating func sourceLost() {
        failed += 1
        lostSources += 1
    }

    mutating func trackEnded(_ report: PlayerEvent.EndReport) {
        switch report.reason {
        case .failed: failed += 1
        case .finished: played += 1
        case .skipped where report.frames > 0:
            played += 1
            if report.isBrief { skipped += 1 }
        case .skipped: break
        }
        stalls += report.stalls
    }

    /// Counts the bytes and requests of a resource, even if its track was only prepared and never played.
    /// Requests that others share are counted by the last of them.
    mutating func resourceClosed(_ report: LoadReport) {
        cachedBytes += report.cachedBytes
        guard !report.isShared else { return }
        fetchedBytes += report.fetchedBytes
        requestCount += report.requestCount
    }
}
