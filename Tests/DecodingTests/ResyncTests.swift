import Decoding
import Media
import TestSupport
import Testing

/// Damage in mid-stream: cuts, splices, and holes of every length and content.
@Suite struct ResyncTests {
    private static let kinds = [
        OddStreams.stereo, OddStreams.variable, OddStreams.mono, OddStreams.low, OddStreams.layerII,
        OddStreams.high,
    ]

    /// What is decoded of a stream, and the formats in which it is played.
    private func heard(_ bytes: [UInt8]) async throws -> (samples: [Int16], formats: [AudioFormat]) {
        let decoder = try await MPEGDecoder(bytes).opened()
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
        defer { pcm.deallocate() }
        var samples: [Int16] = []
        var formats = [decoder.info.format]
        while true {
            switch try await decoder.decode(into: pcm) {
            case .frames(let count):
                let given = pcm[..<(count * decoder.info.format.bytesPerFrame)]
                samples += UnsafeRawBufferPointer(rebasing: given).bindMemory(to: Int16.self)
            case .formatChanged: formats.append(decoder.info.format)
            case .end: return (samples, formats)
            }
        }
    }

    /// Expects that `bytes`, which end with the frames of `fixture` from offset `place` of it on, play in its
    /// format to the end, and that nothing is played for `lost` bytes of other content.
    private func expectAllBehind(
        _ place: Int,
        of fixture: Fixture,
        in bytes: [UInt8],
        lost: Int = 0,
        _ name: String
    ) async throws {
        let (samples, formats) = try await heard(bytes)
        let starts = OddStreams.frameStarts(fixture.bytes)
        let header = try #require(FrameHeader(fixture.bytes, at: starts[0]))
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        #expect(formats == [AudioFormat(sampleRate: header.sampleRate, channelCount: header.channelCount)])
        let frame = header.samplesPerFrame * header.channelCount
        // The first frames use bits, and overlap, of the frames before them.
        let settled = (starts.count { $0 >= place } - 24) * frame
        #expect(settled > 0, "\(name)")
        expectNear(samples.suffix(settled), whole.suffix(settled), within: 1, name)
        let most = Double(bytes.count - lost) / Double(fixture.bytes.count) * Double(whole.count)
        #expect(Double(samples.count) <= most * 1.25 + Double(3 * frame), "\(name): silence or noise")
    }

