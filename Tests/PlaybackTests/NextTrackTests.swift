import Media
import Playback
import TestSupport
import Testing

@Suite struct NextTrackTests {
    private let broken = MediaError(.notAudio, "x.mp3", "there is no music in it")

    private func pieces(failing: ClosedRange<Int>, count: Int) -> [FakeMusic] {
        (1...count).map { number in
            var piece = FakeMusic(number: number, frames: 3_000)
            if failing.contains(number) { piece.openFailure = broken }
            return piece
        }
    }

    @Test func `while a track plays only the next is opened, even if it fails`() async throws {
        let stage = Stage(pieces(failing: 2...6, count: 7), sink: TestSink(allowance: 500))
        try await stage.sound(heard: 500) { stage in
            try await stage.tick(until: "the next track") { stage.readers.count == 2 }
            // Near the end of a track, the next one is prepared at each tick.
            for _ in 0..<8 { try await stage.tick() }
            stage.player.send(.volume(7))
            try await wait(for: "an answer") { stage.player.snapshot.volume == 7 }
            #expect(stage.readers.count == 2, "only the next is opened")
            let early = stage.story.filter { $0 == "track 2" || $0.hasPrefix("ended") }
            #expect(early.isEmpty, "it is not reported before its turn")
            #expect(stage.player.snapshot.failures.isEmpty)
        }
    }

    @Test func `the next track has low priority until all of the current one is read`() async throws {
        // The ring holds two seconds of the three.
        var pieces = pieces(failing: 9...9, count: 2)
        // The next track is never opened completely.
        pieces[1].gate = (0, TestClock())
        let stage = Stage(pieces, sink: TestSink(allowance: 500))
        try await stage.sound(heard: 500) { stage in
            try await stage.tick(until: "the next track") { stage.readers.last?.lowPriorities == [true] }
            stage.sink.allow(frames: 1_500)
            try await wait(for: "normal priority") { stage.readers.last?.lowPriorities == [true, false] }
            #expect(stage.readers.count == 2 && stage.readers[0].lowPriorities.isEmpty)
            #expect(stage.player.snapshot.currentIndex == 0, "it is not its turn yet")
        }
    }

    @Test func `skipping to the next track raises its priority`() async throws {
        let stage = Stage(pieces(failing: 9...9, count: 2), sink: TestSink(allowance: 500))
        try await stage.sound(heard: 500) { stage in
            try await stage.tick(until: "the next track") { stage.readers.last?.lowPriorities == [true] }
            stage.player.send(.next)
            try await wait(for: "normal priority") { stage.readers.last?.lowPriorities == [true, false] }
            #expect(stage.readers.count == 2)
        }
    }

    @Test func `failures of prepared tracks are reported in order, when their turn comes`() async {
        let stage = Stage(pieces(failing: 2...4, count: 6))
        let outcome = await stage.play()
        let failing = (2...4).flatMap { ["track \($0)", "ended \($0) failed 0"] }
        let rest = (5...6).flatMap { ["track \($0)", "playing \($0) at 0", "ended \($0) finished 3000"] }
        #expect(stage.story == ["track 1", "playing 1 at 0", "ended 1 finished 3000"] + failing + rest)
        #expect(outcome.summary.failed == 3)
        #expect(stage.player.snapshot.failures.count == 3)
    }
}
