import Decoding
import Testing

@Suite struct FrameHeaderTests {
    struct Row: Sendable {
        var raw: UInt32
        var version: FrameHeader.Version
        var layer: Int
        var bitRate: Int
        var sampleRate: Int
        var channels: Int
        var byteCount: Int?
        var samples: Int
        var side: Int
    }

    @Test(
        arguments: [
            Row(
                raw: 0xFFFB_9000,
                version: .mpeg1,
                layer: 3,
                bitRate: 128_000,
                sampleRate: 44_100,
                channels: 2,
                byteCount: 417,
                samples: 1152,
                side: 32
            ),
            Row(
                raw: 0xFFFB_9200,
                version: .mpeg1,
                layer: 3,
                bitRate: 128_000,
                sampleRate: 44_100,
                channels: 2,
                byteCount: 418,
                samples: 1152,
                side: 32
            ),
            Row(
                raw: 0xFFFB_14C0,
                version: .mpeg1,
                layer: 3,
                bitRate: 32_000,
                sampleRate: 48_000,
                channels: 1,
                byteCount: 96,
                samples: 1152,
                side: 17
            ),
            Row(
                raw: 0xFFF3_8040,
                version: .mpeg2,
                layer: 3,
                bitRate: 64_000,
                sampleRate: 22_050,
                channels: 2,
                byteCount: 208,
                samples: 576,
                side: 17
            ),
            Row(
                raw: 0xFFE3_18C0,
                version: .mpeg25,
                layer: 3,
                bitRate: 8_000,
                sampleRate: 8_000,
                channels: 1,
                byteCount: 72,
                samples: 576,
                side: 9
            ),
            Row(
                raw: 0xFFFD_E400,
                version: .mpeg1,
                layer: 2,
                bitRate: 384_000,
                sampleRate: 48_000,
                channels: 2,
                byteCount: 1152,
                samples: 1152,
                side: 0
            ),
            Row(
                raw: 0xFFFF_1200,
                version: .mpeg1,
                layer: 1,
                bitRate: 32_000,
                sampleRate: 44_100,
                channels: 2,
                byteCount: 36,
                samples: 384,
                side: 0
            ),
            Row(
                raw: 0xFFFB_0000,
                version: .mpeg1,
                layer: 3,
                bitRate: 0,
                sampleRate: 44_100,
                channels: 2,
                byteCount: nil,
                samples: 1152,
                side: 32
            ),
        ]
    )
    func `a header tells kind, rate and length`(row: Row) throws {
        let header = try #require(FrameHeader(row.raw))
        #expect(header.version == row.version)
        #expect(header.layer == row.layer)
        #expect(header.bitRate == row.bitRate)
        #expect(header.sampleRate == row.sampleRate)
        #expect(header.channelCount == row.channels)
        #expect(header.frameByteCount == row.byteCount)
        #expect(header.samplesPerFrame == row.samples)
        #expect(header.sideInformationByteCount == row.side)
    }

    @Test(
        arguments: [0xFFFB_F000, 0xFFFB_9C00, 0xFFF8_9000, 0xFFEB_9000, 0xFF1B_9000, 0x4944_3303, 0]
            as [UInt32]
    )
    func `reserved values make no header`(raw: UInt32) {
        #expect(FrameHeader(raw) == nil)
    }

    @Test func `the reservoir's reach is nine bits in MPEG-1 and eight in MPEG-2`() throws {
        let first = try #require(FrameHeader(0xFFFB_9000))
        #expect(first.mainDataBegin([0xFF, 0xFB, 0x90, 0, 0xFF, 0x80]) == 511)
        #expect(first.mainDataBegin([0xFF, 0xFB, 0x90, 0, 0x01, 0x7F]) == 2)
        let second = try #require(FrameHeader(0xFFF3_8000))
        #expect(second.mainDataBegin([0xFF, 0xF3, 0x80, 0, 0x81, 0xFF]) == 0x81)
        let checked = try #require(FrameHeader(0xFFFA_9000))
        #expect(checked.mainDataBegin([0xFF, 0xFA, 0x90, 0, 9, 9, 0x00, 0x80]) == 1)
        #expect(checked.mainDataBegin([0xFF, 0xFA, 0x90, 0, 9]) == nil)
    }

    @Test func `no four bytes crash the parser`() {
        for high in 0..<65_536 as Range<UInt32> {
            for low in [0, 0x9000, 0xFFFF, 0x0C00] as [UInt32] {
                guard let header = FrameHeader(high << 16 | low) else { continue }
                #expect(header.sampleRate > 0 && (header.frameByteCount ?? 24) >= 24)
            }
        }
    }
}
