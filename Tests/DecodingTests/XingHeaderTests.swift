import Decoding
import Testing

@Suite struct XingHeaderTests {
    private func parse(_ frame: [UInt8]) throws -> XingHeader? {
        XingHeader(frame[...], header: try #require(FrameHeader(frame, at: 0)))
    }

    @Test func `all fields are read`() throws {
        let shares = (0..<100).map { UInt8($0 * 2) }
        let frame = xingFrame(
            "Xing",
            frames: 1_000,
            bytes: 400_000,
            shares: shares,
            delay: 576,
            padding: 1_234
        )
        let xing = try #require(try parse(frame))
        #expect(xing.kind == .xing)
        #expect(xing.frameCount == 1_000)
        #expect(xing.byteCount == 400_000)
        #expect(xing.encoderDelay == 576)
        #expect(xing.encoderPadding == 1_234)
        #expect(xing.byteShare(at: 0.5) == 100.0 / 256)
        #expect(xing.byteShare(at: 2) == 1)
    }

    @Test func `music is no header`() throws {
        var frame = xingFrame("Xing", frames: 10)
        frame[20] = 1
        #expect(try parse(frame) == nil)
        #expect(try parse(xingFrame("Zing", frames: 10)) == nil)
        #expect(try parse(Array(xingFrame("Xing", frames: 10).prefix(200))) == nil)
    }

    @Test func `a table that runs backwards is thrown away`() throws {
        let shares = (0..<100).map { UInt8(200 - $0) }
        #expect(try parse(xingFrame("Xing", frames: 10, shares: shares))?.byteShare(at: 0.5) == nil)
    }

    @Test func `a VBRI header gives frames, bytes and a table`() throws {
        var frame = [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 32) + Array("VBRI".utf8)
        frame += [0, 1, 0, 0, 0, 0]
        // Bytes, frames, then 4 entries of scale 2 and width 1, for 25 frames each.
        frame += [0, 0, 0x9C, 0x40, 0, 0, 0, 100, 0, 4, 0, 2, 0, 1, 0, 25, 10, 10, 20, 60]
        frame += [UInt8](repeating: 0, count: 417 - frame.count)
        let vbri = try #require(try parse(frame))
        #expect(vbri.kind == .vbri && !vbri.isSilent)
        #expect(vbri.frameCount == 100)
        #expect(vbri.byteCount == 40_000)
        #expect(vbri.byteShare(at: 0.5) == 0.2)
    }
}
