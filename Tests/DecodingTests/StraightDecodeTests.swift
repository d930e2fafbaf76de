import Decoding
import Media
import TestSupport
import Testing

@Suite struct StraightDecodeTests {
    @Test(arguments: Fixture.all)
    func `a straight decode equals the reference decoder, sample for sample`(fixture: Fixture) async throws {
        try await check(fixture)
    }

    @Test(arguments: [1, 100, 416, 417, 418, 3_000, 100_001])
    func `a file that was cut plays what is there`(cut: Int) async throws {
        for fixture in [Fixture.cbr, .vbr, .bareVBR] {
            var fixture = fixture
            fixture.bytes.removeLast(cut)
            try await check(fixture)
        }
    }

    @Test func `tags at both ends are no music`() async throws {
        let tail = Array("TAG".utf8) + [UInt8](repeating: 0x41, count: 125)
        let ape = Array("APETAGEX".utf8) + [0xD0, 7, 0, 0, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xA0]
        for ending in [tail, ape + [UInt8](repeating: 0, count: 40) + ape, ape + ape + tail] {
            var fixture = Fixture.vbr
            fixture.bytes = tag(of: 3_000) + fixture.bytes + ending
            try await check(fixture)
        }
    }

    @Test(arguments: [0, 1, 2, 3])
    func `junk before, between and behind frames plays as the reference plays it`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var fixture = Fixture.bareVBR
        for length in [10, 700, 30_000] {
            let junk = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let place = Int.random(in: 0..<fixture.bytes.count, using: &random)
            fixture.bytes.insert(contentsOf: junk, at: seed == 0 ? 0 : place)
        }
        try await check(fixture)
    }

    @Test func `music that was joined on behind the counted frames plays`() async throws {
        var fixture = Fixture.vbr
        fixture.bytes += Fixture.cbr.bytes
        try await check(fixture)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `short reads change no sample`(seed: UInt64) async throws {
        let fixture = Fixture.vbr
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        let source = MemorySource(fixture.bytes, shortReads: seed)
        let samples = try await decodeRest(MPEGDecoder(source: source, subject: "song.mp3"))
        let isEqual = samples == whole
        #expect(isEqual)
    }

    private func check(_ fixture: Fixture) async throws {
        let expected = try fixture.reference()
        let samples = try await decodeRest(MPEGDecoder(fixture.bytes))
        #expect(!expected.isEmpty)
        // Compared outside the macro, which would look for the shortest edit between millions of samples.
        let isEqual = samples == expected
        #expect(isEqual, "\(fixture.name): \(firstDifference(samples, expected))")
    }
}

/// Where two runs of samples part, for messages.
func firstDifference(_ left: [Int16], _ right: [Int16]) -> String {
    let index = zip(left, right).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    return index.map { "differ at \($0)" } ?? "lengths \(left.count) and \(right.count)"
}

/// An ID3v2.3 tag of `length` bytes with a title, a picture that fills it, and an artist after the picture.
func tag(of length: Int) -> [UInt8] {
    func frame(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let size = body.count
        let digits = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
        return Array(name.utf8) + digits + [0, 0] + body
    }
    let title = frame("TIT2", [0] + Array("Title".utf8))
    let artist = frame("TPE1", [0] + Array("Artist".utf8))
    // Looks like frames but is not: a decoder that does not skip it would play it.
    let picture = [UInt8](repeating: 0xFF, count: length - 10 - title.count - artist.count - 10)
    let content = title + frame("APIC", picture) + artist
    let size = [21, 14, 7, 0].map { UInt8((content.count >> $0) & 0x7F) }
    return Array("ID3".utf8) + [3, 0, 0] + size + content
}
