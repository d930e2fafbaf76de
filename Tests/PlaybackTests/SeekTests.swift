import Media
import System
import TestSupport
import Testing

@testable import Playback

/// The targets of seeks, and the requests that many seeks cost.
@Suite struct SeekTests {
    private func sounding() -> PlayerState { .sounding(1, .music(seconds: 60)) }

    @Test(
        arguments: [
            (3, .by(.seconds(-10)), 0), (3, .by(.seconds(10)), 13), (3, .percent(50), 30),
            (3, .percent(100), 60), (3, .to(.seconds(60)), 60), (55, .by(.seconds(10)), 60),
            (3, .to(.seconds(7)), 7), (3, .by(.seconds(-3_600)), 0),
        ] as [(Int, SeekTarget, Int)]
    )
    func `a seek leads to its target, limited to the track`(heard: Int, target: SeekTarget, expected: Int) {
        var state = sounding()
        let effects = state.send(.seek(target), heard: FrameCount(heard * 1_000), now: .seconds(heard))
        #expect(state.position == .seconds(expected))
        #expect(effects.start?.position == .seconds(expected))
    }

    @Test func `a position in a track that is no longer current is ignored`() {
        var state = sounding()
        #expect(state.send(.command(.setPosition(.seconds(7), of: Track.ID(2))), heard: 3_000).start == nil)
        let effects = state.send(.command(.setPosition(.seconds(7), of: Track.ID(1))), heard: 3_000)
        #expect(effects.start?.position == .seconds(7))
    }

    @Test func `a seek to a time past the end is refused with the track's length`() {
        var state = sounding()
        let refusal = PlayerEffect.emit(.notice(code: "bad-command", message: "The track is 1:00 long"))
        #expect(state.send(.seek(.to(.seconds(90))), heard: 3_000).last == refusal)
        #expect(state.position == .seconds(3) && state.lane.passes.map(\.id) == [1])
    }

    @Test(
        arguments: [(.to(.seconds(90)), 90), (.by(.seconds(87)), 90), (.to(.seconds(121)), nil)]
            as [(SeekTarget, Int?)]
    )
    func `a seek past an end that is only estimated is carried out, up to twice as far`(
        target: SeekTarget,
        expected: Int?
    ) {
        var info = StreamInfo.music(seconds: 60)
        info.isDurationExact = false
        var state = PlayerState.sounding(1, info)
        #expect(state.send(.seek(target), heard: 3_000).start?.position == expected.map { .seconds($0) })
        #expect(state.position == .seconds(expected ?? 3))
    }

