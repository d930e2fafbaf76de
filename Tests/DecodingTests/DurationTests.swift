import Decoding
import Media
import System
import TestSupport
import Testing

/// The duration that is shown before the track is decoded.
@Suite struct DurationTests {
    private func opened(_ bytes: [UInt8]) async throws -> StreamInfo {
        let decoder = try await MPEGDecoder(bytes).opened()
        return decoder.info
    }

    private func counted(_ bytes: [UInt8]) async throws -> Duration {
        let decoder = MPEGDecoder(bytes)
        let samples = try await decodeRest(decoder)
        return decoder.info.format.duration(of: Int64(samples.count / decoder.info.format.channelCount))
    }

    @Test(arguments: [Fixture.cbr, .bareCBR, .vbr, .mono, .low])
    func `a leading tag of any size is not counted as music`(fixture: Fixture) async throws {
        let plain = try await opened(fixture.bytes)
        for length in [3_000, 70_000, 600_000] {
            let tagged = try await opened(tag(of: length) + fixture.bytes)
            #expect(tagged.duration == plain.duration && tagged.isDurationExact == plain.isDurationExact)
        }
    }

    @Test(
        arguments: [
            Fixture.bareCBR, OddStreams.layerII, OddStreams.lowLayerII, OddStreams.layerI, OddStreams.free,
            OddStreams.lowest,
        ]
    )
    func `a constant rate gives the duration to a frame`(fixture: Fixture) async throws {
        let first = try #require(try await opened(fixture.bytes + id3v1).duration)
        let real = try await counted(fixture.bytes)
        #expect(abs((first - real).seconds) < 0.03, "\(fixture): \(first), \(real)")
    }

    @Test(arguments: [Fixture.cbr, .vbr])
    func `a header that states more music than the file has is not trusted`(fixture: Fixture) async throws {
        let cut = Array(fixture.bytes.prefix(fixture.bytes.count / 2))
        let info = try await opened(cut)
        #expect(!info.isDurationExact)
        let real = try await counted(cut)
        let stated = try #require(info.duration)
        // With a variable rate, the mean of the first frames counts.
        #expect(abs((stated - real) / real) < 0.15)
        #expect(stated < (try #require(try await opened(fixture.bytes).duration)))
    }

    @Test func `a file longer than its header states has an exact duration only at the end`() async throws {
        let joined = Fixture.vbr.bytes + Fixture.bareCBR.bytes
        let decoder = try await MPEGDecoder(joined).opened()
        #expect(!decoder.info.isDurationExact)
        let samples = try await decodeRest(decoder)
        #expect(decoder.info.isDurationExact)
        #expect(decoder.info.duration == decoder.info.format.duration(of: Int64(samples.count / 2)))
    }

    @Test func `a huge tag in mid-stream is passed over without filling the memory`() async throws {
        let music = OddStreams.stereo.bytes
        // 48 MiB, in seven bits of each byte.
        let mark = Array("ID3".utf8) + [3, 0, 0, 0x18, 0, 0, 0]
        let memory = ResidentMemory.Bound()
        let decoder = MPEGDecoder(source: HoledSource(music + mark, zeros: 48 << 20, music))
        let heard = try await decodeRest(decoder)
        memory.check("a tag of 48 MiB")
        let whole = try await decodeRest(MPEGDecoder(music))
        #expect(heard.count == 2 * whole.count)
        expectSame(heard.prefix(whole.count), whole)
        // Behind the tag the filters start anew.
        expectSame(heard.suffix(whole.count - 4_608), whole.dropFirst(4_608))
    }
}

/// Bytes, a number of zeros, and bytes again.
private struct HoledSource: ByteSource {
    let head: [UInt8]
    let tailStart: Int
    let tail: [UInt8]

    init(_ head: [UInt8], zeros: Int, _ tail: [UInt8]) {
        self.head = head
        tailStart = head.count + zeros
        self.tail = tail
    }

    var length: Int64? { Int64(tailStart + tail.count) }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        let offset = Int(offset)
        if offset < head.count { return Array(head[offset...].prefix(count)) }
        if offset >= tailStart { return Array(tail.dropFirst(offset - tailStart).prefix(count)) }
        return [UInt8](repeating: 0, count: min(count, tailStart - offset))
    }

    func isStored(_ range: ByteRange) -> Bool { false }
}
