import Media
import TestSupport
import Testing

@testable import Decoding

/// Segments that ffmpeg, and the tests, make of a file: their sound is that of the file.
@Suite struct SegmentDemuxerTests {
    private static func made(_ rate: Int, _ channels: Int) -> MadeAAC {
        MadeAAC("aac", seconds: 7, rate: rate, channels: channels)
    }

    private static let stereo = made(44_100, 2)

    static let all: [MadeSegments] = [
        MadeSegments(.mpegts, of: stereo.bytes, "aac", "AAC"),
        MadeSegments(.mpegts, of: made(48_000, 1).bytes, "aac", "AAC 48 kHz mono"),
        MadeSegments(.mpegts, of: Fixture.bareCBR.bytes, "mp3", "MP3"),
        MadeSegments(.mpegts, of: Fixture.bareVBR.bytes, "mp3", "MP3 VBR"),
        MadeSegments(.mpegts, of: OddStreams.low.bytes, "mp3", "MP3 22.05 kHz"),
        MadeSegments(.mpegts, of: OddStreams.layerII.bytes, "mp2", "Layer II"),
        MadeSegments(.fmp4, of: stereo.bytes, "aac", "AAC"),
        MadeSegments(.fmp4, of: made(22_050, 1).bytes, "aac", "AAC 22.05 kHz mono"),
        MadeSegments(.fmp4, of: MadeAAC("m4a", seconds: 7).bytes, "m4a", "M4A"),
        .packed("packed AAC", stereo),
        .packed("packed AAC with tags", stereo) { number in
            id3Tag(
                version: 4,
                timestamp(MadeTransport.ticks(of: number)) + id3Frame("TIT2", [3] + Array("Song".utf8))
            )
        },
    ]

    /// The frame with the time of a segment.
    static func timestamp(_ ticks: Int64, upper: UInt64 = 0) -> [UInt8] {
        let bits = upper | UInt64(ticks)
        let owner = Array("com.apple.streaming.transportStreamTimestamp\0".utf8)
        return id3Frame("PRIV", owner + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) })
    }

    @Test(arguments: all)
    func `segments sound as the whole file, whatever the length of the pieces`(made: MadeSegments)
        async throws
    {
        try #require(made.parts.count > 2)
        let source = MemorySource(made.whole, isStored: true)
        let decoder = try await DecoderTable.all.decoder(for: source, at: .file("/song"))
        let whole = try await decodeBytes(decoder)
        var random = SeededGenerator(seed: 3)
        for pieces in [65_536...65_536, 1_000...5_000, 1...400] {
            var played = PlayedSegments(made.parts) { Int.random(in: pieces, using: &random) }
            try await played.decode()
            #expect(played.refusals.isEmpty && played.missing == 0 && played.codecs.count == 1)
            #expect(played.format == decoder.info.format)
            expectSame(played.sound, whole, "\(made) in \(pieces)")
        }
    }

    @Test(arguments: all.filter { !$0.testDescription.hasSuffix("packed AAC") })
    func `segments state the times of their packets`(made: MadeSegments) async throws {
        var played = PlayedSegments(made.parts)
        try await played.decode()
        let format = try #require(played.format)
        let first = try #require(played.times.first)
        #expect(first.packet == 0)
        #expect(played.times.count >= made.parts.count - 1)
        #expect(played.times.allSatisfy { $0.time.isHint } == made.testDescription.hasSuffix("tags"))
        let width = played.codecs.first.map { codec in
            if case .mpeg(let header) = codec { return header.samplesPerFrame }
            return 1_024
        }
        let packet = try #require(width)
        for (number, time) in played.times {
            let expected = format.duration(of: FrameCount(number * packet)) + first.time.time
            let difference = abs((time.time - expected).seconds)
            // ffmpeg rounds the times of MP3 to those of its own clock.
            #expect(difference < 0.003, "packet \(number): \(difference)")
        }
    }

    @Test func `an initialisation section counts as a segment`() throws {
        let made = try #require(Self.all.first { $0.testDescription == "AAC in fmp4" })
        let played = PlayedSegments([made.parts[0]])
        #expect(played.packets.isEmpty && played.codecs.count == 1)
        #expect(PlayedSegments(Array(made.parts.dropFirst())).codecs.isEmpty)
    }

    @Test func `segments of another kind begin the stream anew`() async throws {
        let segments = Self.all.filter {
            ["AAC in mpegts", "AAC in fmp4", "packed AAC"].contains($0.testDescription)
        }
        try #require(segments.count == 3)
        let played = PlayedSegments(segments.flatMap(\.parts))
        let alone = segments.map { PlayedSegments($0.parts) }
        #expect(played.codecs.count == 3 && played.refusals.isEmpty)
        #expect(played.packets == alone.flatMap(\.packets))
    }

    @Test func `other segments are refused by name`() throws {
        func refusal(_ bytes: [UInt8]) -> String? { PlayedSegments([bytes]).refusals.first?.cause.string }
        let flac = refusal(Array("fLaC".utf8) + [UInt8](repeating: 0, count: 400))
        #expect(flac == "Segments of FLAC – Reprise plays segments of AAC and MP3 only")
        let transport = MadeTransport(Self.stereo.frameBytes).bytes
        let packets = stride(from: 0, to: transport.count, by: 188).map { transport[$0..<$0 + 188] }
        let timed = packets.flatMap { [0, 0, 0, 0] + $0 }
        #expect(refusal(timed) == "MPEG-TS in packets of 192 bytes – Reprise plays those of 188 only")
        let checked = packets.flatMap { $0 + [UInt8](repeating: 0, count: 16) }
        #expect(refusal(checked) == "MPEG-TS in packets of 204 bytes – Reprise plays those of 188 only")
        let noise = ByteFixtures.bytes(count: 200_000, seed: 1)
        #expect(refusal([0] + noise)?.hasPrefix("No sound in it") == true)
    }

    @Test func `frames may go on in the next segment`() {
        let bytes = Self.stereo.bytes
        let parts = stride(from: 0, to: bytes.count, by: 10_001).map {
            Array(bytes[$0..<min($0 + 10_001, bytes.count)])
        }
        let packed =
            [MadeSegments.packed("", Self.stereo).parts[0]] + [
                Array(bytes.dropFirst(MadeSegments.packed("", Self.stereo).parts[0].count))
            ]
        #expect(PlayedSegments(packed).packets.count == Self.stereo.adtsFrames.count)
        let played = PlayedSegments(parts)
        #expect(played.packets.count == Self.stereo.adtsFrames.count && played.missing == 0)
    }
}
