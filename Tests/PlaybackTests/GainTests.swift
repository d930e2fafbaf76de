import Media
import TestSupport
import Testing

@testable import Playback

/// Music whose loudness is evened out on its way to the ring.
@Suite struct GainTests {
    private func piece(_ number: Int, gain: Double?, frames: Int = 3_000) -> FakeMusic {
        var piece = FakeMusic(number: number, frames: frames)
        piece.loudness = gain.map { Loudness(track: .init(gain: $0), album: .init(gain: -6)) }
        return piece
    }

    private func samples(_ bytes: some Collection<UInt8>) -> [Int16] {
        Array(bytes).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    private func scaled(_ piece: FakeMusic, by decibels: Double) -> [Int16] {
        var samples = samples(piece.pcm)
        samples.withUnsafeMutableBytes {
            GainStage(.init(gain: decibels)).apply(to: $0, of: piece.format)
        }
        return samples
    }

    @Test func `without a gain mode the samples are those of the decoder`() async {
        let pieces = [piece(1, gain: -20), piece(2, gain: nil)]
        let stage = Stage(pieces)
        _ = await stage.play()
        #expect(stage.sink.pcm == pieces.flatMap(\.pcm))
        #expect(stage.player.snapshot.gainMode == .off)
    }

    @Test func `each track has its own gain from its first frame to its last`() async {
        let pieces = [piece(1, gain: -20), piece(2, gain: nil), piece(3, gain: -3)]
        let stage = Stage(pieces, gain: .track)
        _ = await stage.play()
        #expect(stage.sink.openings.count == 1)
        let expected = scaled(pieces[0], by: -20) + samples(pieces[1].pcm) + scaled(pieces[2], by: -3)
        #expect(samples(stage.sink.pcm) == expected)
    }

    @Test func `album gain applies one gain to all tracks of an album`() async {
        let pieces = [piece(1, gain: -20), piece(2, gain: -3)]
        let stage = Stage(pieces, gain: .album)
        _ = await stage.play()
        #expect(samples(stage.sink.pcm) == scaled(pieces[0], by: -6) + scaled(pieces[1], by: -6))
    }

    @Test func `another gain mode is heard after the PCM in the ring, without a jump or a restart`()
        async throws
    {
        let music = piece(1, gain: -20, frames: 20_000)
        let stage = Stage([music], sink: TestSink(allowance: 500))
        _ = try await stage.play { stage in
            try await wait(for: "the full ring") {
                stage.sink.heardFrames == 500 && stage.readers.first?.scanCount ?? 0 > 0
            }
            stage.player.send(.setGain(.track))
            try await wait(for: "the mode") { stage.player.snapshot.gainMode == .track }
            #expect(abs((stage.player.snapshot.gainDecibels ?? 0) + 20) < 0.01)
            stage.sink.allow(frames: 9_500)
            try await wait(for: "the music") { stage.sink.heardFrames == 10_000 }
        }
        let (heard, plain, soft) = (samples(stage.sink.pcm), samples(music.pcm), scaled(music, by: -20))
        let changed = try #require(heard.indices.first { heard[$0] != plain[$0] }) / 2
        // The ring of two seconds was full, and what was decoded for it goes in as it is.
        #expect((2_000...3_200).contains(changed))
        let settled = try #require(
            heard.indices.last { $0 < plain.count && heard[$0] != soft[$0] }
        )
        #expect((settled / 2 - changed) <= GainRamp.frames)
        // In one pass: nothing was read twice.
        #expect(
            stage.readers[0].readOffsets.dropFirst(2)
                == stage.readers[0].readOffsets.dropFirst(2).sorted()[...]
        )
        #expect(stage.sink.openings.count == 1)
    }

    @Test func `the gain modes follow each other and apply to all tracks in the ring`() {
        var info = StreamInfo.music()
        info.loudness = Loudness(track: .init(gain: -3), album: .init(gain: -6))
        var state = PlayerState.sounding(2, info)
        #expect(state.send(.passWritten(1, frames: 900)).start?.id == 2)
        #expect(state.send(.ready(2, info)) == [.prefetchHead(2), .grant(2, holds: false)])
        for gain in [-3.0, -6, 0] {
            let stage = gain == 0 ? GainStage.unity : GainStage(.init(gain: gain))
            let effects = state.send(.setGain(nil))
            #expect(effects == [1, 2].map { .setGain($0, stage) })
        }
        #expect(state.gainMode == .off)
    }
}
