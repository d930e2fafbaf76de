import Media
import System
import TestSupport
import Testing

@testable import Playback

/// Compares the parts of a track that the player reports as heard with the frames that the sink took.
@Suite struct HeardSpansTests {
    /// Three tracks of ten seconds with chapters. The last needs a stream of its own. Their rates divide no
    /// second into whole frames of nanoseconds.
    private static let pieces = [(1, 700), (2, 700), (3, 900)].map { number, rate in
        var music = FakeMusic(number: number, frames: 10 * rate)
        music.format = AudioFormat(sampleRate: rate, channelCount: 2)
        music.isDurationExact = true
        music.chapters = ChapterList(
            [0, 3, 6].map { Chapter(start: .seconds($0), title: "from \($0)") }
        )
        return music
    }

    /// The track and the place in it of each frame's four bytes, which are all different.
    private static let places: [UInt32: (track: Track.ID, frame: Int)] = {
        let frames = pieces.flatMap { music in
            words(music.pcm).enumerated().map { ($1, (music.track.id, $0)) }
        }
        return Dictionary(uniqueKeysWithValues: frames)
    }()

    private static func words(_ pcm: [UInt8]) -> [UInt32] {
        pcm.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
    }

    /// The parts of the current track whose frames the sink has taken from its frame `begin` on.
    private func taken(_ stage: Stage, from begin: Int) throws -> HeardSpans {
        let current = try #require(stage.player.snapshot.currentTrack)
        let format = Self.pieces[Int(current.id.value) - 1].format
        var frames = RangeSet<Int>()
        for word in Self.words(stage.sink.pcm).dropFirst(begin).reversed() {
            let place = try #require(Self.places[word])
            // The playing of a track begins behind the last frame of another track.
            guard place.track == current.id else { break }
            frames.insert(contentsOf: place.frame..<place.frame + 1)
        }
        return HeardSpans(
            frames.ranges.map { range in
                let start = format.duration(of: FrameCount(range.lowerBound))
                return start..<format.duration(of: FrameCount(range.upperBound))
            }
        )
    }

    /// Sends `command` and waits until it and everything before it was carried out, and shown by a snapshot.
    /// The clock stands still then, so that only a command makes a new one: a change of the volume does.
    private func carryOut(_ command: PlayerCommand? = nil, on stage: Stage) async throws {
        if let command { stage.player.send(command) }
        let volume = stage.player.snapshot.volume % 100 + 1
        stage.player.send(.volume(volume))
        try await wait(for: "a new snapshot") { stage.player.snapshot.volume == volume }
    }

    private func randomCommand(_ random: inout SeededGenerator) -> PlayerCommand {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8: .seek(.to(.milliseconds(Int.random(in: 0...9_990, using: &random))))
        case 8..<11: .seek(.by(.milliseconds(Int.random(in: -2_000...2_000, using: &random))))
        case 11..<13: .chapter(.next)
        case 13..<15: .chapter(.previous)
        case 15: .next
        case 16: .previous
        case 17: .jump(Int.random(in: 1...3, using: &random))
        default: .pause
        }
    }

    @Test(arguments: TestCount.seeds(3, full: 100))
    func `over a hundred seeks, and pauses, chapters and tracks between them, it is what the sink took`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let stage = Stage(Self.pieces, sink: TestSink(allowance: 300), repeatMode: .all)
        // As real servers do, the sink takes some frames more before it is silent.
        stage.sink.setPauseLag(frames: 11)
        try await stage.sound(heard: 300) { stage in
            var begin = 0
            var seeks = 0
            while seeks < 100 {
                let command = randomCommand(&random)
                if case .seek = command { seeks += 1 }
                try await carryOut(command, on: stage)
                // A track that begins anew has been heard from there.
                if case .jump = command { begin = stage.sink.pcm.count / 4 }
                if command == .pause {
                    #expect(stage.player.snapshot.state == .paused)
                    #expect(try stage.player.snapshot.heard == taken(stage, from: begin))
                    stage.player.send(.play)
                }
                // Often across the end of the track, and of the queue.
                stage.sink.allow(frames: .random(in: 1...900, using: &random))
                try await stage.tick(until: "the frames") { stage.sink.allowance == 0 }
                try await carryOut(on: stage)
                let heard = stage.player.snapshot.heard
                let expected = try taken(stage, from: begin)
                try #require(heard == expected, "seek \(seeks): \(command)")
            }
        }
    }

    @Test func `a correction of an estimated position moves what was heard since the seek`() {
        var lane = PassLane()
        let id = lane.begin(numbered(1...1)[0], at: .seconds(4)).id
        lane.update(id) { pass in
            pass.info = .music(seconds: 60)
            pass.landing = SeekLanding(frame: 4_000, isExact: false)
        }
        lane.granted(id, at: 0)
        lane.heard(1_000)
        #expect(lane.heardSpans == HeardSpans([.seconds(4)..<(.seconds(5))]))
        _ = lane.landingCorrected(id, by: 500)
        #expect(lane.heardSpans == HeardSpans([.milliseconds(4_500)..<(.milliseconds(5_500))]))
    }

    @Test func `a track that continues keeps what was heard of it before, and a new playing does not`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        let tracks = numbered(1...3)
        let before = HeardSpans([.seconds(1)..<(.seconds(5))])
        state.queue.memory = FakeMemory(
            places: [tracks[1].id: .seconds(7)],
            heard: [tracks[0].id: before, tracks[1].id: before, tracks[2].id: before]
        )
        // The session's place, and a track with a saved position.
        state.send(.launched(ResolvedTracks(tracks: tracks), start: 1, position: .seconds(9)))
        #expect(state.heardSpans == before)
        state.send(.next)
        #expect(state.heardSpans == before)
        state.send(.command(.remove(2)), .command(.undo))
        #expect(state.heardSpans == before && state.position == .seconds(7))
        state.send(.next)
        #expect(state.heardSpans == HeardSpans())
    }

    @Test func `a track that becomes current shows at once what was heard of it, and nothing of the last`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        state.send(.passWritten(1, frames: 10_000), heard: 9_000)
        let next = state.lane.prepared?.id ?? 0
        state.send(.ready(next), .passGranted(next, start: 10_000), heard: 9_000)
        state.send(.tick, heard: 10_500)
        #expect(state.queue.current == 1)
        #expect(state.heardSpans == HeardSpans([.zero..<(.milliseconds(500))]))
    }
}
