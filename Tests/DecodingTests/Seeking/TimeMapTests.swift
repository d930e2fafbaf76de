import Decoding
import Media
import Testing

/// The times that the seek table gives to the bytes of a stream.
@Suite struct StreamTimeMapTests {
    /// The offset of the frame that is heard at each hundredth of `info`'s duration.
    private func frames(of fixture: Fixture, _ info: StreamInfo) throws -> [(time: Duration, offset: Int64)] {
        let frames = Array(FrameWalker(fixture.bytes))
        let first = try #require(frames.firstIndex { Int64($0.index) == info.audioStart })
        let duration = try #require(info.duration)
        let length = info.format.frames(in: duration)
        let header = frames[first].header
        // The samples that were trimmed in front.
        let all = FrameCount((frames.count - first) * header.samplesPerFrame)
        let trimmed = min(all - length, 1_105)
        return (0..<100).map { step in
            let frame = (trimmed + length * FrameCount(step) / 100) / FrameCount(header.samplesPerFrame)
            return (duration * Double(step) / 100, Int64(frames[first + Int(frame)].index))
        }
    }

    private func worst(_ map: TimeMap, _ frames: [(time: Duration, offset: Int64)]) -> Int64 {
        frames.map { abs(map.offset(at: $0.time) - $0.offset) }.max() ?? 0
    }

    @Test(arguments: [Fixture.cbr, .bareCBR, .vbr, .bareVBR, .mono, .low])
    func `once the frames are known, each time has the offset of its frame`(fixture: Fixture) async throws {
        let decoder = try await MPEGDecoder(fixture.bytes).opened()
        _ = try await decodeRest(decoder)
        let map = try #require(decoder.info.timeMap)
        #expect(map.duration == decoder.info.duration && map.audio.lowerBound == decoder.info.audioStart)
        // A map is refined only if it was off by one of its 256 steps.
        let step = (map.audio.upperBound - map.audio.lowerBound) / 256
        let frames = try frames(of: fixture, decoder.info)
        #expect(worst(map, frames) <= 2 * step + 2_000)
    }

    @Test func `the louder half of a stream has more bytes, but no more cells`() async throws {
        // 200 frames of 192 kbit/s, then as many of 128.
        let stream = OddStreams.joined([.bareCBR, OddStreams.stereo], frames: 200)
        let decoder = try await MPEGDecoder(stream.bytes).opened()
        _ = try await decodeRest(decoder)
        let map = try #require(decoder.info.timeMap)
        let middle = Int64(OddStreams.frameStarts(stream.bytes)[200])
        #expect(abs(map.offset(at: map.duration / 2) - middle) < 3_000)
        #expect(abs(map.time(at: middle).seconds - map.duration.seconds / 2) < 0.1)
        #expect(Double(middle) > 0.59 * Double(stream.bytes.count))
    }

    @Test func `before that, the header's table tells, and without one the bytes are evenly spread`()
        async throws
    {
        let stated = try await MPEGDecoder(Fixture.vbr.bytes).opened().info
        let map = try #require(stated.timeMap)
        #expect(
            worst(map, try frames(of: .vbr, stated)) <= (map.audio.upperBound - map.audio.lowerBound) / 64
        )
        let info = try await MPEGDecoder(Fixture.bareCBR.bytes).opened().info
        let even = try #require(info.timeMap)
        let middle = even.offset(at: try #require(info.duration) / 2)
        #expect(abs(middle - Int64(Fixture.bareCBR.bytes.count / 2)) < 2_000)
    }

    @Test func `a picture in front of the music has no time`() async throws {
        let decoder = try await MPEGDecoder(tag(of: 600_000) + Fixture.vbr.bytes).opened()
        let map = try #require(decoder.info.timeMap)
        #expect(map.audio.lowerBound == decoder.info.audioStart && map.audio.lowerBound > 600_000)
        #expect(map.time(at: 300_000) == .zero && map.offset(at: .zero) == decoder.info.audioStart)
    }
}
