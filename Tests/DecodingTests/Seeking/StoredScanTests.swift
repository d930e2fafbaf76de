import Media
import TestSupport
import Testing

@testable import Decoding

/// Scans of stored bytes, which correct estimated positions.
@Suite struct StoredScanTests {
    private static let variable = [Fixture.vbr, Fixture.bareVBR, Fixture.average]

    private func scanAll(_ decoder: MPEGDecoder) async throws -> Int {
        var steps = 0
        while try await decoder.scanStored() {
            steps += 1
            guard steps < 1_000 else { throw Endless() }
        }
        return steps
    }

    @Test(arguments: [Fixture.cbr, .vbr], [false, true])
    func `a decoder knows by frames and tables if a seek finds its bytes stored`(
        fixture: Fixture,
        hasTable: Bool
    ) async throws {
        let walked = MPEGDecoder(fixture.bytes)
        _ = try await decodeRest(walked)
        for percent in [10, 35, 60, 85] {
            let source = MemorySource(fixture.bytes)
            let decoder = MPEGDecoder(source: source, seekTable: hasTable ? walked.seekTable() : [])
            #expect(!decoder.isStored(at: .zero), "nothing is known before the head")
            try await decoder.open()
            let time = Duration.seconds(Double(percent) * 0.24)
            // The head alone may reach the first positions.
            let isAhead = decoder.isStored(at: time)
            let before = source.requests.count
            _ = try await decoder.seek(to: time)
            _ = try await decodeRest(decoder, limit: 2_304)
            #expect(isAhead == (source.requests.count == before))
            #expect(decoder.isStored(at: time))
        }
    }

    @Test(arguments: variable)
    func `a scan of a stored track counts all frames without a request`(fixture: Fixture) async throws {
        let source = MemorySource(fixture.bytes, isStored: true)
        let decoder = MPEGDecoder(source: source)
        let steps = try await scanAll(decoder)
        #expect(source.requests.isEmpty && steps <= fixture.bytes.count / 60_000 + 2)
        #expect(try await !decoder.scanStored())
        // The duration and the table equal those of a decode.
        let decoded = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(decoded)
        #expect(decoder.info.duration == decoder.info.format.duration(of: Int64(whole.count / 2)))
        #expect(decoder.info.isDurationExact && decoder.seekTable() == decoded.seekTable())
    }

    @Test func `a scan continues with newly stored bytes, and reads nothing twice`() async throws {
        let bytes = Fixture.bareVBR.bytes
        let source = MemorySource(bytes)
        let decoder = try await MPEGDecoder(source: source).opened()
        _ = try await scanAll(decoder)
        let settled = source.reads.count
        #expect(try await scanAll(decoder) == 0)
        #expect(source.reads.count == settled)
        var read = source.readByteCount
        for end in stride(from: 100_000, to: bytes.count, by: 40_000) {
            source.store(0..<Int64(end))
            #expect(try await scanAll(decoder) > 0)
            #expect(source.readByteCount - read <= 60_000)
            read = source.readByteCount
        }
        #expect(source.requests.count == 1)
    }

    @Test(arguments: variable)
    func `a landing is corrected when the bytes before it were scanned`(fixture: Fixture) async throws {
        let whole = try await decodeRest(MPEGDecoder(fixture.bytes))
        let source = MemorySource(fixture.bytes)
        let decoder = try await MPEGDecoder(source: source).opened()
        let target = whole.count / 2 * 7 / 10
        let landing = try await decoder.seek(to: decoder.info.format.duration(of: Int64(target)))
        #expect(!landing.isExact)
        let before = try await decodeOn(decoder, atLeast: 30_000)
        _ = try await scanAll(decoder)
        #expect(decoder.correctedLanding == nil)
        source.store(0..<Int64(fixture.bytes.count))
        _ = try await scanAll(decoder)
        let corrected = try #require(decoder.correctedLanding)
        #expect(corrected.isExact)
        let heard = before + (try await decodeRest(decoder))
        // All samples after the landing are right but the first ones, for which the frames before were
        // missing.
        let expected = whole[(2 * Int(corrected.frame))...]
        #expect(heard.count == expected.count)
        expectSame(heard.dropFirst(4_608), expected.dropFirst(4_608))
        // And any further seek is exact.
        let again = try await decoder.seek(to: decoder.info.format.duration(of: Int64(target)))
        #expect(again == SeekLanding(frame: Int64(target), isExact: true))
        #expect(decoder.correctedLanding == nil)
    }

    @Test func `playback after an approximate landing is corrected at the next known frame`() async throws {
        let fixture = Fixture.bareVBR
        let first = MPEGDecoder(fixture.bytes)
        let whole = try await decodeRest(first)
        let map = try #require(first.opened).map
        var holed = SeekTable()
        let points = map.table.offsets.count
        for (point, offset) in map.table.offsets.enumerated() where point < 10 || point > points * 3 / 4 {
            holed.record(frame: Int64(point) * SeekTable.stride, at: offset)
        }
        let source = MemorySource(fixture.bytes)
        let table = holed.stored(for: map.key(length: source.length))
        let decoder = MPEGDecoder(source: source, seekTable: table)
        #expect(try await !decoder.seek(to: .seconds(14)).isExact)
        let heard = try await decodeRest(decoder)
        let corrected = try #require(decoder.correctedLanding)
        let expected = whole[(2 * Int(corrected.frame))...]
        #expect(corrected.isExact && heard.count == expected.count)
        #expect(heard.suffix(100_000) == expected.suffix(100_000))
    }

    @Test func `tags at the end shorten the music as soon as they are stored`() async throws {
        let bytes = Fixture.bareCBR.bytes + ape(200_000) + id3v1
        let source = MemorySource(bytes)
        let decoder = try await MPEGDecoder(source: source).opened()
        let plain = try await MPEGDecoder(Fixture.bareCBR.bytes).opened()
        let real = try #require(plain.info.duration)
        #expect(try #require(decoder.info.duration) > real + .seconds(5))
        source.store(Int64(bytes.count - 1_000)..<Int64(bytes.count))
        _ = try await decoder.scanStored()
        #expect(decoder.info.duration == real && decoder.info.tags.title != nil)
        #expect(source.requests.count == 1)
    }
}

/// A loop made more steps than its input is worth.
struct Endless: Error {}
