import Decoding
import Media
import TestSupport
import Testing

@Suite struct FrameHeaderTests {
    /// The version and layer that four bytes state; then the bit rate, sample rate, channels, bytes of a
    /// frame, samples of a frame, and bytes of side information.
    typealias Row = (raw: UInt32, version: FrameHeader.Version, layer: Int, numbers: [Int?])

    @Test(
        arguments: [
            (0xFFFB_9000, .mpeg1, 3, [128_000, 44_100, 2, 417, 1152, 32]),
            (0xFFFB_9200, .mpeg1, 3, [128_000, 44_100, 2, 418, 1152, 32]),
            (0xFFFB_14C0, .mpeg1, 3, [32_000, 48_000, 1, 96, 1152, 17]),
            (0xFFF3_8040, .mpeg2, 3, [64_000, 22_050, 2, 208, 576, 17]),
            (0xFFE3_18C0, .mpeg25, 3, [8_000, 8_000, 1, 72, 576, 9]),
            (0xFFFD_E400, .mpeg1, 2, [384_000, 48_000, 2, 1152, 1152, 0]),
            (0xFFFF_1200, .mpeg1, 1, [32_000, 44_100, 2, 36, 384, 0]),
            (0xFFFB_0000, .mpeg1, 3, [0, 44_100, 2, nil, 1152, 32]),
        ] as [Row]
    )
    func `a header states kind, rate and length`(row: Row) throws {
        let header = try #require(FrameHeader(row.raw))
        #expect(header.version == row.version && header.layer == row.layer)
        let numbers = [
            header.bitRate, header.sampleRate, header.channelCount, header.frameByteCount,
            header.samplesPerFrame, header.sideInformationByteCount,
        ]
        #expect(numbers == row.numbers)
    }

    @Test(
        arguments: [0xFFFB_F000, 0xFFFB_9C00, 0xFFF8_9000, 0xFFEB_9000, 0xFF1B_9000, 0x4944_3303, 0]
            as [UInt32]
    )
    func `reserved values make no header`(raw: UInt32) { #expect(FrameHeader(raw) == nil) }

    @Test func `no four bytes crash the parser`() {
        for high in 0..<65_536 as Range<UInt32> {
            for low in [0, 0x9000, 0xFFFF, 0x0C00] as [UInt32] {
                guard let header = FrameHeader(high << 16 | low) else { continue }
                #expect(header.sampleRate > 0 && (header.frameByteCount ?? 24) >= 24)
            }
        }
    }
}

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

@Suite struct GaplessTrimTests {
    private func trim(frames: Int?, delay: Int?, padding: Int?) throws -> GaplessTrim {
        let header = try #require(FrameHeader(0xFFFB_9000))
        let frame = xingFrame("Info", frames: frames, delay: delay, padding: padding)
        return GaplessTrim(XingHeader(frame[...], header: header), samplesPerFrame: 1152)
    }

    @Test(
        arguments: [(576, 1_000, 1_105, 11_049..<11_520), (nil, nil, 529, 11_520..<11_520)]
            as [(Int?, Int?, FrameCount, Range<FrameCount>)]
    )
    func `delay and padding are trimmed, each corrected by the decoder's own delay`(
        delay: Int?,
        padding: Int?,
        start: FrameCount,
        trimmed: Range<FrameCount>
    ) throws {
        let trim = try trim(frames: 10, delay: delay, padding: padding)
        #expect(trim.start == start && trim.padding == trimmed)
        #expect(trim.musicLength == trimmed.lowerBound - start)
    }

    @Test func `without a frame count nothing is trimmed`() throws {
        #expect(try trim(frames: nil, delay: 576, padding: 1_000) == GaplessTrim(nil, samplesPerFrame: 1_152))
        #expect(GaplessTrim(nil, samplesPerFrame: 1_152).music(in: 0..<10) == [0..<10])
    }

    @Test func `absurd numbers leave no music rather than crash`() throws {
        let trim = try trim(frames: 1, delay: 4_095, padding: 4_095)
        #expect(trim.musicLength == 0)
        #expect(trim.music(in: 0..<1_152) == [])
        // What follows the counted frames plays even so.
        #expect(trim.music(in: 1_152..<9_216).map(\.upperBound) == [9_216])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `slices of any length contain the same samples, and their positions count up`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let frames = Int64.random(in: 3...20, using: &random)
        let trim = try trim(
            frames: Int(frames),
            delay: .random(in: 0...1_200, using: &random),
            padding: .random(in: 0...2_000, using: &random)
        )
        let all = (frames + 3) * 1_152
        var kept: [FrameCount] = []
        var place: FrameCount = 0
        while place < all {
            let next = min(all, place + .random(in: 1...1_500, using: &random))
            for part in trim.music(in: place..<next) { kept.append(contentsOf: part) }
            place = next
        }
        #expect(kept == trim.music(in: 0..<all).flatMap(Array.init))
        for (position, sample) in kept.enumerated() where position % 97 == 0 {
            #expect(trim.position(ofSample: sample) == FrameCount(position))
            #expect(trim.sample(at: FrameCount(position)) == sample)
        }
    }
}
