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
    func `a truncated file plays to its end`(cut: Int) async throws {
        for fixture in [Fixture.cbr, .vbr, .bareVBR] {
            var fixture = fixture
            fixture.bytes.removeLast(cut)
            try await check(fixture)
        }
    }

    @Test func `tags at both ends are not played`() async throws {
        let tail = Array("TAG".utf8) + [UInt8](repeating: 0x41, count: 125)
        let ape = Array("APETAGEX".utf8) + [0xD0, 7, 0, 0, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xA0]
        for ending in [tail, ape + [UInt8](repeating: 0, count: 40) + ape, ape + ape + tail] {
            var fixture = Fixture.vbr
            fixture.bytes = tag(of: 3_000) + fixture.bytes + ending
            try await check(fixture)
        }
    }

    @Test(arguments: [0, 1, 2, 3])
    func `junk before, between and after frames plays as the reference decoder plays it`(seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        var fixture = Fixture.bareVBR
        for length in [10, 700, 30_000] {
            let junk = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let place = Int.random(in: 0..<fixture.bytes.count, using: &random)
            fixture.bytes.insert(contentsOf: junk, at: seed == 0 ? 0 : place)
        }
        try await check(fixture)
    }

    @Test func `music appended after the counted frames plays`() async throws {
        var fixture = Fixture.vbr
        fixture.bytes += Fixture.cbr.bytes
        try await check(fixture)
    }

    private func check(_ fixture: Fixture) async throws {
        let expected = try fixture.reference()
        let samples = try await decodeRest(MPEGDecoder(fixture.bytes))
        #expect(!expected.isEmpty)
        expectSame(samples, expected, fixture.name)
    }
}
