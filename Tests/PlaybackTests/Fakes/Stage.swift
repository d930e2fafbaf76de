import Media
import Playback
import System
import TestSupport

/// A whole player with scripted tracks and a sink in memory.
final class Stage: Sendable {
    let clock: TestClock
    let sink: TestSink
    let player: Player

    init(
        _ pieces: [FakeMusic],
        sink: TestSink = TestSink(),
        exitsAtEnd: Bool = true,
        repeatMode: RepeatMode = .off,
        resolver: (any TrackResolver)? = nil,
        cache: (any CacheStatus)? = nil,
        connectivity: (any Connectivity)? = nil,
        fills: Bool = false,
        ahead: AheadGoal? = nil,
        readsTags: Bool = false,
        scansPeaks: Bool = false,
        gain: GainMode = .off,
        volume: Int? = nil,
        deviceName: String? = nil,
        clock: TestClock = TestClock(),
        device: (any AudioOutput)? = nil,
        reaching: Task<Void, any Error>? = nil,
        save: @escaping @Sendable ([Track], String) async throws -> Void = { _, _ in },
        openFile: PlaybackParts.OpenFile? = nil
    ) {
        self.sink = sink
        self.clock = clock
        let log = log
        let music = Dictionary(uniqueKeysWithValues: pieces.map { ($0.location, $0) })
        let open: @Sendable (ResourceLocation) throws -> any ResourceReader = { location in
            guard let piece = music[location] else {
                throw MediaError(.notFound, location.safeText, "there is no such file")
            }
            let reader = FakeReader(piece)
            log.readers.withLock { $0.append(reader) }
            return reader
        }
        var parts = PlaybackParts(
            open: { track, opening in
                if opening == .ahead { log.ahead.withLock { $0.append(track.id.value) } }
                return try open(track.location)
            },
            makeDecoder: { reader, _ in FakeDecoder(reader) },
            output: device ?? sink,
            resolver: resolver ?? FixedResolver(tracks: pieces.map(\.track)),
            save: save,
            clock: clock,
            cache: cache,
            connectivity: connectivity
        )
        parts.connecting = reaching
        parts.openFile = openFile
        if readsTags { parts.openFile = { path, _ in try open(.file(path)) } }
        var settings = PlaybackSettings()
        settings.exitsAtEnd = exitsAtEnd
        settings.volume = volume
        settings.device = deviceName
        settings.repeatMode = repeatMode
        settings.seed = 1
        settings.fillsHeardTracks = fills
        settings.ahead = ahead
        settings.gainMode = gain
        if scansPeaks { settings.scanRest = 0 }
        player = Player(parts: parts, settings: settings)
        player.observeEvents { event in log.events.withLock { $0.append(event) } }
    }

    private final class Log: Sendable {
        let events = Locked<[PlayerEvent]>([])
        let readers = Locked<[FakeReader]>([])
        let ahead = Locked<[UInt64]>([])
    }

    private let log = Log()

    var events: [PlayerEvent] { log.events.withLock { $0 } }
    var readers: [FakeReader] { log.readers.withLock { $0 } }
    /// The numbers of the tracks that were opened to be downloaded ahead.
    var ahead: [UInt64] { log.ahead.withLock { $0 } }

    /// The codes of all notices and remarks.
    var notices: [String] {
        events.compactMap {
            switch $0 {
            case .notice(let code, _), .remark(let code, _): code
            default: nil
            }
        }
    }

    /// The most important events, in short: `track 1`, `playing 1 at 0`, `ended 1 finished 300`, ….
    var story: [String] {
        var story: [String] = []
        for event in events {
            let line: String? =
                switch event {
                case .track(let report): "track \(report.index)"
                case .playing(let index, let position, _): "playing \(index) at \(position.milliseconds)"
                case .buffering(let index, _): "buffering \(index)"
                case .paused(let index, let position, _): "paused \(index) at \(position.milliseconds)"
                case .seeked(let index, let position, _): "seeked \(index) at \(position.milliseconds)"
                case .ended(let report): "ended \(report.index) \(report.reason.rawValue) \(report.frames)"
                case .notice(let code, _), .remark(let code, _): "notice \(code)"
                case .loaded, .position, .volume, .mode, .queue, .status, .list, .devices, .download,
                    .summary, .answered:
                    nil
                }
            // `track` is sent again when more is known.
            if let line, story.last != line { story.append(line) }
        }
        return story
    }

    /// Plays to the end.
    func play() async -> PlayerOutcome { await player.run(sources: ["all"]) }

    /// Plays while `body` runs, then quits.
    @discardableResult
    func play(_ body: (Stage) async throws -> Void) async throws -> PlayerOutcome {
        let running = Task { await self.play() }
        do {
            try await body(self)
        } catch {
            player.send(.quit)
            _ = await running.value
            throw error
        }
        player.send(.quit)
        return await running.value
    }

    /// Runs `body` as soon as music plays, and the sink has taken `heard` frames; then quits.
    @discardableResult
    func sound(heard: FrameCount = 0, _ body: (Stage) async throws -> Void) async throws -> PlayerOutcome {
        try await play { stage in
            try await wait(for: "music") {
                stage.player.snapshot.state == .playing && stage.sink.heardFrames >= heard
            }
            try await body(stage)
        }
    }

    /// Advances the clock by a quarter of a second as soon as the player's timer sleeps.
    func tick() async throws {
        try await wait(for: "the timer") { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(250))
    }

    /// Ticks until `condition` holds. A tick that comes while the sink waits for music prepares nothing.
    func tick(until what: String, _ condition: () -> Bool) async throws {
        try await wait(for: what) {
            if !condition(), clock.sleeperCount == 1 { clock.advance(by: .milliseconds(250)) }
            return condition()
        }
    }
}

/// A resolver that returns the same tracks for every source.
struct FixedResolver: TrackResolver {
    let tracks: [Track]

    func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
        await deliver(ResolvedTracks(tracks: tracks))
    }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
