import Media
import TestSupport
import Testing

@testable import Decoding

/// FLAC that states another number of PCM frames than it has.
@Suite struct FLACLengthTests {
    struct Misstated: Sendable, CustomTestStringConvertible {
        let made: MadeFLAC
        /// The share of the PCM frames that is stated; 0 for an unknown number.
        let share: Double
        var testDescription: String { "\(made.testDescription), stating \(share)" }

        /// The file with the number of frames that is stated in STREAMINFO, of 36 bits.
        var bytes: [UInt8] {
            var bytes = made.bytes
            guard bytes.count > 26 else { return [] }
            let count = UInt64(Double(made.wave.frames) * share)
            bytes[21] = bytes[21] & 0xF0 | UInt8(count >> 32 & 15)
            for place in 0..<4 { bytes[22 + place] = UInt8(count >> UInt64(24 - 8 * place) & 0xFF) }
            return bytes
        }
    }

    private static let wide = MadeWave(samples: .s24, rate: 96_000, frames: 96_000 * 5, loudness: 0.2)
    private static let all = [
        Misstated(made: .plain, share: 0.5), Misstated(made: .bare, share: 0.8),
        Misstated(made: .byFlac(["--blocksize=1152", "--no-seektable"]), share: 0.1),
        Misstated(made: .byFlac([], wide), share: 0.3),
        Misstated(made: .byFFmpeg(["-c:a", "flac"]), share: 0.9),
        Misstated(
            made: .byFlac([], MadeWave(channels: 1, rate: 44_100, frames: 44_100 * 9, loudness: 0.4)),
            share: 0.6
        ),
        Misstated(
            made: .byFlac(["--blocksize=1024", "--no-seektable", "--no-padding"]).withVariableBlocks(),
            share: 0.7
        ),
    ]

    @Test(arguments: all)
    func `a stated total that is too low bounds neither the length nor seeks`(misstated: Misstated)
        async throws
    {
        let expected = misstated.made.wave.pcm
        let total = FrameCount(misstated.made.wave.frames)
        let decoder = try await openedFLAC(misstated.bytes, isStored: true)
        let format = decoder.info.format
        _ = try await decoder.scanStored()
        #expect(decoder.info.duration == format.duration(of: total) && decoder.info.isDurationExact)
        let played = try await openedFLAC(misstated.bytes)
        expectSame(try await decodeBytes(played), expected)
        #expect(played.info.duration == format.duration(of: total) && played.info.isDurationExact)
        var random = SeededGenerator(seed: 4)
        // A decoder that learns of the rest only by a seek, one that has seen it, and one that has played it.
        let start = FrameCount(Double(total) * misstated.share) + 100
        for seeker in [try await openedFLAC(misstated.bytes), decoder, played] {
            for _ in 0..<6 {
                let frame = FrameCount.random(in: start..<total, using: &random)
                let landing = try await seeker.seek(to: format.duration(of: frame))
                #expect(landing == SeekLanding(frame: frame, isExact: true))
                let heard = try await decodeBytes(seeker, atMost: 3_000 * format.bytesPerFrame)
                expectSame(heard, expected.dropFirst(Int(frame) * format.bytesPerFrame).prefix(heard.count))
                #expect(!heard.isEmpty)
            }
        }
    }

    @Test(arguments: all)
    func `damage where the stated total ends is silence, and all behind it plays`(misstated: Misstated)
        async throws
    {
        let (_, places, headers) = misstated.made.frames
        let end = FrameCount(Double(misstated.made.wave.frames) * misstated.share)
        let number = try #require(headers.firstIndex { $0.end > end })
        var bytes = misstated.bytes
        for index in places[number] { bytes[index] = 0 }
        let heard = try await decodeBytes(try await openedFLAC(bytes))
        let width = misstated.made.wave.pcm.count / misstated.made.wave.frames
        var expected = misstated.made.wave.pcm
        let hole = Int(headers[number].position) * width..<Int(headers[number].end) * width
        for index in hole { expected[index] = 0 }
        expectSame(heard, expected)
    }

    @Test func `a start behind a stated total that is too low takes one request more`() async throws {
        let misstated = Misstated(made: .byFlac([], Self.wide), share: 0.6)
        let source = MemorySource(misstated.bytes)
        let decoder = FLACDecoder(ProbedStream(source: source, subject: "song"))
        try await decoder.open()
        #expect(try await decoder.seek(to: .seconds(4)) == SeekLanding(frame: 4 * 96_000, isExact: true))
        _ = try await decodeBytes(decoder, atMost: 100_000)
        #expect(source.requests.count <= 4, "\(source.requests)")
    }
}
