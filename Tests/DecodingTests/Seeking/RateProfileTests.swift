import Media
import TestSupport
import Testing

@testable import Decoding

/// Far seeks in MP3 with a variable rate and no header, of which nothing is cached.
@Suite struct RateProfileTests {
    private static let parts = ["9", "5", "0"].map {
        Fixture.made("VBR \($0)", ["-V", $0, "-t", "--nores", "--resample", "44.1"], seconds: 20)
    }

    private static let files = [
        [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 0], [2, 0, 2],
    ].map(file)

    /// Five minutes, of which each third has the rate of one of the parts.
    private static func file(_ order: [Int]) -> Fixture {
        Fixture(
            name: "rates \(order)",
            bytes: order.flatMap { part in (0..<5).flatMap { _ in parts[part].bytes } }
        )
    }

    /// How far a seek to `share` of the music lands off, as a share of its length, and the requests that it
    /// takes. `isStart` states that nothing is played before it.
    private func landing(
        in bytes: [UInt8],
        at share: Double,
        lasting stated: Duration?,
        isStart: Bool = false
    ) async throws -> (error: Double, requests: [ByteRange]) {
        let source = MemorySource(bytes)
        var stream = ProbedStream(source: source, subject: "song.mp3")
        stream.statedDuration = stated
        let decoder = MPEGDecoder(stream)
        try await decoder.open()
        if !isStart { _ = try await decodeRest(decoder, limit: 4_000) }
        #expect(source.requests.count == 1)
        let target = Duration.seconds(300 * share)
        let first = try await decoder.seek(to: target)
        _ = try await decodeRest(decoder, limit: 4_000)
        let requests = Array(source.requests.dropFirst())
        // If announced, a sample brings no other bytes.
        #expect(source.announced == requests.dropLast())
        // A second one finds the rates known.
        _ = try await decoder.seek(to: .seconds(300 * (1 - share) + 7))
        #expect(source.requests.count - 1 - requests.count <= 1)
        let again = try await decoder.seek(to: target)
        #expect(first == again)
        _ = try await decodeRest(decoder, limit: 4_000)
        source.store(0..<Int64(bytes.count))
        while decoder.correctedLanding == nil, try await decoder.scanStored() {}
        let frame = again.isExact ? again.frame : try #require(decoder.correctedLanding).frame
        let place = decoder.info.format.duration(of: frame)
        return (abs((place - target) / .seconds(300)), requests)
    }

    @Test(arguments: files)
    func `a start at a place lands within a tenth, as a seek does`(file: Fixture) async throws {
        for share in [0.3, 0.6, 0.9] {
            let (error, _) = try await landing(in: file.bytes, at: share, lasting: nil, isStart: true)
            #expect(error <= 0.1, "\(file.name): \(error) at \(share)")
        }
    }

    @Test(arguments: files, [nil, Duration.seconds(300)])
    func `far seeks land within a tenth, after at most six samples`(file: Fixture, stated: Duration?)
        async throws
    {
        for share in [0.4, 0.8] {
            let (error, requests) = try await landing(in: file.bytes, at: share, lasting: stated)
            #expect(error <= 0.1, "\(file.name): \(error) at \(share)")
            #expect(requests.count <= 6 + 1, "\(requests)")
            #expect(requests.dropLast().allSatisfy { $0.count <= 4_096 }, "\(requests)")
        }
    }

    @Test(arguments: 0..<3)
    func `two samples are enough if the rate stays about the same`(part: Int) async throws {
        let file = Self.file([part, part, part])
        for stated in [nil, Duration.seconds(300)] {
            let (error, requests) = try await landing(in: file.bytes, at: 0.8, lasting: stated)
            #expect(error <= 0.1, "\(file.name): \(error)")
            #expect(requests.count == 2 + 1, "\(requests)")
        }
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

    @Test func `nothing is sampled for a place that is stored`() async throws {
        let bytes = Self.files[0].bytes
        let length = Int64(bytes.count)
        let source = MemorySource(bytes)
        let decoder = MPEGDecoder(source: source)
        try await decoder.open()
        // What is stored is behind a gap, so that the place stays an estimate.
        source.store(200_000..<length)
        _ = try await decodeRest(decoder, limit: 4_000)
        let before = source.requests.count
        #expect(try await !decoder.seek(to: .seconds(220)).isExact)
        _ = try await decodeRest(decoder, limit: 4_000)
        #expect(source.requests.count == before, "\(source.requests)")
    }

    @Test func `the gap where the rate changes is halved`() {
        #expect(
            places { $0 < 1_500_000 ? 400 : 800 } == [2_000_000, 3_600_000, 1_020_000, 1_510_000, 1_265_000]
        )
        // Rates that change everywhere end it too, and so does a place without frames.
        #expect(places { $0 / 1_000 % 2 == 0 ? 400 : 4_000 }.count <= 6)
        #expect(places { $0 == 1_020_000 ? 0 : 800 } == [2_000_000, 3_600_000, 1_020_000])
        #expect(places { _ in 0 } == [2_000_000, 3_600_000])
    }

    /// The places at which music of 4 MB is sampled that has frames of `length`, and of 400 bytes at the
    /// start.
    private func places(_ length: (Int64) -> Double) -> [Int64] {
        var profile = RateProfile(statedFrames: nil, places: .accurate)
        var places: [Int64] = []
        let known = RateProfile.Known(number: 100, offset: 40_000, mean: 400, length: 4_000_000)
        while let place = profile.nextSample(behind: known) {
            places.append(place)
            profile.sample(length(place), around: place)
        }
        return places
    }

    @Test func `a stated length that contradicts the samples is not believed`() {
        var profile = RateProfile(statedFrames: 100, places: .accurate)
        profile.sample(400, around: 2_000_000)
        let known = RateProfile.Known(number: 50, offset: 20_000, mean: 400, length: 4_000_000)
        let count = profile.frameCount(behind: known)
        #expect(count.map { abs($0 - 10_000) < 100 } == true)
        for stated in [0, -1, .infinity, .nan, 1e300] {
            #expect(RateProfile(statedFrames: stated, places: .accurate).statedFrames == nil)
        }
    }
}
