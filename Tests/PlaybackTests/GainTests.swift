import Media
import TestSupport
import Testing

@testable import Playback

/// The gains that even out the loudness of tracks before the ring.
@Suite struct GainTests {
    private func piece(_ number: Int, gain: Double?, frames: Int = 3_000) -> FakeMusic {
        var piece = FakeMusic(number: number, frames: frames)
        piece.loudness = gain.map { Loudness(track: .init(gain: $0), album: .init(gain: -6)) }
        return piece
    }

    private func samples(_ bytes: some Collection<UInt8>) -> [Int16] {
        Array(bytes).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    private func scaled(_ piece: FakeMusic, by decibels: Double?) -> [Int16] {
        var samples = samples(piece.pcm)
        guard let decibels else { return samples }
        samples.withUnsafeMutableBytes {
            GainStage(.init(gain: decibels)).apply(to: $0, of: piece.format)
        }
        return samples
    }

    @Test(
        arguments: [(.off, [nil, nil, nil]), (.track, [-20, nil, -3]), (.album, [-6, nil, -6])]
            as [(GainMode, [Double?])]
    )
    func `each track has the gain of the mode from its first frame to its last`(
        mode: GainMode,
        gains: [Double?]
    ) async {
        let pieces = [piece(1, gain: -20), piece(2, gain: nil), piece(3, gain: -3)]
        let stage = Stage(pieces, gain: mode)
        _ = await stage.play()
        #expect(stage.sink.openings.count == 1 && stage.player.snapshot.gainMode == mode)
        let expected = zip(pieces, gains).flatMap { scaled($0, by: $1) }
        #expect(samples(stage.sink.pcm) == expected)
    }

    @Test func `another gain mode is heard after the ring, without a jump or a restart`() async throws {
        let music = piece(1, gain: -20, frames: 20_000)
        let stage = Stage([music], sink: TestSink(allowance: 500))
        try await stage.sound(heard: 500) { stage in
            try await wait(for: "the full ring") { stage.readers[0].scanCount > 0 }
            stage.player.send(.setGain(.track))
            try await wait(for: "the mode") { stage.player.snapshot.gainMode == .track }
            #expect(abs((stage.player.snapshot.gainDecibels ?? 0) + 20) < 0.01)
            stage.sink.allow(frames: 9_500)
            try await wait(for: "the music") { stage.sink.heardFrames == 10_000 }
        }
        let heard = samples(stage.sink.pcm)
        let plain = samples(music.pcm)
        let soft = scaled(music, by: -20)
        let changed = try #require(heard.indices.first { heard[$0] != plain[$0] }) / 2
        // The ring of two seconds was full, and the PCM already decoded for it is not changed.
        #expect((2_000...3_200).contains(changed))
        let settled = try #require(heard.indices.last { $0 < plain.count && heard[$0] != soft[$0] })
        #expect((settled / 2 - changed) <= GainRamp.frames)
        // One pass decodes everything: nothing is read twice.
        let offsets = Array(stage.readers[0].readOffsets.dropFirst(2))
        #expect(offsets == offsets.sorted())
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
            #expect(effects.dropLast() == [1, 2].map { .setGain($0, stage) })
        }
        #expect(state.gainMode == .off)
    }
}