    @Test(arguments: TestCount.seeds(80, full: 2_000))
    func `all frames behind a cut are heard, in the same format`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let fixture = Self.kinds[Int(seed) % Self.kinds.count]
        let place = Int.random(in: 2_000..<fixture.bytes.count / 2, using: &random)
        let count = Int.random(in: 1...fixture.bytes.count / 4, using: &random)
        var bytes = fixture.bytes
        bytes.removeSubrange(place..<place + count)
        try await expectAllBehind(place + count, of: fixture, in: bytes, "\(fixture), cut \(seed)")
    }

    @Test(arguments: TestCount.seeds(40, full: 1_000))
    func `all frames behind a random block are heard, in the same format`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let fixture = Self.kinds[Int(seed) % Self.kinds.count]
        let place = Int.random(in: 2_000..<fixture.bytes.count / 2, using: &random)
        let count = Int.random(in: 1...fixture.bytes.count / 4, using: &random)
        var bytes = fixture.bytes
        let block = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        bytes.replaceSubrange(place..<place + (seed.isMultiple(of: 2) ? count : 0), with: block)
        let behind = place + (seed.isMultiple(of: 2) ? count : 2_000)
        try await expectAllBehind(behind, of: fixture, in: bytes, lost: count, "\(fixture), block \(seed)")
    }

    private static let text = Array("ID3, TAG, APETAGEX and RIFF are the marks that tags begin with. ".utf8)

    /// Bytes without music, by name.
    static let holes: [(name: String, bytes: [UInt8])] = [
        ("1 zero", [0]), ("20 kB of zeros", [UInt8](repeating: 0, count: 20_000)),
        ("140 kB of zeros", [UInt8](repeating: 0, count: 140_000)),
        ("9 MiB of zeros", [UInt8](repeating: 0, count: 9 << 20)),
        ("quiet PCM", (0..<60_000).flatMap { _ in [0xFF, 0xFF, 0x00, 0x00] as [UInt8] }),
        ("200 kB of text", Array((0..<3_200).map { _ in text }.joined())),
        ("a picture of 300 kB", [0xFF, 0xD8, 0xFF, 0xE0] + ByteFixtures.bytes(count: 300_000, seed: 3)),
        ("a tag of 70 kB", tag(of: 70_000)), ("3 frames of another kind", foreign(3)),
    ]

    private static func foreign(_ count: Int) -> [UInt8] {
        let starts = OddStreams.frameStarts(OddStreams.lowest.bytes)
        return Array(OddStreams.lowest.bytes[starts[20]..<starts[20 + count]])
    }

    @Test(arguments: holes.indices, [OddStreams.stereo, OddStreams.mono, OddStreams.layerII])
    func `a hole between two frames is passed over without a sound`(hole: Int, fixture: Fixture) async throws
    {
        let (name, bytes) = Self.holes[hole]
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        let (samples, formats) = try await heard(
            OddStreams.inserting(bytes, fixture, beforeFrame: 60, name).bytes
        )
        #expect(formats.count == 1, "\(name)")
        #expect(samples.count == whole.count, "\(fixture) with \(name)")
        // Behind the hole the filters start anew.
        let start = whole.count * 60 / OddStreams.frameStarts(fixture.bytes).count
        expectSame(samples.prefix(start - 4_608), whole.prefix(start - 4_608), "before \(name)")
        let rest = whole.count - start - 24 * 2_304
        expectSame(samples.suffix(rest), whole.suffix(rest), "\(fixture) behind \(name)")
    }

    @Test(arguments: holes.indices, [50, 200])
    func `a hole within a frame costs no more than that frame`(hole: Int, place: Int) async throws {
        let (name, bytes) = Self.holes[hole]
        let fixture = OddStreams.stereo
        let start = OddStreams.frameStarts(fixture.bytes)[60] + place
        let holed = OddStreams.inserting(bytes, fixture, beforeFrame: 60, plus: place, name)
        try await expectAllBehind(start, of: fixture, in: holed.bytes, lost: bytes.count, name)
    }

    @Test(arguments: [OddStreams.stereo, OddStreams.variable])
    func `a seek into a long hole plays what follows it`(fixture: Fixture) async throws {
        let zeros = [UInt8](repeating: 0, count: 4 * fixture.bytes.count)
        let holed = OddStreams.inserting(zeros, fixture, beforeFrame: 60, "a long hole")
        let decoder = try await MPEGDecoder(holed.bytes).opened()
        let duration = try #require(decoder.info.duration)
        _ = try await decoder.seek(to: duration / 2)
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        let rest = try await decodeRest(decoder)
        #expect(rest.count > whole.count / 2)
        expectSame(rest.suffix(whole.count / 2), whole.suffix(whole.count / 2))
    }

    @Test(arguments: TestCount.seeds(24, full: 500))
    func `a splice of two formats changes the format once`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let first = Self.kinds[Int(seed) % Self.kinds.count]
        let second = Self.kinds[(Int(seed) + 1 + Int(seed) / 6 % 5) % Self.kinds.count]
        let end = Int.random(in: 10_000..<first.bytes.count, using: &random)
        let start = Int.random(in: 1_000..<second.bytes.count / 2, using: &random)
        let (samples, formats) = try await heard(Array(first.bytes[..<end]) + second.bytes[start...])
        let expected = try [first, second].map { fixture in
            let place = OddStreams.frameStarts(fixture.bytes)[0]
            let header = try #require(FrameHeader(fixture.bytes, at: place))
            return AudioFormat(sampleRate: header.sampleRate, channelCount: header.channelCount)
        }
        #expect(formats == (expected[0] == expected[1] ? [expected[0]] : expected), "splice \(seed)")
        let whole = try await decodeRest(MPEGDecoder(second.bytes))
        let starts = OddStreams.frameStarts(second.bytes)
        let share = Double(starts.count { $0 >= start } - 24) / Double(starts.count)
        let settled = Int(Double(whole.count) * share)
        expectNear(samples.suffix(settled), whole.suffix(settled), within: 1, "splice \(seed)")
    }
}
