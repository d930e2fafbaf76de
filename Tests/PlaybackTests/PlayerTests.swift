import Media
import Playback
import TestSupport
import Testing

@Suite struct PlayerTests {
    private let broken = MediaError(.notAudio, "x.mp3", "there is no music in it")

    @Test func `tracks of one format follow each other without a frame lost or added`() async {
        let pieces = (1...40).map { FakeMusic(number: $0, frames: $0 * 37 % 700 + 1) }
        let stage = Stage(pieces)
        let outcome = await stage.play()
        #expect(stage.sink.pcm == pieces.flatMap(\.pcm))
        #expect(stage.sink.openings.count == 1)
        #expect(outcome.summary.played == 40)
        let expected = pieces.flatMap {
            ["track \($0.number)", "playing \($0.number) at 0", "ended \($0.number) finished \($0.frames)"]
        }
        #expect(stage.story == expected)
    }

    @Test func `a sink that is already connecting is not connected again, and its failure is reported`() async
    {
        let sink = TestSink()
        let piece = FakeMusic(number: 1, frames: 500)
        _ = await Stage([piece], sink: sink, reaching: Task { try await sink.connect() }).play()
        #expect(sink.pcm == piece.pcm && sink.connections == 1)
        let away = TestSink()
        away.setAway(true)
        let outcome = await Stage([piece], sink: away, reaching: Task { try await away.connect() }).play()
        #expect(outcome.fatal?.code == .audioServer && away.connections == 1)
    }

    @Test func `a change of format ends one stream and begins another`() async {
        var pieces = (1...4).map { FakeMusic(number: $0, frames: 500) }
        pieces[1].format = AudioFormat(sampleRate: 500, channelCount: 1)
        let stage = Stage(pieces)
        let outcome = await stage.play()
        #expect(stage.sink.pcm == pieces.flatMap(\.pcm))
        #expect(stage.sink.openings == [pieces[0].format, pieces[1].format, pieces[2].format])
        #expect(outcome.summary.played == 4)
    }

    @Test func `a sink that needs a stream for each track gets one for each`() async {
        let stage = Stage(
            (1...3).map { FakeMusic(number: $0, frames: 400) },
            sink: TestSink(opensEachTrack: true)
        )
        _ = await stage.play()
        #expect(stage.sink.openings.count == 3)
    }

    @Test func `failing tracks are skipped, and the snapshot has their reasons`() async {
        var pieces = (1...5).map { FakeMusic(number: $0, frames: 500) }
        pieces[0].openFailure = broken
        pieces[2].openFailure = broken
        pieces[3].failure = (100, broken)
        let stage = Stage(pieces)
        let outcome = await stage.play()
        #expect(outcome.summary.failed == 3)
        #expect(outcome.summary.played == 2)
        #expect(stage.story.contains("ended 4 failed 100"))
        #expect(stage.sink.pcm == pieces[1].pcm + pieces[3].pcm.prefix(400) + pieces[4].pcm)
        #expect(stage.player.snapshot.failures.count == 3)
    }

    @Test(arguments: [RepeatMode.one, .all], [nil, 0, 50] as [Int?])
    func `a queue of failing tracks ends even if it repeats`(mode: RepeatMode, frame: Int?) async {
        var pieces = (1...3).map { FakeMusic(number: $0, frames: 500) }
        for place in pieces.indices {
            if let frame {
                pieces[place].failure = (frame, broken)
            } else {
                pieces[place].openFailure = broken
            }
        }
        let outcome = await Stage(pieces, repeatMode: mode).play()
        #expect(outcome.summary.failed == 3)
        #expect(outcome.summary.played == 0)
    }

    @Test func `after a long row of failures the snapshot shows all of them`() async throws {
        let pieces = (1...300).map { number in
            var piece = FakeMusic(number: number, frames: 1)
            piece.openFailure = broken
            return piece
        }
        let stage = Stage(pieces, exitsAtEnd: false)
        _ = try await stage.play { stage in
            try await wait(for: "the end") { stage.player.snapshot.state == .ended }
            #expect(stage.player.snapshot.failures.count == 300)
        }
    }

    @Test func `the next track is opened before the current one ends`() async throws {
        let stage = Stage(
            [FakeMusic(number: 1, frames: 9_000), FakeMusic(number: 2, frames: 10)],
            sink: TestSink(allowance: 0)
        )
        _ = try await stage.play { stage in
            try await wait(for: "music") {
                stage.player.snapshot.state == .playing && stage.clock.sleeperCount == 1
            }
            stage.clock.advance(by: .milliseconds(250))
            try await wait(for: "the next track") { stage.readers.count == 2 }
            #expect(stage.player.snapshot.currentIndex == 0)
        }
    }

    @Test func `a seek ends the waiting read, and nothing of the old position is decoded`() async throws {
        let gate = TestClock()
        var piece = FakeMusic(number: 1, frames: 60_000)
        piece.gate = (4_000, gate)
        let stage = Stage([piece])
        _ = try await stage.play { stage in
            try await wait(for: "the gate") { gate.sleeperCount == 1 }
            let before = stage.readers[0].readOffsets.count
            stage.player.send(.seek(.to(.seconds(30))))
            try await wait(for: "the new read") { stage.readers[0].readOffsets.contains(120_000) }
            let later = stage.readers[0].readOffsets.dropFirst(before)
            #expect(later.allSatisfy { $0 == 0 || $0 >= 120_000 })
            #expect(gate.sleeperCount == 1)
            #expect(stage.readers.count == 1)
        }
        #expect(stage.readers[0].isClosed)
    }

