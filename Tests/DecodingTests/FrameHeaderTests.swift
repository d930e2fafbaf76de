import Decoding
import Testing

@Suite struct FrameHeaderTests {
    /// The version and layer that four bytes state; then the bit rate, sample rate, channels, bytes of a frame, samples
    /// of a frame, and bytes of side information.
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
