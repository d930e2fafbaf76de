import Media
import System
import TestSupport
import Testing

@testable import Playback

/// Sources that take long to read, such as trees of folders.
@Suite
final class SourceReaderTests: Sendable {
    /// Delivers the tracks of a source in parts, each when the test allows it.
    private final class SlowResolver: TrackResolver {
        private let parts = AsyncStream.makeStream(of: [Int].self)
        private let allowed = Locked(0)

        /// `true` if all that was allowed is delivered.
        var isIdle: Bool { allowed.withLock { $0 == 0 } }

        func allow(_ numbers: ClosedRange<Int>) {
            allowed.withLock { $0 += 1 }
            parts.continuation.yield(Array(numbers))
        }

        func end() { parts.continuation.finish() }

        func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
            for await numbers in parts.stream {
                await deliver(ResolvedTracks(tracks: numbered(numbers)))
                allowed.withLock { $0 -= 1 }
            }
            try Task.checkCancellation()
        }
    }

    /// Has something open from its question to its cancellation, and closes it a few steps later.
    private final class ClosingResolver: TrackResolver {
        let isOpen = Locked(false)

        func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
            isOpen.withLock { $0 = true }
            _ = await OneShot<Void>().wait(ifCancelled: ())
            for _ in 1...100 { await Task.yield() }
            isOpen.withLock { $0 = false }
        }
    }

    private struct Batch: Equatable {
        var numbers: [UInt64]
        var isLast = false
    }

    private let clock = TestClock()
    private let resolver = SlowResolver()
    private let batches = Locked<[Batch]>([])

    /// The reports of the source that is awaited, such as `source 2`.
    private let reports = Locked<[String]>([])

    private func reading(_ pace: ReadingOrder.Pace = .inParts, by other: (any TrackResolver)? = nil)
        -> SourceReader
    {
        SourceReader(resolver: other ?? resolver, clock: clock, order: ReadingOrder(pace)) { [self] output in
            switch output {
            case .part(let part, let isLast, _):
                let batch = Batch(numbers: part.tracks.map(\.id.value), isLast: isLast)
                batches.withLock { $0.append(batch) }
            case .awaits(let name, let count):
                reports.withLock { $0.append("\(name?.string ?? "none") \(count)") }
            }
        }
    }

    private func end(of reading: SourceReader) async throws {
        try await wait(for: "the last batch") { batches.withLock { $0.last?.isLast == true } }
        await reading.end()
        try await wait(for: "the end of the timer") { clock.sleeperCount == 0 }
    }

    @Test func `a source that is read within two seconds is one batch`() async throws {
        let reading = reading()
        reading.read(["source"])
        resolver.allow(1...1)
        resolver.allow(2...3)
        resolver.end()
        try await end(of: reading)
        #expect(batches.withLock { $0 } == [Batch(numbers: [1, 2, 3], isLast: true)])
        #expect(reports.withLock { $0.isEmpty })
    }

    @Test func `after two seconds what is known is passed on, and the rest as it comes`() async throws {
        let reading = reading()
        reading.read(["source"])
        resolver.allow(1...2)
        try await wait(for: "the tracks") { resolver.isIdle && clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(1_999))
        #expect(batches.withLock { $0.isEmpty })
        clock.advance(by: .milliseconds(1))
        try await wait(for: "the first batch") { batches.withLock { $0 } == [Batch(numbers: [1, 2])] }
        try await wait(for: "the report") { reports.withLock { $0 } == ["source 2"] }
        // While nothing comes, there is no timer.
        #expect(clock.sleeperCount == 0)
        resolver.allow(3...3)
        try await wait(for: "the timer") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        try await wait(for: "the second batch") { batches.withLock { $0.count } == 2 }
        resolver.allow(4...4)
        resolver.end()
        try await end(of: reading)
        #expect(
            batches.withLock { $0 } == [
                Batch(numbers: [1, 2]), Batch(numbers: [3]), Batch(numbers: [4], isLast: true),
            ]
        )
    }

    @Test func `if all tracks are awaited, progress is reported, and stopping passes on what was read`()
        async throws
    {
        let reading = reading(.atOnce)
        reading.read(["source"])
        resolver.allow(1...2)
        try await wait(for: "the tracks") { resolver.isIdle && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        try await wait(for: "progress") { reports.withLock { $0 } == ["source 2"] }
        #expect(batches.withLock { $0.isEmpty })
        reading.stop()
        try await end(of: reading)
        #expect(batches.withLock { $0 } == [Batch(numbers: [1, 2], isLast: true)])
    }

    /// Reads `silent` until it is cancelled, and `stuck` even longer; other sources have one track.
    private struct SilentResolver: TrackResolver {
        var thread = WorkThread(name: "stuck")
        var end = Gate()

        func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
            guard source != "stuck" else { return await thread.run { [end] in end.wait() } }
            guard let number = Int(source) else {
                try await Task.sleep(for: .seconds(600))
                return
            }
            await deliver(ResolvedTracks(tracks: numbered([number])))
        }
    }

    @Test func `sources are read although the first one never answers, and it can be passed over`()
        async throws
    {
        let reading = reading(by: SilentResolver())
        reading.read(["silent", "2", "3"])
        try await wait(for: "the others") { reading.count == 1 && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        try await wait(for: "the report") { reports.withLock { $0 } == ["silent 2"] }
        #expect(batches.withLock { $0.isEmpty })
        reading.passOver()
        try await wait(for: "the others") { batches.withLock { $0 } == [Batch(numbers: [2, 3])] }
        reading.stop()
        try await end(of: reading)
        #expect(reports.withLock { $0 } == ["silent 2", "none 2"])
    }

    @Test func `a source that ignores its cancelling holds up the others for 2 s, the end for 1 s`()
        async throws
    {
        let resolver = SilentResolver()
        let reading = reading(by: resolver)
        reading.read(["stuck", "stuck", "stuck", "2", "stuck", "left out"])
        try await wait(for: "the track") { reading.count == 5 && clock.sleeperCount == 1 }
        reading.stop()
        try await wait(for: "the stop") { reading.count == 4 && clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(1_999))
        #expect(batches.withLock { $0.isEmpty })
        clock.advance(by: .milliseconds(1))
        let track = [Batch(numbers: [2], isLast: true)]
        try await wait(for: "the track") { batches.withLock { $0 } == track }
        let ending = Task { await reading.end() }
        try await wait(for: "the wait of the end") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        await ending.value
        for _ in 1...4 { resolver.end.open() }
    }

    @Test func `additions behind one that never answers are made after two seconds`() async throws {
        let reading = reading(.singly, by: SilentResolver())
        for source in ["silent", "2", "3"] { reading.read([source]) }
        try await wait(for: "the others") { reading.count == 1 && clock.sleeperCount == 1 }
        #expect(batches.withLock { $0.isEmpty })
        clock.advance(by: .seconds(2))
        let both = [Batch(numbers: [2], isLast: true), Batch(numbers: [3], isLast: true)]
        try await wait(for: "the others") { batches.withLock { $0 } == both }
        await reading.end()
    }

    @Test func `a source that can't be read is a problem, and the next one is read`() async throws {
        struct Broken: TrackResolver {
            func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
                guard source == "good" else { throw MediaError(.notFound, "bad", "gone") }
                await deliver(ResolvedTracks(tracks: numbered([1])))
            }
        }
        let found = Locked<ResolvedTracks?>(nil)
        let reading = SourceReader(resolver: Broken(), clock: clock, order: ReadingOrder(.inParts)) {
            output in
            if case .part(let part, true, _) = output { found.withLock { $0 = part } }
        }
        reading.read(["bad", "good"])
        try await wait(for: "the end") { found.withLock { $0 != nil } }
        await reading.end()
        #expect(found.withLock { $0?.tracks.count == 1 && $0?.problems.map(\.code) == [.notFound] })
    }

    @Test func `the end waits until a source that is being read has closed what it opened`() async throws {
        let closing = ClosingResolver()
        let reading = reading(by: closing)
        reading.read(["source"])
        try await wait(for: "the source") { closing.isOpen.withLock { $0 } }
        await reading.end()
        #expect(!closing.isOpen.withLock { $0 })
    }

    // MARK: The player

    @Test func `the first part plays, and the rest follows it without an end in between`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let first = ResolvedTracks(tracks: numbered(1...1))
        let launched = state.send(.launched(first, start: nil, position: .zero, isComplete: false))
        #expect(launched.start?.track.id.value == 1 && launched.contains(.emit(.loaded(tracks: 1))))
        // The only track fails; the player waits for more.
        let failed = state.send(.passFailed(1, MediaError(.notAudio, "1", "noise"), frames: 0))
        #expect(!failed.contains(.finish(fatal: nil)) && state.phase == .ended)
        let more = state.send(
            .launchedMore(ResolvedTracks(tracks: numbered(2...3)), isComplete: false)
        )
        #expect(more.start?.track.id.value == 2 && more.contains(.emit(.loaded(tracks: 3))))
        #expect(state.send(.launchedMore(ResolvedTracks(tracks: []), isComplete: true)).isEmpty)
        #expect(state.phase == .active)
    }

    @Test func `the player ends after the last part if nothing is left to play`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let first = ResolvedTracks(tracks: numbered(1...1))
        state.send(
            .launched(first, start: nil, position: .zero, isComplete: false),
            .passFailed(1, MediaError(.notAudio, "1", "noise"), frames: 0)
        )
        let problem = ResolvedTracks(tracks: [], problems: [MediaError(.notFound, "2", "gone")])
        let effects = state.send(.launchedMore(problem, isComplete: true))
        #expect(effects.contains(.finish(fatal: nil)) && effects.contains(.countLostSource))
    }

    @Test func `saving waits for all tracks`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        let first = ResolvedTracks(tracks: numbered(1...1))
        state.send(.launched(first, start: nil, position: .zero, isComplete: false))
        let message: SafeText = "x is saved once all tracks are read"
        #expect(state.send(.command(.save("x"))) == [.emit(.remark(code: "reading", message: message))])
        let more = ResolvedTracks(tracks: numbered(2...2))
        #expect(state.send(.launchedMore(more, isComplete: false)).saves.isEmpty)
        #expect(state.send(.launchedMore(ResolvedTracks(tracks: []), isComplete: true)).saves == ["x 2"])
    }

    @Test func `stop ends the reading before the first track`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        let text: SafeText = "Reading list.m3u (40 tracks so far)"
        let report = PlayerInput.reading(tracks: 40, of: "list.m3u")
        #expect(state.send(report) == [.emit(.remark(code: "reading", message: text))])
        #expect(state.awaitedSource == "list.m3u")
        #expect(state.send(.command(.stop)) == [.stopReading])
        #expect(state.send(.launched(numbered(1...1))).start != nil)
        #expect(state.send(.reading(tracks: 41, of: nil)).isEmpty && state.awaitedSource == nil)
    }

    @Test func `a source that takes long is named once while music plays, and with its count before that`() {
        var state = PlayerState.sounding(1)
        #expect(state.send(.reading(tracks: 0, of: "list")).count == 1)
        #expect(state.send(.reading(tracks: 9, of: "list")).isEmpty)
        state = PlayerState(exitsAtEnd: false, seed: 1)
        for count in 1...3 { #expect(state.send(.reading(tracks: count, of: "list")).count == 1) }
        let long = SafeText(String(repeating: "x", count: 200))
        _ = state.send(.reading(tracks: 123_456, of: long))
        #expect(state.announcer.messages.allSatisfy { $0.text.string.count <= 80 })
    }

    @Test func `next passes over the source that the first track waits for, however early it was typed`() {
        for isEarly in [true, false] {
            var state = PlayerState(exitsAtEnd: true, seed: 1)
            if isEarly { #expect(state.send(.scripted(.next)).isEmpty) }
            let report = state.send(.reading(tracks: 1, of: "dead"))
            let effects = isEarly ? report : state.send(.command(.next))
            #expect(effects.contains(.passOverSource) && report.contains(.passOverSource) == isEarly)
            let text: SafeText = "Playing what was read – dead follows when it is read"
            #expect(effects.contains(.emit(.remark(code: "reading", message: text))))
            #expect(state.heldCommands.count == 0)
            let part = ResolvedTracks(tracks: numbered(2...3))
            let launched = state.send(.launched(part, start: nil, position: .zero, isComplete: false))
            #expect(launched.start?.track.id.value == 2)
            // From now on it skips tracks.
            #expect(state.send(.command(.next)).start?.track.id.value == 3)
        }
    }

    @Test func `next passes over a source when everything before it was played`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let first = ResolvedTracks(tracks: numbered(1...1))
        state.send(
            .launched(first, start: nil, position: .zero, isComplete: false),
            .passFailed(1, MediaError(.notAudio, "1", "noise"), frames: 0),
            .reading(tracks: 2, of: "dead")
        )
        #expect(state.send(.command(.next)).contains(.passOverSource))
        let more = ResolvedTracks(tracks: numbered(2...2))
        #expect(state.send(.launchedMore(more, isComplete: false)).start?.track.id.value == 2)
    }

    @Test func `next passes over the source of the command line, also while an addition takes long`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        let first = ResolvedTracks(tracks: numbered(1...1))
        state.send(
            .launched(first, start: nil, position: .zero, isComplete: false),
            .reading(tracks: 1, of: "dead"),
            .passFailed(1, MediaError(.notAudio, "1", "noise"), frames: 0),
            .command(.add("slow"))
        )
        let report = state.send(.reading(tracks: 0, of: "slow", isAddition: true))
        #expect(report == [.emit(.remark(code: "reading", message: "Reading slow"))])
        let text: SafeText = "Playing what was read – dead follows when it is read"
        let passes: [PlayerEffect] = [.emit(.remark(code: "reading", message: text)), .passOverSource]
        #expect(state.send(.command(.next)) == passes)
        // The end of the addition does not hide the other source.
        state.send(.reading(tracks: 0, of: nil, isAddition: true))
        #expect(state.awaitedSource == "dead" && state.awaitedAddition == nil)
        #expect(state.send(.command(.next)) == passes)
    }

    @Test func `the reading of sources and additions is stopped, and only while there is some`() {
        var state = PlayerState.sounding(1, exitsAtEnd: false)
        #expect(!state.isReadingSources && state.send(.command(.stopReading)) != [.stopReading])
        state.send(.command(.add("folder")))
        #expect(state.isReadingSources && state.send(.command(.stopReading)) == [.stopReading])
        // The tracks that were read until then.
        state.send(.added(numbered(2...3), problems: []))
        #expect(state.queue.tracks.count == 3 && !state.isReadingSources)
        var launching = PlayerState(exitsAtEnd: false, seed: 1)
        #expect(launching.send(.command(.stopReading)) == [.stopReading])
        launching.send(
            .launched(ResolvedTracks(tracks: numbered(1...2)), start: nil, position: .zero, isComplete: false)
        )
        #expect(launching.isReadingSources && launching.send(.command(.stopReading)) == [.stopReading])
        launching.send(.launchedMore(ResolvedTracks(tracks: []), isComplete: true))
        #expect(!launching.isReadingSources)
    }

    /// Reads one track of each source, and never comes to the end of `slow`.
    private struct EndlessResolver: TrackResolver {
        func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
            await deliver(ResolvedTracks(tracks: numbered([source == "all" ? 1 : source == "slow" ? 2 : 3])))
            if source == "slow" { try await Task.sleep(for: .seconds(600)) }
        }
    }

    @Test func `an addition that is stopped keeps what was read, and later ones are read`() async throws {
        let pieces = (1...3).map { FakeMusic(number: $0, frames: 9_000) }
        let stage = Stage(
            pieces,
            sink: TestSink(allowance: 0),
            exitsAtEnd: false,
            resolver: EndlessResolver()
        )
        try await stage.play { stage in
            try await wait(for: "the track") { stage.player.snapshot.info != nil }
            #expect(!stage.player.snapshot.isReading)
            stage.player.send(.add("slow"))
            try await wait(for: "the reading") { stage.player.snapshot.isReading }
            stage.player.send(.stopReading)
            try await wait(for: "what was read") {
                stage.player.snapshot.tracks.map(\.id.value) == [1, 2] && !stage.player.snapshot.isReading
            }
            stage.player.send(.add("later"))
            try await wait(for: "the later one") {
                stage.player.snapshot.tracks.map(\.id.value) == [1, 2, 3]
            }
        }
    }

    @Test func `one undo removes all parts of an addition`() {
        var state = PlayerState.sounding(1)
        state.send(.command(.add("folder")))
        state.send(.added(numbered(2...3), problems: [], isLast: false))
        state.send(.added(numbered(4...4), problems: []))
        #expect(state.queue.tracks.count == 4)
        state.send(.command(.undo))
        #expect(state.queue.tracks.count == 1)
    }
}
