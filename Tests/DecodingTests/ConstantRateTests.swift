import Decoding
import Testing

@Suite struct ConstantRateTests {
    /// 128 kbit/s at 44.1 kHz: 417 + 47/49 bytes in the mean.
    private func rate(frames: Int64) throws -> ConstantRate {
        let header = try #require(FrameHeader(0xFFFB_9000))
        var rate = try #require(ConstantRate(header))
        for number in 0..<frames { rate.observe(frame: number, at: number * 20_480 / 49) }
        return rate
    }

    @Test func `the offset of a distant frame gives its number`() throws {
        let rate = try rate(frames: 200)
        #expect(rate.isConstant)
        for number in [0, 1, 199, 5_000, 1_000_000] as [Int64] {
            #expect(rate.frame(at: number * 20_480 / 49) == number)
            #expect(rate.offset(ofFrame: number) == number * 20_480 / 49)
        }
    }

    @Test func `an offset that the padding does not allow has no number`() throws {
        let rate = try rate(frames: 200)
        let offset = 5_000 * 20_480 / 49 as Int64
        for wrong in [offset + 1, offset - 1, offset + 200, -1, .max] {
            #expect(rate.frame(at: wrong) == nil)
        }
    }

    @Test func `a few frames, or other lengths, prove no constant rate`() throws {
        #expect(try !rate(frames: 5).isConstant)
        var varied = try rate(frames: 50)
        varied.observe(frame: 50, at: 50 * 20_480 / 49 + 209)
        #expect(!varied.isConstant)
    }
}
