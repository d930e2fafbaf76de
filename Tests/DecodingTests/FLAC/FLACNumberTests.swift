import Media
import TestSupport
import Testing

@testable import Decoding

/// Blocks of varying size whose headers count frames, as encoders before 2008 wrote them, play to their end.
@Suite struct FLACNumberTests {
    private static func made(
        _ blockSize: Int,
        from start: Int = 4,
        every step: Int = 8,
        _ wave: MadeWave = MadeFLAC.quiet
    ) -> MadeFLAC {
        MadeFLAC.byFlac(["--blocksize=\(blockSize)", "--no-seektable", "--no-padding"], wave)
            .withVariableBlocks(countingFrames: true, from: start, every: step)
    }

    private static let mono = MadeWave(channels: 1, rate: 44_100, frames: 44_100 * 9, loudness: 0.1)
    private static let all = [
        made(1_024), made(512, from: 0, every: 16), made(2_048, from: 2, every: 4),
        made(256, from: 16, every: 64),
        made(1_024, MadeWave(samples: .s24, frames: 96_000, loudness: 0.05)),
        made(
            1_024,
            from: 0,
            every: 4,
            MadeWave(channels: 1, rate: 44_100, frames: 44_100 * 9, loudness: 0.1)
        ),
    ]

    @Test(arguments: all)
    func `blocks of varying size that are numbered as frames play exactly, also after seeks`(made: MadeFLAC)
        async throws
    {
        let expected = made.wave.pcm
        #expect(Set(made.frames.headers.map(\.count)).count > 1)
        let decoder = try await openedFLAC(made.bytes)
        let format = decoder.info.format
        #expect(decoder.info.duration == format.duration(of: FrameCount(made.wave.frames)))
        var random = SeededGenerator(seed: 4)
        for seeker in [try await openedFLAC(made.bytes), decoder] {
            if seeker === decoder { expectSame(try await decodeBytes(decoder), expected) }
            for _ in 0..<10 {
                let frame = FrameCount.random(in: 0..<FrameCount(made.wave.frames), using: &random)
                let landing = try await seeker.seek(to: format.duration(of: frame))
                #expect(landing == SeekLanding(frame: frame, isExact: true))
                let heard = try await decodeBytes(seeker, atMost: 3_000 * format.bytesPerFrame)
                expectSame(heard, expected.dropFirst(Int(frame) * format.bytesPerFrame).prefix(heard.count))
            }
        }
        #expect(decoder.info.skippedByteCount == 0)
    }

    @Test func `numbered blocks of a later part play exactly after a seek from another part`() async throws {
        let second = Self.made(1_024)
        let first = MadeFLAC.byFlac([], second.wave)
        let decoder = try await openedFLAC(first.bytes + second.bytes)
        let format = decoder.info.format
        let expected = second.wave.pcm + second.wave.pcm
        expectSame(try await decodeBytes(decoder), expected)
        let count = second.wave.frames
        for frame in [count * 4 / 3, 1_000, count * 3 / 2, count * 5 / 4] {
            let landing = try await decoder.seek(to: format.duration(of: FrameCount(frame)))
            #expect(landing == SeekLanding(frame: FrameCount(frame), isExact: true))
            let heard = try await decodeBytes(decoder, atMost: 3_000 * format.bytesPerFrame)
            expectSame(heard, expected.dropFirst(frame * format.bytesPerFrame).prefix(heard.count))
        }
    }

    @Test(arguments: all)
    func `damage among numbered blocks is silence, and all behind it plays`(made: MadeFLAC) async throws {
        let places = made.frames.places
        let hole = places[places.count / 3].lowerBound..<places[places.count / 3 + 2].lowerBound
        var bytes = made.bytes
        for index in hole { bytes[index] = 0 }
        let decoder = try await openedFLAC(bytes)
        let heard = try await decodeBytes(decoder)
        // The sizes of the missing blocks are a guess.
        #expect(abs(heard.count - made.wave.pcm.count) <= 2 * 4_096 * decoder.info.format.bytesPerFrame)
        expectSame(heard.suffix(30_000), made.wave.pcm.suffix(30_000))
    }
}
