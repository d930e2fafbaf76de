import Media
import TestSupport
import Testing

@testable import Playback

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

    @Test func `a sink is not connected twice, and the failure of its connection is reported`() async {
        let sink = TestSink()
        let piece = FakeMusic(number: 1, frames: 500)
        _ = await Stage([piece], sink: sink, reaching: Task { try await sink.connect() }).play()
        #expect(sink.pcm == piece.pcm && sink.connections == 1)
        let away = TestSink()
        away.setAway(true)
        let outcome = await Stage([piece], sink: away, reaching: Task { try await away.connect() }).play()
        #expect(outcome.fatal?.code == .audioServer && away.connections == 1)
    }

    @Test func `the bar and the buffered time follow the decoder's seek table, not the even rate`()
        async throws
    {
        var piece = FakeMusic(number: 1, frames: 4_000)
        piece.timeMap = TimeMap(duration: .seconds(4), offsets: [0, 1_000, 16_000])
        let stage = Stage([piece], sink: TestSink(allowance: 0))
        try await stage.sound { stage in
            stage.readers[0].edit { $0.stored = ByteRangeSet(0..<8_500) }
            stage.player.send(.seek(.to(.seconds(2))))
            try await wait(for: "the place") { stage.story.last == "playing 1 at 2000" }
            let snapshot = stage.player.snapshot
            #expect(snapshot.timeMap == piece.timeMap && snapshot.byteOffset == 1_000)
            #expect(snapshot.buffered == .seconds(1))
        }
    }

    @Test(arguments: SampleFormat.allCases, SampleFormat.allCases)
    func `music of another sample format follows in the open stream, and loses only what the sink allows`(
        first: SampleFormat,
        second: SampleFormat
    ) async {
        var pieces = (1...2).map { FakeMusic(number: $0, frames: 500) }
        pieces[0].format.sample = first
        pieces[1].format.sample = second
        let converted = pieces[1].pcm.withUnsafeBytes { pcm in
            guard let conversion = SampleConversion(from: second, to: SinkSample(first)) else {
                return Array(pcm)
            }
            return [UInt8](unsafeUninitializedCapacity: 2 * pcm.count) { bytes, count in
                count = conversion.convert(pcm, into: UnsafeMutableRawBufferPointer(bytes))
            }
        }
        for joining in [TrackJoining.exactly, .rounding] {
            let isExact = second == first || second == .s16
            let follows = isExact || joining == .rounding && !(first == .s16 && second == .s32)
            let stage = Stage(pieces, sink: TestSink(joining: joining))
            let outcome = await stage.play()
            #expect(stage.sink.pcm == pieces[0].pcm + (follows ? converted : pieces[1].pcm))
            #expect(stage.sink.openings == pieces.prefix(follows ? 1 : 2).map(\.format))
            #expect(outcome.summary.played == 2)
        }
    }

    @Test(arguments: [TrackJoining.exactly, .rounding])
    func `16 bits get a wider stream if the name of a later track suggests one, and nothing is rounded`(
        joining: TrackJoining
    ) async {
        var pieces = (1...3).map { FakeMusic(number: $0, frames: 500) }
        pieces[1].format.sample = .s32
        pieces[1].suffix = "flac"
        let stage = Stage(pieces, sink: TestSink(joining: joining))
        let outcome = await stage.play()
        let wide = pieces[1].format
        func widened(_ piece: FakeMusic) -> [UInt8] {
            let samples = piece.pcm.withUnsafeBytes { $0.bindMemory(to: Int16.self).map { Int32($0) << 16 } }
            return samples.withUnsafeBytes { Array($0) }
        }
        let isWidened = joining == .rounding
        #expect(stage.sink.openings == (isWidened ? [wide] : [pieces[0].format, wide]))
        let first = isWidened ? widened(pieces[0]) : pieces[0].pcm
        #expect(stage.sink.pcm == first + pieces[1].pcm + widened(pieces[2]))
        #expect(outcome.summary.played == 3)
    }

    @Test func `the buffer of PCM has two seconds, but at most 1.5 MiB and at least 300 ms`() {
        for (rate, channels, sample, frames) in [
            (44_100, 2, .s16, 88_200), (96_000, 2, .s32, 192_000), (192_000, 2, .s32, 196_608),
            (192_000, 8, .s32, 57_600),
        ] as [(Int, Int, SampleFormat, FrameCount)] {
            let format = AudioFormat(sampleRate: rate, channelCount: channels, sample: sample)
            #expect(PCMRing.frames(for: format) == frames)
        }
    }

    @Test(arguments: [TrackJoining.exactly, .never])
    func `a stream ends where the format changes, or with each track if the sink wants that`(
        joining: TrackJoining
    ) async {
        var pieces = (1...4).map { FakeMusic(number: $0, frames: 500) }
        pieces[1].format = AudioFormat(sampleRate: 500, channelCount: 1)
        let stage = Stage(pieces, sink: TestSink(joining: joining))
        let outcome = await stage.play()
        #expect(stage.sink.pcm == pieces.flatMap(\.pcm))
        #expect(stage.sink.openings == pieces.prefix(joining == .never ? 4 : 3).map(\.format))
        #expect(outcome.summary.played == 4)
    }

    @Test func `failing tracks are skipped, and the snapshot has their reasons`() async {
        var pieces = (1...5).map { FakeMusic(number: $0, frames: 500) }
        pieces[0].openFailure = broken
        pieces[2].openFailure = broken
        pieces[3].failure = (100, broken)
        let stage = Stage(pieces)
        let outcome = await stage.play()
        #expect(outcome.summary.failed == 3 && outcome.summary.played == 2)
        #expect(stage.story.contains("ended 4 failed 100"))
        #expect(stage.sink.pcm == pieces[1].pcm + pieces[3].pcm.prefix(400) + pieces[4].pcm)
        #expect(stage.player.snapshot.failures.count == 3)
    }

    @Test(arguments: RepeatMode.allCases, [nil, 0, 50] as [Int?])
    func `a queue of failing tracks ends after one round, and the snapshot has every failure`(
        mode: RepeatMode,
        frame: Int?
    ) async {
        let pieces = (1...300).map { number in
            var piece = FakeMusic(number: number, frames: 500)
            if let frame { piece.failure = (frame, broken) } else { piece.openFailure = broken }
            return piece
        }
        let stage = Stage(pieces, repeatMode: mode)
        let outcome = await stage.play()
        #expect(outcome.summary.failed == 300 && outcome.summary.played == 0)
        #expect(stage.readers.count == 300 && stage.player.snapshot.failures.count == 300)
    }

    @Test func `a seek ends the waiting read, and nothing of the old position is decoded`() async throws {
        let gate = TestClock()
        var piece = FakeMusic(number: 1, frames: 60_000)
        piece.gate = (4_000, gate)
        let stage = Stage([piece])
        try await stage.play { stage in
            try await wait(for: "the gate") { gate.sleeperCount == 1 }
            let before = stage.readers[0].readOffsets.count
            stage.player.send(.seek(.to(.seconds(30))))
            try await wait(for: "the new read") { stage.readers[0].readOffsets.contains(120_000) }
            let later = stage.readers[0].readOffsets.dropFirst(before)
            #expect(later.allSatisfy { $0 == 0 || $0 >= 120_000 })
            // A read is logged before it waits at the gate; the old one, if it still did, would be the second
            // there.
            try await wait(for: "the new read at the gate") { gate.sleeperCount > 0 }
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
        try await stage.play { stage in
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
        #expect(["skipped", "finished"].contains { stage.story.last == "ended 1 \($0) \(frames)" })
    }

    @Test func `while paused no frames are played and no timer runs`() async throws {
        let stage = Stage([FakeMusic(number: 1, frames: 60_000)], sink: TestSink(allowance: 500))
        try await stage.sound { stage in
            try await wait(for: "the timer") { stage.clock.sleeperCount == 1 }
            stage.player.send(.pause)
            try await wait(for: "the pause") {
                stage.player.snapshot.state == .paused && stage.clock.sleeperCount == 0
            }
            let heard = stage.sink.heardFrames
            stage.sink.allow(frames: 1_000)
            #expect(stage.sink.heardFrames == heard)
            stage.player.send(.play)
            try await wait(for: "the rest") { stage.sink.heardFrames == 1_500 }
            #expect(stage.sink.pcm == Array(FakeMusic(number: 1, frames: 60_000).pcm.prefix(6_000)))
        }
    }

    @Test(arguments: [false, true])
    func `a ring that runs dry buffers and continues, also before a track of another format`(
        isBetweenTracks: Bool
    ) async throws {
        let gate = TestClock()
        var pieces = [FakeMusic(number: 1, frames: 9_000), FakeMusic(number: 2, frames: 700)]
        pieces[1].format = AudioFormat(sampleRate: 500, channelCount: 1)
        pieces[isBetweenTracks ? 1 : 0].gate = (isBetweenTracks ? 0 : 4_000, gate)
        let stage = Stage(pieces, sink: TestSink(allowance: 20_000))
        try await stage.play { stage in
            // This sink is faster than the decoder, so it may run dry earlier and later too.
            try await wait(for: "the dry ring") {
                stage.player.snapshot.state == .buffering && gate.sleeperCount == 1
            }
            gate.advance(by: .seconds(1))
            try await wait(for: "the end") { stage.player.snapshot.isOver }
        }
        #expect(stage.sink.pcm == pieces.flatMap(\.pcm))
        #expect(stage.story.contains("buffering 1") && stage.story.last == "ended 2 finished 700")
    }

    @Test func `stop, play, and play after the end begin again`() async throws {
        let stage = Stage([FakeMusic(number: 1, frames: 900)], exitsAtEnd: false)
        try await stage.play { stage in
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

    @Test func `a sink that was paused to remove its track goes on if the track has ended until then`()
        async throws
    {
        let pieces = [FakeMusic(number: 1, frames: 600), FakeMusic(number: 2, frames: 9_000)]
        let stage = Stage(pieces, sink: TestSink(allowance: 0))
        try await stage.sound { stage in
            try await wait(for: "frames of both tracks") { stage.sink.waitingFrames >= 1_500 }
            stage.sink.allow(frames: 500)
            stage.sink.setPauseLag(frames: 200)
            stage.player.send(.remove(1))
            try await wait(for: "the removal") { stage.player.snapshot.tracks.count == 1 }
            stage.sink.allow(frames: 300)
            try await wait(for: "more sound") { stage.sink.heardFrames == 1_000 }
        }
        #expect(stage.story.contains("ended 1 finished 600"))
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
        let stage = Stage(pieces, sink: TestSink(allowance: 0))
        try await stage.sound { stage in
            // Enough music waits for all that the sink takes: an underrun would pause the sink too.
            try await wait(for: "frames in the ring") { stage.sink.waitingFrames >= 600 }
            stage.sink.allow(frames: 500)
            stage.sink.setPauseLag(frames: 100)
            stage.player.send(command)
            try await wait(for: expected) { stage.story.contains(expected) }
        }
    }
}
