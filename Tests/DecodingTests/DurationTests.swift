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

    @Test func `a huge tag in mid-stream ends the music instead of filling the memory`() async throws {
        let source = EndlessSource(
            OddStreams.stereo.bytes + Array("ID3".utf8) + [3, 0, 0, 0x7F, 0x7F, 0x7F, 0x7F]
        )
        let decoder = MPEGDecoder(source: source)
        let heard = try await decodeRest(decoder)
        #expect(heard == (try await decodeRest(MPEGDecoder(OddStreams.stereo.bytes))))
        #expect(source.given.withLock { $0 } < 34 << 20)
    }
}

/// Bytes, followed by a terabyte of zeros.
private final class EndlessSource: ByteSource {
    let bytes: [UInt8]
    let given = Locked(0)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var length: Int64? { 1 << 40 }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        given.withLock { $0 += count }
        let zeros = [UInt8](repeating: 0, count: count)
        guard offset < bytes.count else { return zeros }
        return Array((bytes[Int(offset)...] + zeros).prefix(count))
    }

    func isStored(_ range: ByteRange) -> Bool { false }
}
