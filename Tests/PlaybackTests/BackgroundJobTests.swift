import Media
import Playback
import System
import TestSupport
import Testing

@Suite struct BackgroundJobTests {
    /// Resolves a number to the track with that number; a higher number is resolved sooner.
    private struct BackwardResolver: TrackResolver {
        let pieces: [FakeMusic]
        let clock: TestClock

        func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
            let number = Int(source) ?? 1
            if number > 1 { try await clock.sleep(until: .seconds(10 - number)) }
            await deliver(ResolvedTracks(tracks: [pieces[number - 1].track]))
        }
    }

    @Test func `additions are made in the order of the commands`() async throws {
        let clock = TestClock()
        let pieces = (1...4).map { FakeMusic(number: $0, frames: 9_000) }
        let resolver = BackwardResolver(pieces: pieces, clock: clock)
        let stage = Stage(pieces, sink: TestSink(allowance: 0), resolver: resolver)
        try await stage.play { stage in
            for number in 2...4 { stage.player.send(.add("\(number)")) }
            try await wait(for: "the tracks") {
                clock.advance(by: .seconds(1))
                return stage.player.snapshot.tracks.count == 4
            }
            #expect(stage.player.snapshot.tracks.map(\.id.value) == [1, 2, 3, 4])
        }
    }

    @Test func `quitting waits for a list that is being saved`() async throws {
        let clock = TestClock()
        let saved = Locked<[String]>([])
        let stage = Stage([FakeMusic(number: 1, frames: 9_000)], sink: TestSink(allowance: 0)) {
            tracks,
            path in
            try await clock.sleep(until: .seconds(1))
            saved.withLock { $0.append("\(path) \(tracks.count)") }
        }
        let running = Task { await stage.play() }
        stage.player.send(.save("one"))
        try await wait(for: "the save") { clock.sleeperCount == 1 }
        stage.player.send(.save("two"))
        stage.player.send(.quit)
        try await wait(for: "the quit") { stage.player.snapshot.isOver }
        try await wait(for: "the end") {
            clock.advance(by: .seconds(1))
            return stage.events.contains { if case .summary = $0 { true } else { false } }
        }
        _ = await running.value
        #expect(saved.withLock { $0 } == ["one 1", "two 1"])
    }

    /// Resolves every source but `gone.mp3`.
    private struct PickyResolver: TrackResolver {
        let track: Track

        func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
            guard source != "gone.mp3" else { throw MediaError(.notFound, SafeText(source), "no such file") }
            await deliver(ResolvedTracks(tracks: [track]))
        }
    }

    @Test func `the message about a failed add or save names the command, for the line to be edited`()
        async throws
    {
        let music = FakeMusic(number: 1, frames: 9_000)
        let picky = PickyResolver(track: music.track)
        let stage = Stage([music], sink: TestSink(allowance: 0), resolver: picky) { _, path in
            throw MediaError(.notCached, SafeText(path), "a folder")
        }
        try await stage.play { stage in
            try await wait(for: "the track") { stage.player.snapshot.tracks.count == 1 }
            for command in [PlayerCommand.save("folder"), .add("gone.mp3")] {
                stage.player.send(command)
                try await wait(for: "the failure") { stage.player.snapshot.messages.last?.failed == command }
            }
            stage.player.send(.add("here.mp3"))
            try await wait(for: "the addition") {
                let last = stage.player.snapshot.messages.last
                return last?.text == "Added 1 track" && last?.failed == nil
            }
        }
    }

    @Test func `a script's list behind the end of the player is reported as not saved`() async {
        let stage = Stage([FakeMusic(number: 1, frames: 9_000)], sink: TestSink(allowance: 0)) { _, _ in
            Issue.record("nothing is saved after the end")
        }
        let answers = Locked<[PlayerEvent]>([])
        for command in [PlayerCommand.quit, .save("x"), .save("y")] {
            stage.player.sendInTurn(command) { event in answers.withLock { $0.append(event) } }
        }
        _ = await stage.play()
        let refusals = ["x", "y"].flatMap { path -> [PlayerEvent] in
            let message = SafeText("Not saved: \(path) (the player had ended)")
            return [.notice(code: "bad-command", message: message), .answered(isAccepted: false)]
        }
        #expect(answers.withLock { $0 } == [.answered(isAccepted: true)] + refusals)
    }

    @Test(arguments: [false, true])
    func `a program is answered once its list is saved, or not, even after a quit`(quits: Bool) async throws {
        let clock = TestClock()
        let stage = Stage([FakeMusic(number: 1, frames: 9_000)], sink: TestSink(allowance: 0)) { _, path in
            try await clock.sleep(until: .seconds(1))
            if path == "full" { throw MediaError(.unreadable, SafeText(path), "the disk is full") }
        }
        let answers = Locked<[PlayerEvent]>([])
        let running = Task { await stage.play() }
        try await wait(for: "the track") { stage.player.snapshot.info != nil }
        for path in ["full", "list"] {
            stage.player.sendInTurn(.save(path)) { event in answers.withLock { $0.append(event) } }
        }
        try await wait(for: "the save") { clock.sleeperCount == 1 }
        if quits { stage.player.send(.quit) }
        try await wait(for: "the quit") { stage.player.snapshot.isOver == quits }
        #expect(answers.withLock { $0 }.isEmpty)
        clock.advance(by: .seconds(1))
        try await wait(for: "the answers") { answers.withLock { $0.count } == 2 }
        #expect(answers.withLock { $0 } == [.answered(isAccepted: false), .answered(isAccepted: true)])
        #expect(stage.notices.filter { $0 != "reading" } == ["unreadable", "saved"])
        stage.player.send(.quit)
        _ = await running.value
    }

    @Test func `a failure to save a list is reported even after a quit`() async throws {
        let stage = Stage([FakeMusic(number: 1, frames: 9_000)], sink: TestSink(allowance: 0)) { _, path in
            throw MediaError(.unreadable, SafeText(path), "the disk is full")
        }
        try await stage.play { stage in
            try await wait(for: "the track") { stage.player.snapshot.tracks.count == 1 }
            stage.player.send(.save("list"))
        }
        #expect(stage.story.contains("notice unreadable"))
        if case .summary = stage.events.last { return }
        Issue.record("the summary comes last")
    }
}
