import Media
import TestSupport
import Testing

@testable import Decoding

/// Damaged and made-up segments: nothing traps, all ends, and no more is held than a piece and a head.
@Suite struct SegmentFuzzTests {
    /// Small segments of one kind.
    private struct Kind {
        let parts: [[UInt8]]
        /// The offsets of marks in each: fields with lengths follow them, where damage tells most.
        let places: [[Int]]

        init(_ made: MadeSegments, marks: [String]) {
            parts = made.parts
            let marks = marks.map { $0.unicodeScalars.map { UInt8($0.value) } }
            places = made.parts.map { part in
                part.indices.filter { index in marks.contains { part[index...].starts(with: $0) } }
            }
        }
    }

    private static let kinds: [Kind] = {
        let aac = MadeAAC("aac", seconds: 3, rate: 22_050, channels: 1, bitRate: 24)
        let packed = MadeSegments.packed("", aac, every: 30) { number in
            id3Tag(version: 4, SegmentDemuxerTests.timestamp(MadeTransport.ticks(of: number)))
        }
        return [
            Kind(MadeSegments(.mpegts, of: aac.bytes, "aac", ""), marks: ["G@", "\0\0\u{1}\u{C0}"]),
            Kind(MadeSegments(.mpegts, of: OddStreams.low.bytes, "mp3", ""), marks: ["G@", "\u{FF}\u{F3}"]),
            Kind(
                MadeSegments(.fmp4, of: aac.bytes, "aac", ""),
                marks: ["moov", "stsd", "esds", "trex", "moof", "tfhd", "tfdt", "trun", "mdat"]
            ),
            Kind(packed, marks: ["ID3", "PRIV", "\u{FF}\u{F1}"]),
        ]
    }()

    /// 200,000 inputs in all, 2,000 in the subset.
    @Test(.timeLimit(.minutes(10)), arguments: TestCount.seeds(2, full: 200))
    func `damaged segments trap nowhere and bring no more than their bytes`(block: UInt64) async throws {
        try #require(Self.kinds.allSatisfy { $0.parts.count > 1 })
        let memory = ResidentMemory.Bound()
        for seed in block * 1_000..<(block + 1) * 1_000 {
            var mutator = Mutator(seed: seed)
            let kind = Self.kinds[Int(seed % UInt64(Self.kinds.count))]
            let damaged = zip(kind.parts, kind.places).map { part, places in
                switch mutator.number(0...2) {
                case 0: part
                case 1: mutator.withNumbers(in: part, near: places)
                default: mutator.damagedFile(part, favouring: places)
                }
            }
            let most = mutator.number(0...1) == 0 ? 65_536 : 3_000
            var played = PlayedSegments(damaged) { mutator.number(1...most) }
            let given = damaged.reduce(0) { $0 + $1.count }
            #expect(played.packets.reduce(0) { $0 + $1.count } <= given, "seed \(seed)")
            if played.codecs.count == 1, seed % 8 == 0 { try? await played.decode() }
        }
        memory.check("block \(block)")
    }

    @Test func `noise of any length costs bounded memory`() {
        let memory = ResidentMemory.Bound()
        for first in [
            [0x47], Array("ID3\u{4}\0\0\u{10}\0\0\0".utf8), [0, 0, 0, 24] + Array("ftyp".utf8), [],
        ] {
            var demuxer = SegmentDemuxer()
            var refused = 0
            demuxer.append(first)
            for number in 0..<TestCount.of(20, full: 2_000) {
                demuxer.append(ByteFixtures.bytes(count: 65_536, seed: UInt64(number)))
                do throws(Refusal) {
                    while true { if case .needMore = try demuxer.next() { break } }
                } catch { refused += 1 }
            }
            #expect(refused < 2_000)
        }
        memory.check("noise")
    }

    @Test func `a PES packet that never ends, and packets without tables, are not collected`() {
        var made = MadeTransport()
        made.tables([.init(type: 0x0F, pid: MadeTransport.sound)])
        made.packets(MadeTransport.sound, MadeTransport.pes([UInt8](repeating: 0, count: 2 << 20), at: 1))
        let played = PlayedSegments([made.bytes])
        #expect(played.packets.isEmpty && played.refusals.count > 1)
        var bare = MadeTransport()
        bare.packets(7, [UInt8](repeating: 0xFF, count: 1 << 20))
        #expect(PlayedSegments([bare.bytes]).packets.isEmpty)
    }
}
