import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct LoudnessTests {
    private func tag(_ frames: [(String, [UInt8])]) -> [UInt8] {
        id3Tag(version: 4, frames.flatMap { id3Frame($0.0, $0.1) })
    }

    private func text(_ name: String, _ value: String) -> (String, [UInt8]) {
        ("TXXX", [3] + Array("\(name)\0\(value)".utf8))
    }

    private func loudness(_ frames: [(String, [UInt8])]) throws -> Loudness {
        try #require(ID3v2Tag(tag(frames)[...])).loudness
    }

    @Test func `the four customary text frames are read, whatever their case`() throws {
        let read = try loudness([
            text("REPLAYGAIN_TRACK_GAIN", "-6.50 dB"), text("replaygain_track_peak", "0.988"),
            text("ReplayGain_Album_Gain", "+1,25dB"), text("replaygain_album_peak", "1.05"),
            text("replaygain_reference_loudness", "89.0 dB"),
        ])
        #expect(read.track == Loudness.Level(gain: -6.5, peak: 0.988))
        #expect(read.album == Loudness.Level(gain: 1.25, peak: 1.05))
    }

    @Test(
        arguments: [
            "", "dB", "nan dB", "inf", "0x10 dB", "1e400 dB", "-64.5 dB", "65", "1e9", "six", "1 2", "--3",
            "1234567890123456789012345", "\u{1B}[31m-6 dB",
        ].map { ("gain", $0) } + ["0", "-1", "17", "nan", "1e-400", "loud"].map { ("peak", $0) }
    )
    func `a gain or peak that is no number or impossible is ignored`(name: String, value: String) throws {
        #expect(try loudness([text("replaygain_track_" + name, value)]).isEmpty)
    }

    @Test func `the first frame of a kind counts, and text before an adjustment`() throws {
        let adjustment: (String, [UInt8]) = ("RVA2", Array("track\0".utf8) + [1, 0xF4, 0, 16, 0x40, 0])
        let read = try loudness([
            adjustment, text("replaygain_track_gain", "-2 dB"), text("replaygain_track_gain", "-3 dB"),
        ])
        #expect(read.track == Loudness.Level(gain: -2, peak: 0.5))
    }

    @Test(
        arguments: [
            // -6 dB for the master volume, without a peak.
            ([1, 0xF4, 0x00, 0], Loudness.Level(gain: -6)),
            // Another channel first; then +1.5 dB, and full scale in 16 bits.
            ([2, 0x7F, 0xFF, 8, 0xFF, 1, 0x03, 0x00, 16, 0x80, 0x00], Loudness.Level(gain: 1.5, peak: 1)),
            ([1, 0x03, 0x00, 12, 0x04, 0x00], Loudness.Level(gain: 1.5, peak: 0.5)),
            // Cut short, or absurd.
            ([1, 0x03], Loudness.Level()),
            ([1, 0x03, 0x00, 255, 1], Loudness.Level(gain: 1.5)),
            ([1, 0x7F, 0xFF, 0], Loudness.Level(gain: 63.998_046_875)),
            ([], Loudness.Level()),
        ] as [([UInt8], Loudness.Level)]
    )
    func `a volume adjustment is read for the master channel`(channels: [UInt8], expected: Loudness.Level)
        throws
    {
        #expect(try loudness([("RVA2", Array("normalize\0".utf8) + channels)]).track == expected)
        #expect(try loudness([("RVA2", Array("Album\0".utf8) + channels)]).album == expected)
        #expect(try loudness([("RVA2", channels)]).isEmpty || channels.contains(0))
    }

    @Test func `the experimental frame of 2.3 is read as the one of 2.4`() throws {
        let read = try loudness([("XRVA", Array("track\0".utf8) + [1, 0xF4, 0, 16, 0x40, 0])])
        #expect(read.track == Loudness.Level(gain: -6, peak: 0.5))
    }

    @Test func `an APE tag at the end counts before the header and after the leading tag`() async throws {
        let items = [
            ("Title", String(repeating: "x", count: 300)), ("REPLAYGAIN_TRACK_GAIN", "-8.50 dB"),
            ("replaygain_album_gain", "-9 dB"), ("Artist", "y"), ("REPLAYGAIN_TRACK_PEAK", "0.75"),
        ]
        let bytes = OddStreams.stereo.bytes + ape(items: items) + id3v1
        func opened(_ bytes: [UInt8]) async throws -> Loudness? {
            let decoder = try await MPEGDecoder(source: MemorySource(bytes, isStored: true)).opened()
            return decoder.info.loudness
        }
        let expected = Loudness(track: .init(gain: -8.5, peak: 0.75), album: .init(gain: -9))
        #expect(try await opened(bytes) == expected)
        let tagged = tag([text("replaygain_track_gain", "3 dB")]) + bytes
        #expect(try await opened(tagged)?.track == Loudness.Level(gain: 3, peak: 0.75))
        // If the end is not stored, it is not requested; its tags count as soon as it is stored.
        let source = MemorySource(bytes)
        let remote = try await MPEGDecoder(source: source).opened()
        let requests = source.requests.count
        source.store(Int64(bytes.count - 2_000)..<Int64(bytes.count))
        _ = try await remote.scanStored()
        #expect(remote.info.loudness == expected)
        #expect(source.requests.count == requests)
    }

    @Test(
        arguments: [
            [], [0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0, 0x41, 0], [4, 0, 0, 0, 0, 0, 0, 0, 0x41, 0x42],
            [UInt8](repeating: 0, count: 4_000), [UInt8](repeating: 0x41, count: 4_000),
        ] as [[UInt8]]
    )
    func `bytes that are no item end the parsing`(bytes: [UInt8]) {
        #expect(APETag(bytes).loudness.isEmpty)
    }

    @Test(arguments: [("LAME3.100", -7.3), ("LAME3.93 ", -1.3), ("Lavc60.31", -7.3)])
    func `LAME's header states gains, which are raised if an old version measured against 83 dB`(
        name: String,
        gain: Double
    ) throws {
        var frame = xingFrame("Info", frames: 10, delay: 576, padding: 1_000)
        let start = try #require(frame.indices.first { frame[$0...].starts(with: "LAME".utf8) })
        frame.replaceSubrange(start..<start + 9, with: Array(name.utf8))
        // A peak of half of full scale; for the track -7.3 dB, set by the user; for the album none.
        let fields: [UInt8] = [0x00, 0x40, 0x00, 0x00, 0b0010_1010, 73, 0b0100_0010, 20]
        frame.replaceSubrange(start + 11..<start + 19, with: fields)
        let header = try #require(FrameHeader(frame, at: 0))
        let xing = try #require(XingHeader(frame[...], header: header))
        let read = try #require(xing.loudness.track.gain)
        #expect(abs(read - gain) < 1e-9 && xing.loudness.track.peak == 0.5)
        #expect(xing.loudness.album.isEmpty && xing.encoderDelay == 576)
    }

    @Test func `LAME's own measurement is known at the opening, and a tag counts before it`() async throws {
        let fixture = Fixture.made("measured", ["-b", "128", "--replaygain-accurate"], seconds: 5)
        let decoder = MPEGDecoder(fixture.bytes)
        let samples = try await decodeRest(decoder)
        let measured = try #require(decoder.info.loudness?.track)
        let loudest = Double(samples.map { abs(Int($0)) }.max() ?? 0) / 32_768
        let peak = try #require(measured.peak)
        #expect(abs(peak - loudest) < 0.02)
        #expect(measured.gain.map { (-30...0).contains($0) } == true)
        let tagged = try await MPEGDecoder(tag([text("replaygain_track_gain", "3 dB")]) + fixture.bytes)
            .opened()
        #expect(tagged.info.loudness?.track == Loudness.Level(gain: 3, peak: measured.peak))
        let silent = try await MPEGDecoder(OddStreams.stereo.bytes).opened()
        #expect(silent.info.loudness == nil)
    }
}
