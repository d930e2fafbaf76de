import Decoding
import Media
import TestSupport
import Testing

/// Whatever the structure of a stream, the decoded samples are those of the reference decoder.
@Suite struct ReferenceTests {
    private static let assets = [
        "01-cbr", "02-vbr", "03-vbr-without-header", "04-mono", "05-22050-hz", "06-cover",
    ]
    .map(Fixture.asset)

    private static let truncated: [Fixture] = [.cbr, .vbr, .bareVBR].flatMap { (fixture: Fixture) in
        [1, 100, 416, 417, 418, 3_000, 100_001].map { count in
            fixture.changed("without the last \(count) bytes") { $0.removeLast(count) }
        }
    }

    private static let endings = [
        id3v1, apeEnd + [UInt8](repeating: 0, count: 40) + apeEnd, apeEnd + apeEnd + id3v1,
    ]

    private static let tagged: [Fixture] = endings.map { ending in
        Fixture.vbr.changed("with tags at both ends") { $0 = tag(of: 3_000) + $0 + ending }
    }

    private static let appended = Fixture.vbr.changed("followed by other music") { $0 += Fixture.cbr.bytes }

    /// Only in front: in mid-stream the reference decoder believes headers that occur in junk by chance.
    private static let junk = [10, 700, 30_000].map { length in
        Fixture.bareVBR.changed("after \(length) bytes of junk") {
            $0 = ByteFixtures.bytes(count: length, seed: UInt64(length)) + $0
        }
    }

    @Test(arguments: Fixture.all + assets + truncated + tagged + [appended] + junk)
    func `every stream plays as the reference decoder plays it`(fixture: Fixture) async throws {
        try await expectReference(fixture)
    }

    /// A stream, and the count of bytes in it that are no music.
    typealias Skipping = (fixture: Fixture, skipped: ClosedRange<Int64>)

    private static let odd: [Skipping] =
        [OddStreams.free, OddStreams.layerII, OddStreams.lowLayerII, OddStreams.layerI, OddStreams.lowest]
        .map { ($0, 0...0) }

    private static let zeros: [Skipping] = [OddStreams.stereo, .vbr, OddStreams.layerI].flatMap { fixture in
        [1, 1_000, 60_000].map { count in
            let zeros = [UInt8](repeating: 0, count: count)
            return (fixture.changed("after \(count) zeros") { $0 = zeros + $0 }, Int64(count)...Int64(count))
        }
    }

    private static let junkBetween: [(name: String, bytes: [UInt8], count: Int64)] = [
        ("zeros", [UInt8](repeating: 0, count: 700), 700), ("an ID3v2 tag", tag(of: 3_000), 3_000),
        ("an ID3v1 tag", id3v1, 128), ("an APE tag", ape(5_000), 5_064),
        ("text", Array("APETAG, ID3, TAG, RIFF".utf8), 22),
    ]

    private static let between: [Skipping] =
        [OddStreams.stereo, OddStreams.variable, OddStreams.low, OddStreams.layerII].flatMap { fixture in
            junkBetween.map { junk in
                let name = junk.name + " between two frames"
                let stream = OddStreams.inserting(junk.bytes, fixture, beforeFrame: 100, name)
                return (stream, junk.count...junk.count)
            }
        }

    private static let within: [Skipping] = [50, 200].flatMap { place in
        // Without bytes that look like headers, which the reference decoder would believe.
        [id3v1, [UInt8](repeating: 0x41, count: 364), [UInt8](repeating: 0, count: 1_500)].map { bytes in
            let name = "\(bytes.count) bytes within a frame, at \(place)"
            let stream = OddStreams.inserting(bytes, OddStreams.stereo, beforeFrame: 90, plus: place, name)
            return (stream, 1...Int64.max)
        }
    }

    @Test(arguments: odd + zeros + between + within)
    func `bytes that are no music are counted and skipped`(fixture: Fixture, skipped: ClosedRange<Int64>)
        async throws
    {
        let decoder = try await expectReference(fixture)
        #expect(skipped.contains(decoder.info.skippedByteCount))
    }

    @Test(
        arguments: [
            [OddStreams.stereo, OddStreams.mono, OddStreams.stereo],
            [OddStreams.mono, OddStreams.stereo],
            [OddStreams.stereo, OddStreams.high, OddStreams.low, OddStreams.stereo],
            [OddStreams.low, OddStreams.stereo],
            [OddStreams.stereo, OddStreams.layerII, OddStreams.stereo],
            [OddStreams.layerI, OddStreams.stereo],
        ]
    )
    func `a change of channels, rate, version or layer in mid-stream plays on`(parts: [Fixture]) async throws
    {
        let decoder = try await expectReference(OddStreams.joined(parts, frames: 120))
        // Counted in time, because frames of different kinds have different durations.
        let length = parts.reduce(0.0) { sum, part in
            let header = FrameHeader(part.bytes, at: OddStreams.frameStarts(part.bytes)[0])
            return sum + Double(120 * (header?.samplesPerFrame ?? 0)) / Double(header?.sampleRate ?? 1)
        }
        let duration = try #require(decoder.info.duration)
        #expect(abs(duration.seconds - length) < 0.06)
    }

    @Test func `Fraunhofer's header states the duration at once`() async throws {
        let fixture = try OddStreams.withVBRI(Fixture.bareVBR)
        let opened = try await MPEGDecoder(fixture.bytes).opened()
        #expect(opened.info.codec == "MPEG-1 Layer III, VBR")
        #expect(try await expectReference(fixture).info.duration == opened.info.duration)
    }

    @Test func `three files cut from one wave add up to its length`() async throws {
        var frames = 0
        for piece in 1...3 {
            let decoder = try await expectReference(Fixture.asset("0\(piece + 6)-evening-\(piece)"))
            frames += Int(decoder.info.format.frames(in: try #require(decoder.info.duration)))
        }
        #expect(frames == 24 * 44_100)
    }

    /// Compares all samples of `fixture` with those of the reference decoder; returns the decoder, at the
    /// end.
    @discardableResult
    private func expectReference(_ fixture: Fixture) async throws -> MPEGDecoder {
        let decoder = MPEGDecoder(fixture.bytes)
        let expected = try fixture.reference()
        #expect(!expected.isEmpty)
        expectSame(try await decodeRest(decoder), expected, fixture.name)
        return decoder
    }
}
