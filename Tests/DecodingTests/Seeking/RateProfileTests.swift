import Media
import TestSupport
import Testing

@testable import Decoding

/// Far seeks in MP3 with a variable rate and no header, of which nothing is cached.
@Suite struct RateProfileTests {
    private static let parts = ["9", "5", "0"].map {
        Fixture.made("VBR \($0)", ["-V", $0, "-t", "--nores", "--resample", "44.1"], seconds: 20)
    }

    /// Five minutes, of which each third has a rate of its own.
    private static let files = [[0, 2, 1], [2, 0, 1], [1, 2, 0]].map { order in
        Fixture(
            name: "rates \(order)",
            bytes: order.flatMap { part in (0..<5).flatMap { _ in parts[part].bytes } }
        )
    }

    /// How far a seek to `share` of the music lands off, as a share of its length, and the requests that it takes.
    private func landing(in bytes: [UInt8], at share: Double, lasting stated: Duration?) async throws -> (
        error: Double, requests: [ByteRange]
    ) {
        let source = MemorySource(bytes)
        var stream = ProbedStream(source: source, subject: "song.mp3")
        stream.statedDuration = stated
        let decoder = MPEGDecoder(stream)
        _ = try await decodeRest(decoder, limit: 4_000)
        #expect(source.requests.count == 1)
        let target = Duration.seconds(300 * share)
        _ = try await decoder.seek(to: target)
        _ = try await decodeRest(decoder, limit: 4_000)
        let requests = Array(source.requests.dropFirst())
        // A second one finds the rates known.
        _ = try await decoder.seek(to: .seconds(300 * (1 - share) + 7))
        #expect(source.requests.count - 1 - requests.count <= 1)
        let again = try await decoder.seek(to: target)
        _ = try await decodeRest(decoder, limit: 4_000)
        source.store(0..<Int64(bytes.count))
        while decoder.correctedLanding == nil, try await decoder.scanStored() {}
        let frame = again.isExact ? again.frame : try #require(decoder.correctedLanding).frame
        let place = decoder.info.format.duration(of: frame)
        return (abs((place - target) / .seconds(300)), requests)
    }

    @Test(arguments: files)
    func `far seeks land within a tenth with a stated duration, and within a quarter without`(file: Fixture)
        async throws
    {
        var errors = (stated: 0.0, unstated: 0.0)
        for share in [0.2, 0.4, 0.6, 0.8] {
            for stated in [Duration.seconds(300), nil] {
                let (error, requests) = try await landing(in: file.bytes, at: share, lasting: stated)
                #expect(requests.count <= 3, "\(requests)")
                #expect(requests.dropLast().allSatisfy { $0.count <= 4_096 }, "\(requests)")
                if stated == nil {
                    errors.unstated = max(errors.unstated, error)
                } else {
                    errors.stated = max(errors.stated, error)
                }
            }
        }
        #expect(errors.stated <= 0.1, "\(file.name): \(errors)")
        #expect(errors.unstated <= 0.25, "\(file.name): \(errors)")
    }

    @Test func `nothing is sampled if the rate is constant, or if a header states it`() async throws {
        for fixture in [Fixture.bareCBR, .vbr, .cbr] {
            let long = Fixture(name: "long", bytes: (0..<4).flatMap { _ in fixture.bytes })
            let source = MemorySource(long.bytes)
            let decoder = try await MPEGDecoder(source: source).opened()
            _ = try await decoder.seek(to: .seconds(20))
            #expect(source.requests.count <= 2, "\(fixture.name)")
        }
    }

    @Test func `nothing is sampled before the first sound, nor for a place that is stored`() async throws {
        let bytes = Self.files[0].bytes
        let length = Int64(bytes.count)
        let source = MemorySource(bytes)
        let decoder = MPEGDecoder(source: source)
        try await decoder.open()
        _ = try await decoder.seek(to: .seconds(200))
        #expect(source.requests.count == 2, "\(source.requests)")
        // What is stored is behind a gap, so that the place stays an estimate.
        source.store(200_000..<length)
        _ = try await decodeRest(decoder, limit: 4_000)
        let before = source.requests.count
        #expect(try await !decoder.seek(to: .seconds(220)).isExact)
        _ = try await decodeRest(decoder, limit: 4_000)
        #expect(source.requests.count == before, "\(source.requests)")
    }

    @Test func `a stated length that contradicts the samples is not believed`() {
        var profile = RateProfile(statedFrames: 100)
        profile.sample(400, around: 2_000_000)
        let known: (number: Int64, offset: Int64) = (50, 20_000)
        let count = profile.frameCount(behind: known, mean: 400, in: 4_000_000)
        #expect(count.map { abs($0 - 10_000) < 100 } == true)
        for stated in [0, -1, .infinity, .nan, 1e300] {
            #expect(RateProfile(statedFrames: stated).statedFrames == nil)
        }
    }
}