    @Test func `commands are answered while a read is stuck, and quitting ends it`() async throws {
        let gate = TestClock()
        var piece = FakeMusic(number: 1, frames: 60_000)
        piece.gate = (0, gate)
        let stage = Stage([piece])
        let outcome = try await stage.play { stage in
            try await wait(for: "the gate") { gate.sleeperCount == 1 }
            stage.player.send(.volume(30))
            try await wait(for: "the volume") { stage.player.snapshot.volume == 30 }
        }
        #expect(outcome.isQuit)
        #expect(stage.story == ["track 1", "ended 1 skipped 0"])
    }

    @Test func `frames that reached the sink are counted over seeks, to the last`() async throws {
        let stage = Stage([FakeMusic(number: 1, frames: 400_000)])
        _ = try await stage.play { stage in
            for place in 1...5 {
                try await wait(for: "music") {
                    stage.player.snapshot.state == .playing || stage.player.snapshot.isOver
                }
                stage.player.send(.seek(.to(.seconds(place * 10))))
                try await wait(for: "the seek") {
                    stage.story.contains("seeked 1 at \(place * 10_000)") || stage.player.snapshot.isOver
                }
            }
        }
        let frames = stage.sink.pcm.count / 4
        #expect(
            stage.story.last == "ended 1 skipped \(frames)"
                || stage.story.last == "ended 1 finished \(frames)"
        )
    }

    @Test func `the playing event has the position at which the sound began, however fast the sink is`()
        async throws
    {
        let stage = Stage([FakeMusic(number: 1, frames: 3_000)])
        _ = await stage.play()
        #expect(stage.story == ["track 1", "playing 1 at 0", "ended 1 finished 3000"])
    }

    @Test func `while paused no frames are played and no timer runs`() async throws {
        let stage = Stage([FakeMusic(number: 1, frames: 60_000)], sink: TestSink(allowance: 500))
        _ = try await stage.play { stage in
            try await wait(for: "music") {
                stage.player.snapshot.state == .playing && stage.clock.sleeperCount == 1
            }
            stage.player.send(.pause)
            try await wait(for: "the pause") { stage.player.snapshot.state == .paused }
            try await wait(for: "no sleeper") { stage.clock.sleeperCount == 0 }
            let heard = stage.sink.heardFrames
            stage.sink.allow(frames: 1_000)
            #expect(stage.sink.heardFrames == heard)
            stage.player.send(.play)
            try await wait(for: "the rest") { stage.sink.heardFrames == 1_500 }
            #expect(stage.sink.pcm == Array(FakeMusic(number: 1, frames: 60_000).pcm.prefix(6_000)))
        }
    }

    @Test func `a ring that runs dry buffers, and goes on when there is enough`() async throws {
        let gate = TestClock()
        var piece = FakeMusic(number: 1, frames: 9_000)
        piece.gate = (4_000, gate)
        let stage = Stage([piece], sink: TestSink(allowance: 20_000))
        _ = try await stage.play { stage in
            try await wait(for: "the dry ring") { stage.player.snapshot.state == .buffering }
            gate.advance(by: .seconds(1))
            try await wait(for: "the end") { stage.player.snapshot.isOver }
        }
        #expect(stage.sink.pcm == piece.pcm)
        // This sink takes faster than the gate's far side gives, so it may run dry again.
        #expect(stage.story.contains("buffering 1"))
        #expect(stage.story.last == "ended 1 finished 9000")
    }

    @Test func `after an underrun before a track of another format playback continues`() async throws {
        let gate = TestClock()
        var pieces = [FakeMusic(number: 1, frames: 900), FakeMusic(number: 2, frames: 700)]
        pieces[1].gate = (0, gate)
        pieces[1].format = AudioFormat(sampleRate: 500, channelCount: 1)
        let stage = Stage(pieces, sink: TestSink(allowance: 20_000))
        _ = try await stage.play { stage in
            try await wait(for: "the dry ring") { stage.player.snapshot.state == .buffering }
            gate.advance(by: .seconds(1))
            try await wait(for: "the end") { stage.player.snapshot.isOver }
        }
        #expect(stage.sink.pcm == pieces.flatMap(\.pcm))
    }

    @Test func `stop, play, and play after the end begin again`() async throws {
        let stage = Stage([FakeMusic(number: 1, frames: 900)], exitsAtEnd: false)
        _ = try await stage.play { stage in
            try await wait(for: "the end") { stage.player.snapshot.state == .ended }
            stage.player.send(.play)
            try await wait(for: "a second end") {
                stage.story.filter { $0 == "ended 1 finished 900" }.count == 2
            }
            stage.player.send(.jump(7))
            try await wait(for: "the answer") { stage.story.contains("notice bad-command") }
        }
        #expect(stage.sink.pcm.count == 2 * 900 * 4)
    }

    @Test(
        arguments: [
            (.next, "ended 1 skipped 600"), (.stop, "ended 1 skipped 600"), (.pause, "paused 1 at 600"),
            (.seek(.by(.seconds(1))), "seeked 1 at 1600"),
        ] as [(PlayerCommand, String)]
    )
    func `frames that the sink plays until its pause is complete count for the decision`(
        command: PlayerCommand,
        expected: String
    ) async throws {
        let pieces = (1...2).map { FakeMusic(number: $0, frames: 9_000) }
        let stage = Stage(pieces, sink: TestSink(allowance: 500))
        _ = try await stage.play { stage in
            try await wait(for: "music") {
                stage.player.snapshot.state == .playing && stage.sink.heardFrames == 500
            }
            // Not before: an underrun at the start pauses the sink as well.
            stage.sink.setPauseLag(frames: 100)
            stage.player.send(command)
            try await wait(for: expected) { stage.story.contains(expected) }
        }
    }
}
