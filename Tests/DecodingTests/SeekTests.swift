import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct SeekTests {
    /// The number of samples compared after each landing: several MPEG frames.
    private static let compared = 8_192

    @Test(arguments: Fixture.all, [false, true])
    func `every seek is exact after a full decode or with its table`(fixture: Fixture, isStored: Bool)
        async throws
    {
        let first = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(first)
        let table = first.seekTable()
        #expect(table.count * 200 <= fixture.bytes.count)
        let stored = MPEGDecoder(source: MemorySource(fixture.bytes), seekTable: table)
        let decoder = isStored ? stored : first
        try await check(decoder, whole, fixture, seed: isStored ? 2 : 1)
        let end = FrameCount(whole.count / decoder.info.format.channelCount)
        #expect(try await decoder.seek(to: .seconds(3_600)) == SeekLanding(frame: end, isExact: true))
        #expect(try await decodeRest(decoder) == [])
    }

    @Test(arguments: [Fixture.cbr, .bareCBR, .mono, .low, .lowest, .high])
    func `a cold seek at a constant bit rate is exact`(fixture: Fixture) async throws {
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        for seed in 0..<20 as Range<UInt64> {
            let decoder = MPEGDecoder(fixture.bytes)
            try await check(decoder, whole, fixture, seed: seed, count: 1)
        }
    }

    @Test(arguments: [Fixture.cbr, .bareCBR, .vbr, .bareVBR, .high, .low])
    func `a cold seek waits only for the bytes of a few frames`(fixture: Fixture) async throws {
        for percent in [31, 50, 60, 80] {
            let source = MemorySource(fixture.bytes, requestByteCount: 128)
            let decoder = try await MPEGDecoder(source: source).opened()
            let before = source.requests.count
            let duration = try #require(decoder.info.duration)
            _ = try await decoder.seek(to: duration * percent / 100)
            let waited = source.requests.dropFirst(before).reduce(0) { $0 + $1.count }
            // Fourteen frames at 192 kbit/s.
            #expect(waited <= 9_000, "\(fixture) at \(percent) %")
        }
    }

    @Test func `a cold seek to the last frames of a constant rate is exact, even before a tag`() async throws
    {
        let whole = try await decodeRest(MPEGDecoder(Fixture.cbr.bytes))
        for frames in [600, 3_000, 9_000] {
            let decoder = try await MPEGDecoder(Fixture.cbr.bytes + id3v1).opened()
            let place = FrameCount(whole.count / 2 - frames)
            let landing = try await decoder.seek(to: decoder.info.format.duration(of: place))
            #expect(landing.isExact, "\(frames) frames before the end")
            let rest = try await decodeRest(decoder)
            expectSame(rest, whole.suffix(rest.count))
            #expect(abs(rest.count / 2 - frames) <= 1)
        }
    }

    @Test func `a cold seek beyond the end ends the music`() async throws {
        for fixture in [Fixture.cbr, .vbr, .bareVBR] {
            let decoder = MPEGDecoder(fixture.bytes)
            _ = try await decoder.seek(to: .seconds(3_600))
            let rest = try await decodeRest(decoder)
            #expect(rest.count <= 2 * 44_100, "\(fixture)")
        }
    }

    @Test func `the padding is not played after an approximate landing either`() async throws {
        let fixture = Fixture.vbr
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        let decoder = MPEGDecoder(fixture.bytes)
        let landing = try await decoder.seek(to: .seconds(18))
        #expect(!landing.isExact)
        let rest = try await decodeRest(decoder)
        expectSame(rest.suffix(20_000), whole.suffix(20_000))
    }

    @Test func `a table with wrong offsets is dropped at the landing`() async throws {
        let fixture = Fixture.bareVBR
        var table = SeekTable()
        let other = try await MPEGDecoder(fixture.bytes).opened()
        for point in 0..<150 as Range<Int64> { table.record(frame: point * 8, at: point * 1_001) }
        let header = try #require(FrameHeader(fixture.bytes, at: Int(other.info.audioStart)))
        let source = MemorySource(fixture.bytes)
        let key = SeekTableKey(header: header, origin: other.info.audioStart, length: source.length)
        let decoder = MPEGDecoder(source: source, seekTable: table.stored(for: key))
        let landing = try await decoder.seek(to: .seconds(12))
        #expect(!landing.isExact)
        #expect(try await !decodeRest(decoder, limit: 4_096).isEmpty)
    }

    @Test func `a seek past a change of rate lands in the music and is never called exact`() async throws {
        let fixture = OddStreams.joined([OddStreams.stereo, OddStreams.low], frames: 220)
        let decoder = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(decoder)
        #expect(try await !decoder.seek(to: .seconds(8)).isExact)
        #expect(try await !decodeRest(decoder).isEmpty)
        let back = try await decoder.seek(to: .seconds(2))
        #expect(back == SeekLanding(frame: 88_200, isExact: true))
        expectSame(try await decodeRest(decoder, limit: 20_000), whole[176_400..<196_400])
    }

    @Test(arguments: [OddStreams.free, OddStreams.layerII, OddStreams.layerI])
    func `seeks in other layers and in free format are exact`(fixture: Fixture) async throws {
        let decoder = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(decoder)
        let format = decoder.info.format
        for second in [0, 1, 2, 4] {
            let landing = try await decoder.seek(to: .seconds(second))
            #expect(landing == SeekLanding(frame: Int64(second * format.sampleRate), isExact: true))
            let heard = try await decodeRest(decoder, limit: 8_192)
            let expected = whole[(second * format.sampleRate * format.channelCount)...].prefix(8_192)
            expectNear(heard, expected, within: 1, "\(fixture) at \(second) s")
        }
    }

    /// Seeks to seeded positions and compares the decoded samples with a decode from the start.
    private func check(
        _ decoder: MPEGDecoder,
        _ whole: [Int16],
        _ fixture: Fixture,
        seed: UInt64,
        count: Int = 20
    ) async throws {
        var random = SeededGenerator(seed: seed)
        try await decoder.open()
        let format = decoder.info.format
        for _ in 0..<count {
            let target = Int.random(in: 0..<whole.count / format.channelCount, using: &random)
            let landing = try await decoder.seek(to: format.duration(of: Int64(target)))
            #expect(landing.isExact, "\(fixture), frame \(target)")
            #expect(landing.frame == Int64(target))
            let heard = try await decodeRest(decoder, limit: Self.compared)
            let start = Int(landing.frame) * format.channelCount
            let expected = whole[start...].prefix(Self.compared)
            // Exact is bit for bit in MPEG-1 stereo; elsewhere rounding may depend on the filter bank's
            // phase.
            let isBitwise = format.channelCount == 2 && format.sampleRate >= 32_000
            expectNear(heard, expected, within: isBitwise ? 0 : 1, "\(fixture), frame \(target)")
        }
    }
}
