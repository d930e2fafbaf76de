import Decoding
import Testing

@Suite struct XingHeaderTests {
    private func parse(_ frame: [UInt8]) throws -> XingHeader? {
        XingHeader(frame[...], header: try #require(FrameHeader(frame, at: 0)))
    }

    @Test func `all fields are read`() throws {
        let shares = (0..<100).map { UInt8($0 * 2) }
        let frame = xingFrame("Xing", frames: 1_000, bytes: 4_000, shares: shares, delay: 576, padding: 1_234)
        let xing = try #require(try parse(frame))
        #expect(xing.kind == .xing)
        #expect([xing.frameCount, xing.byteCount] == [1_000, 4_000])
        #expect([xing.encoderDelay, xing.encoderPadding] == [576, 1_234])
        #expect([0.5, 2].map(xing.byteShare(at:)) == [100.0 / 256, 1])
    }

    @Test func `a frame of music is not taken for a header`() throws {
        var frame = xingFrame("Xing", frames: 10)
        frame[20] = 1
        #expect(try parse(frame) == nil)
        #expect(try parse(xingFrame("Zing", frames: 10)) == nil)
        #expect(try parse(Array(xingFrame("Xing", frames: 10).prefix(200))) == nil)
    }

    @Test func `a table that decreases is ignored`() throws {
        let shares = (0..<100).map { UInt8(200 - $0) }
        #expect(try parse(xingFrame("Xing", frames: 10, shares: shares))?.byteShare(at: 0.5) == nil)
    }

    @Test func `a VBRI header gives frames, bytes and a table`() throws {
        let vbri = try #require(try parse(vbriFrame))
        #expect(vbri.kind == .vbri && !vbri.isSilent)
        #expect([vbri.frameCount, vbri.byteCount] == [100, 40_000] && vbri.byteShare(at: 0.5) == 0.2)
    }
}
