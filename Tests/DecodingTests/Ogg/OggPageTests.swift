import Media
import TestSupport
import Testing

@testable import Decoding

/// Pages, packets and heads: pure, and of any bytes.
@Suite struct OggPageTests {
    @Test(arguments: [MadeOgg.vorbis, .opus])
    func `the pages of a file follow each other without a gap, and their packets are whole`(made: MadeOgg) {
        let pages = made.pages
        #expect(pages.count > 3 && pages[0].page.isFirst && pages[pages.count - 1].page.isLast)
        #expect(pages[0].offset == 0 && pages[pages.count - 1].end == Int64(made.bytes.count))
        #expect(zip(pages, pages.dropFirst()).allSatisfy { $0.end == $1.offset })
        var packets = OggPackets()
        let contents = pages.map { packets.receive($0) }
        #expect(contents.allSatisfy { !$0.followsHole })
        let granules = contents.compactMap(\.granule)
        #expect(granules == granules.sorted())
    }

    @Test func `bytes that come in pieces of any size give the same pages`() {
        let made = MadeOgg.vorbis
        let expected = made.pages.map(\.offset)
        for size in [1_000, 4_096, 65_536] {
            var walk = OggPageWalk(at: 0)
            var offsets: [Int64] = []
            for start in stride(from: 0, to: made.bytes.count, by: size) {
                walk.add(Array(made.bytes[start..<min(start + size, made.bytes.count)]))
                while let found = walk.next() { offsets.append(found.offset) }
            }
            #expect(offsets == expected && walk.skippedByteCount == 0)
        }
    }

    @Test func `a packet over several pages is joined, and lost if one of them is`() {
        func page(_ sequence: UInt32, _ flags: UInt8, _ lacing: [UInt8]) -> [UInt8] {
            let body = lacing.flatMap { [UInt8](repeating: UInt8(sequence), count: Int($0)) }
            var page =
                Array("OggS".utf8) + [0, flags] + little(100, 8) + little(9, 4) + little(UInt64(sequence), 4)
                + little(0, 4) + [UInt8(lacing.count)] + lacing + body
            let sum = page.withUnsafeBytes { OggPage.checksum(of: $0) }
            page.replaceSubrange(22..<26, with: little(UInt64(sum), 4))
            return page
        }
        let pages = [page(0, 0, [10, 255]), page(1, 1, [255]), page(2, 1, [5, 20]), page(3, 0, [30])]
        func lengths(_ pages: [[UInt8]]) -> [[Int]] {
            var walk = OggPageWalk(at: 0, holding: pages.flatMap { $0 })
            var packets = OggPackets()
            var lengths: [[Int]] = []
            while let found = walk.next() {
                let content = packets.receive(found)
                lengths.append((content.followsHole ? [-1] : []) + content.packets.map(\.count))
            }
            return lengths
        }
        #expect(lengths(pages) == [[10], [], [515, 20], [30]])
        #expect(lengths([pages[0], pages[2], pages[3]]) == [[10], [-1, 20], [30]])
        #expect(lengths(Array(pages[1...])) == [[], [20], [30]])
        #expect(lengths([pages[0], pages[3]]) == [[10], [-1, 30]])
    }

    @Test func `heads that state what is not played are refused by it`() throws {
        func opus(_ channels: UInt8, _ rest: [UInt8]) -> [UInt8] {
            OpusHead.mark + [1, channels] + little(312, 2) + little(48_000, 4) + little(0xFF00, 2) + rest
        }
        let head = try OpusHead(opus(2, [0]))
        #expect(head.preSkip == 312 && head.gain == -256 && head.mapping == [0, 1] && head.coupledCount == 1)
        let surround = try OpusHead(opus(6, [1, 4, 2, 0, 4, 1, 2, 3, 5]))
        #expect(surround.mapping == [0, 1, 4, 5, 2, 3])
        for (packet, words) in [
            (opus(9, [1, 9, 0]), "9 channels"), (opus(4, [2, 4, 0, 0, 1, 2, 3]), "ambisonics"),
            (opus(3, [1, 1, 1, 0, 1, 2]), "No sound"), (opus(0, [0]), "0 channels"),
        ] {
            let refusal = #expect(throws: Refusal.self) { try OpusHead(packet) }
            #expect(refusal?.cause.string.contains(words) == true)
        }
        #expect(
            [0x00, 0x08, 0x60, 0x80, 0xFC].map { OpusHead.frames(in: [$0]) } == [480, 960, 480, 120, 960]
        )
        #expect(OpusHead.frames(in: [0x03, 6]) == 2_880 && OpusHead.frames(in: [0x1B, 3]) == 0)
        #expect(OpusHead.frames(in: []) == 0)
    }

    /// The orders of Vorbis I §4.3.9, which Opus has too, in the loudspeakers that PulseAudio is told.
    @Test func `the channels come in the order of the loudspeakers that the format states`() throws {
        let orders: [[ChannelPosition]] = [
            [.mono], [.frontLeft, .frontRight], [.frontLeft, .frontCenter, .frontRight],
            [.frontLeft, .frontRight, .rearLeft, .rearRight],
            [.frontLeft, .frontCenter, .frontRight, .rearLeft, .rearRight],
            [.frontLeft, .frontCenter, .frontRight, .rearLeft, .rearRight, .lowFrequency],
            [
                .frontLeft, .frontCenter, .frontRight, .sideLeft, .sideRight, .rearCenter,
                .lowFrequency,
            ],
            [
                .frontLeft, .frontCenter, .frontRight, .sideLeft, .sideRight, .rearLeft, .rearRight,
                .lowFrequency,
            ],
        ]
        for stored in orders {
            let count = stored.count
            #expect(VorbisHead.order(of: count).map { stored[$0] } == ChannelPosition.customary(count))
            let table = (0..<UInt8(count)).map { $0 }
            let family = [1, UInt8(count), 0] + table
            let head = try OpusHead(OpusHead.mark + [1, UInt8(count)] + little(0, 8) + family)
            #expect(head.mapping.map { stored[Int($0)] } == ChannelPosition.customary(count))
        }
    }
}