    @Test func `a start past the end begins at the beginning, with the track's length`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(
            .launched(ResolvedTracks(tracks: numbered(1...1)), start: 1, position: .seconds(7_200))
        )
        let landing = SeekLanding(frame: 60_000, isExact: true)
        let effects = state.send(.passReady(1, .music(seconds: 60), landing))
        #expect(effects.contains(.emit(.notice(code: "bad-command", message: "The track is 1:00 long"))))
        #expect(effects.start?.position == .zero && effects.start?.reusing == 1 && !effects.endsTrack)
    }

    @Test(arguments: [(90, false), (60, true)] as [(FrameCount, Bool)])
    func `a start past an end that is only estimated is at its place if there is music`(
        landed: FrameCount,
        isRefused: Bool
    ) {
        var info = StreamInfo.music(seconds: 60)
        info.isDurationExact = false
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(.launched(ResolvedTracks(tracks: numbered(1...1)), start: 1, position: .seconds(90)))
        let landing = SeekLanding(frame: landed * 1_000, isExact: true)
        let effects = state.send(.passReady(1, info, landing))
        #expect(
            effects.contains(.emit(.notice(code: "bad-command", message: "The track is 1:00 long")))
                == isRefused
        )
        #expect(state.position == (isRefused ? .zero : .seconds(90)))
    }

    @Test func `seeks of a held key add up from the requested position, not from the heard one`() {
        var state = sounding()
        for count in 1...6 {
            state.send(.seek(.by(.seconds(5))), heard: 3_000, now: .milliseconds(30 * count))
        }
        #expect(state.position == .seconds(33))
        state.send(.seek(.by(.seconds(-40))), heard: 3_000, now: .milliseconds(200))
        #expect(state.position == .zero)
    }

    /// The clock stands still, so a delayed seek would never be carried out.
    @Test func `seeks into cached bytes are not delayed and share a decoder, whose table is stored`()
        async throws
    {
        let stage = Stage([FakeMusic(number: 1, frames: 60_000)], sink: TestSink(allowance: 500))
        try await stage.sound { stage in
            for second in [30, 10, 0] as [Int64] {
                stage.player.send(.seek(.to(.seconds(second))))
                try await wait(for: "the place") { stage.story.last == "playing 1 at \(second * 1_000)" }
            }
            #expect(stage.readers.count == 1 && stage.readers[0].decoderCount == 1)
            #expect(stage.readers[0].readOffsets.count(where: { $0 == 0 }) == 3, "the head, and two starts")
            #expect(stage.readers[0].storedTables.isEmpty)
        }
        #expect(stage.readers[0].storedTables.count == 1)
    }

    @Test(arguments: [true, false])
    func `of twenty seeks in a second only the first and the last cost a request`(areSteps: Bool) async throws
    {
        var piece = FakeMusic(number: 1, frames: 200_000)
        piece.isStored = false
        let stage = Stage([piece], sink: TestSink(allowance: 500))
        try await stage.sound(heard: 500) { stage in
            try await wait(for: "the position") { stage.player.snapshot.position == .milliseconds(500) }
            // Until the ring is full, the music before the seeks is still being read.
            try await wait(for: "the full ring") { stage.readers[0].scanCount > 0 }
            let before = stage.readers[0].readOffsets.count
            for count in 1...20 {
                let position = stage.player.snapshot.position
                stage.player.send(.seek(areSteps ? .by(.seconds(9)) : .to(.seconds(9 * count))))
                // The requested position is shown at once, and from the second seek on its pass sleeps.
                try await wait(for: "seek \(count)") {
                    stage.player.snapshot.position > position + .seconds(8)
                        && stage.clock.sleeperCount == (count == 1 ? 1 : 2)
                }
                if count == 1 {
                    try await wait(for: "its read") {
                        stage.readers[0].readOffsets.dropFirst(before).contains { $0 >= 36_000 }
                    }
                }
                stage.clock.advance(by: .milliseconds(50))
            }
            stage.clock.advance(by: .milliseconds(249))
            #expect(stage.readers[0].readOffsets.allSatisfy { $0 < 20 * 36_000 })
            stage.clock.advance(by: .milliseconds(1))
            try await wait(for: "the last read") {
                stage.readers[0].readOffsets.contains { $0 >= 20 * 36_000 }
            }
            let places = Set(stage.readers[0].readOffsets.dropFirst(before).map { $0 / 36_000 })
            #expect(places == [1, 20])
            try await wait(for: "the answer") { stage.story.contains { $0.hasPrefix("seeked 1 at 18") } }
        }
        // Steps add up from the position that was heard, half a second into the track.
        let seeks = [9_000, 180_000].map { "seeked 1 at \($0 + (areSteps ? 500 : 0))" }
        #expect(stage.story.filter { $0.hasPrefix("seeked") } == seeks)
    }

    @Test func `of many seeks before the head is known only the first costs a request`() async throws {
        let gate = TestClock()
        var piece = FakeMusic(number: 1, frames: 60_000)
        piece.isStored = false
        piece.gate = (0, gate)
        let stage = Stage([piece])
        try await stage.play { stage in
            try await wait(for: "the head's read") { gate.sleeperCount == 1 }
            for count in 1...5 {
                stage.player.send(.seek(.to(.seconds(count))))
                try await wait(for: "seek \(count)") {
                    stage.player.snapshot.position == .seconds(count)
                        && stage.clock.sleeperCount == (count == 1 ? 1 : 2)
                }
                if count == 1 {
                    try await wait(for: "its read") { stage.readers[0].readOffsets.count == 2 }
                }
            }
        }
        #expect(stage.readers[0].readOffsets == [0, 0])
    }

    @Test(arguments: [(true, []), (false, ["Downloading up to 0:40: the server sends only whole files"])])
    func `a seek in a file that comes only as a whole is carried out, and says if it waits for the download`(
        isStored: Bool,
        texts: [SafeText]
    ) async throws {
        var piece = FakeMusic(number: 1, frames: 60_000)
        piece.arrivesInOrder = true
        piece.isStored = isStored
        let stage = Stage([piece], sink: TestSink(allowance: 500))
        try await stage.sound { stage in
            stage.player.send(.seek(.to(.seconds(40))))
            try await wait(for: "the place") { stage.story.last == "playing 1 at 40000" }
        }
        let said = stage.events.compactMap { event -> SafeText? in
            if case .remark("downloading", let text) = event { text } else { nil }
        }
        #expect(said == texts)
        let reports = stage.events.compactMap { if case .track(let report) = $0 { report } else { nil } }
        #expect(reports.allSatisfy { $0.isSeekable })
    }

    @Test func `a seek waits for a further one only within 300 ms of another`() {
        var state = sounding()
        let delays = [1_000, 1_299, 1_598, 1_898].map { time in
            state.send(.seek(.percent(50)), heard: 3_000, now: .milliseconds(time)).start?.requestDelay
        }
        #expect(delays == [.zero, .milliseconds(300), .milliseconds(300), .zero])
    }
}
