import Media
import Playback
import System
import TestSupport

/// A whole player over scripted music and a sink in memory.
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
        gain: GainMode = .off,
        volume: Int? = nil,
        clock: TestClock = TestClock(),
        device: (any AudioOutput)? = nil,
        reaching: Task<Void, any Error>? = nil,
        save: @escaping @Sendable ([Track], String) async throws -> Void = { _, _ in }
    ) {
        self.sink = sink
        self.clock = clock
        let events = Relay()
        let readers = ReaderLog()
        relay = events
        readerLog = readers
        let music = Dictionary(uniqueKeysWithValues: pieces.map { ($0.location, $0) })
        var parts = PlaybackParts(
            open: { location, _ in
                guard let piece = music[location] else {
                    throw MediaError(.notFound, location.safeText, "there is no such file")
                }
                let reader = FakeReader(piece)
                readers.all.withLock { $0.append(reader) }
                return reader
            },
            makeDecoder: { reader, _ in
                guard let reader = reader as? FakeReader else {
                    preconditionFailure("readers are fakes here")
                }
                return FakeDecoder(reader)
            },
            output: device ?? sink,
            resolver: resolver ?? FixedResolver(tracks: pieces.map(\.track)),
            save: save,
            clock: clock,
            cache: cache,
            connectivity: connectivity
        )
        parts.connecting = reaching
        player = Player(
            parts: parts,
            settings: {
                var settings = PlaybackSettings(
                    exitsAtEnd: exitsAtEnd,
                    volume: volume,
                    repeatMode: repeatMode,
                    seed: 1
                )
                settings.fillsHeardTracks = fills
                settings.gainMode = gain
                return settings
            }()
        )
        player.observeEvents { event in events.all.withLock { $0.append(event) } }
    }

    private let relay: Relay
    private let readerLog: ReaderLog

    var events: [PlayerEvent] { relay.all.withLock { $0 } }
    var readers: [FakeReader] { readerLog.all.withLock { $0 } }

    /// The events that make up the story, in short: `track 1`, `playing 1`, `ended 1 finished 300`, ….
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
                case .loaded, .position, .summary: nil
                }
            // `track` is sent again when more is known.
            if let line, story.last != line { story.append(line) }
        }
        return story
    }

    /// Plays to the end.
    func play() async -> PlayerOutcome { await player.run(sources: ["all"]) }

    /// Plays while `body` listens and asks, then quits.
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
}

private final class Relay: Sendable { let all = Locked<[PlayerEvent]>([]) }
private final class ReaderLog: Sendable { let all = Locked<[FakeReader]>([]) }

private struct FixedResolver: TrackResolver {
    let tracks: [Track]

    func tracks(for source: String) async throws -> ResolvedTracks { ResolvedTracks(tracks: tracks) }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
