import Media
import TestSupport
import Testing

@testable import Decoding

/// Fragmented MP4, with and without an index of its fragments.
@Suite struct FragmentTests {
    private static let flags = ["+frag_keyframe+empty_moov+default_base_moof", "+dash+global_sidx"]
    static let files = flags.map {
        MadeAAC("mp4", ["-movflags", $0, "-frag_duration", "2000000"], seconds: 40)
    }

    private func decoder(_ source: MemorySource, seekTable: [UInt8] = []) -> MP4Decoder {
        MP4Decoder(ProbedStream(source: source, subject: "song.mp4", seekTable: seekTable))
    }

    @Test(arguments: files)
    func `the first sound takes one request, a far seek at most four, and lands exactly`(made: MadeAAC)
        async throws
    {
        let whole = try await decodeBytes(decoder(MemorySource(made.bytes, isStored: true)))
        // Each packet is played; the last may be padded.
        let frames = whole.count / 8
        #expect((made.frames..<made.frames + 3_000).contains(frames), "\(frames)")
        for target in [35.0, 18.3, 7.7, 29.9] {
            let source = MemorySource(made.bytes)
            let decoder = decoder(source)
            _ = try await decodeBytes(decoder, atMost: 20_000)
            #expect(source.requests.count == 1)
            let landing = try await decoder.seek(to: .seconds(target))
            let heard = try await decodeBytes(decoder, atMost: 40_000)
            #expect(source.requests.count - 1 <= 4, "\(source.requests)")
            #expect(landing.isExact)
            expectSame(heard, whole[(Int(landing.frame) * 8)...].prefix(40_000), "from \(target)")
        }
    }

    /// The first packets in `moov`, and the others in fragments.
    private static func joined(
        every time: Int,
        seconds: Int = 12,
        rate: Int = 44_100,
        channels: Int = 2,
        flags: String = "frag_keyframe"
    ) -> MadeAAC {
        let words = ["-movflags", flags, "-frag_duration", "\(time)"]
        return MadeAAC("mp4", words, seconds: seconds, rate: rate, channels: channels)
    }

    @Test(arguments: [
        joined(every: 2_000_000), joined(every: 500_000, rate: 22_050, channels: 1),
        joined(every: 5_000_000), joined(every: 100_000, seconds: 5, rate: 48_000),
        joined(every: 1_000_000, seconds: 30, flags: "frag_keyframe+default_base_moof"),
        joined(every: 3_000_000, seconds: 9, rate: 8_000, channels: 1),
    ])
    func `fragments behind packets in the tables play after them, also after seeks`(made: MadeAAC)
        async throws
    {
        let decoder = decoder(MemorySource(made.bytes))
        try await decoder.open()
        #expect(!decoder.info.isDurationExact)
        let whole = try await decodeBytes(decoder)
        let width = 4 * made.channels
        let frames = whole.count / width
        #expect((made.frames..<made.frames + 3_000).contains(frames), "\(frames)")
        #expect(decoder.info.isDurationExact)
        #expect(decoder.info.duration == decoder.info.format.duration(of: FrameCount(frames)))
        // ffmpeg also has the first packet, which only overlaps with the next one.
        let expected = try made.ffmpeg().dropFirst(1_024 * made.channels)
        #expect(expected.count == frames * made.channels)
        let worst = zip(floats(whole), expected).map { abs($0 - $1) }.max() ?? 1
        #expect(worst <= 1 / 32_768, "off by \(worst * 32_768)")
        for share in [0.9, 0.05, 0.5] {
            let landing = try await decoder.seek(to: .seconds(Double(made.frames / made.rate) * share))
            let heard = try await decodeBytes(decoder, atMost: 20_000)
            expectSame(heard, whole[(Int(landing.frame) * width)...].prefix(20_000), "from \(share)")
        }
    }

    @Test(arguments: files)
    func `the fragments that were found are stored`(made: MadeAAC) async throws {
        let first = decoder(MemorySource(made.bytes, isStored: true))
        let whole = try await decodeBytes(first)
        let source = MemorySource(made.bytes)
        let again = decoder(source, seekTable: first.seekTable())
        try await again.open()
        let landing = try await again.seek(to: .seconds(30))
        let heard = try await decodeBytes(again, atMost: 40_000)
        expectSame(heard, whole[(Int(landing.frame) * 8)...].prefix(40_000))
        #expect(source.requests.count <= 4)
    }
}
