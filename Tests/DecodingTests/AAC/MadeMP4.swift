import Media
import TestSupport

@testable import Decoding

/// An MP4 file made by hand around real packets of AAC, with tables that state anything.
struct MadeMP4 {
    /// Packets of two channels at 44.1 kHz.
    static let packets: [[UInt8]] = {
        let adts = MadeAAC("aac", seconds: 2)
        return adts.adtsFrames.map { Array(adts.bytes[$0.dropFirst(ADTSHeader.byteCount)]) }
    }()

    var timescale: UInt32 = 44_100
    /// The contents of the tables after their versions and flags; the size and the offset of the first packet
    /// are known by `first`.
    var chunkRuns: [UInt32] = [1, 1, 1, 1]
    var packetCount: UInt32 = 1
    var times: [UInt32] = [1, 1, 1_024]
    /// Boxes in front of `moov`.
    var before: [UInt8] = []
    /// Boxes behind it, if the packets are in fragments.
    var fragments: [UInt8]?

    static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        numbers([UInt32(8 + content.count)]) + Array(name.utf8) + content
    }

    /// The content of a box with a version and flags, and numbers of 32 bits.
    static func numbers(_ values: [UInt32]) -> [UInt8] {
        values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    }

    static func table(_ name: String, flags: UInt32 = 0, _ values: [UInt32]) -> [UInt8] {
        box(name, numbers([flags] + values))
    }

    /// A fragment of real packets, or one that states `size` bytes for all packets but the first.
    static func fragment(_ packets: ArraySlice<[UInt8]>, at time: UInt64? = nil, size: UInt32? = nil)
        -> [UInt8]
    {
        let sizes = packets.enumerated().map { index, packet in
            index == 0 ? UInt32(packet.count) : size ?? UInt32(packet.count)
        }
        func moof(_ place: UInt32) -> [UInt8] {
            var content = table("tfhd", flags: 0x02_0000, [1])
            if let time {
                content += table(
                    "tfdt",
                    flags: 0x0100_0000,
                    [UInt32(time >> 32), UInt32(time & 0xFFFF_FFFF)]
                )
            }
            content += table("trun", flags: 0x201, [UInt32(sizes.count), place] + sizes)
            return box("moof", table("mfhd", [1]) + box("traf", content))
        }
        let head = moof(UInt32(moof(0).count) + 8)
        return head + box("mdat", packets.flatMap { $0 })
    }

    private static let entry: [UInt8] = {
        let descriptor: [UInt8] =
            [3, 25, 0, 0, 0, 4, 17, 0x40, 0x15] + [UInt8](repeating: 0, count: 11) + [
                5, 2, 0x12, 0x10, 6, 1, 2,
            ]
        let head = [UInt8](repeating: 0, count: 16) + [0, 2, 0, 16, 0, 0, 0, 0] + numbers([44_100 << 16])
        return box("mp4a", head + box("esds", [0, 0, 0, 0] + descriptor))
    }()

    var bytes: [UInt8] {
        let first = Self.packets[0]
        let kind = Self.box("ftyp", Array("M4A ".utf8) + [0, 0, 0, 0])
        func moov(_ offset: UInt32) -> [UInt8] {
            let tables =
                fragments == nil
                ? Self.table("stts", times) + Self.table("stsc", chunkRuns)
                    + Self.table("stsz", [UInt32(first.count), packetCount])
                    + Self.table("stco", [1, offset])
                : []
            let description = Self.box("stsd", Self.numbers([0, 1]) + Self.entry)
            let media =
                Self.table("mdhd", [0, 0, timescale, 0, 0])
                + Self.box("hdlr", Self.numbers([0, 0]) + Array("soun".utf8))
                + Self.box("minf", Self.box("stbl", description + tables))
            let track = Self.box("trak", Self.table("tkhd", [0, 0, 1]) + Self.box("mdia", media))
            return Self.box(
                "moov",
                Self.table("mvhd", [0, 0, 1_000, 0]) + (fragments == nil ? [] : Self.box("mvex", [])) + track
            )
        }
        let start = kind + before
        let head = start + moov(UInt32(start.count + moov(0).count + 8))
        return head + (fragments ?? Self.box("mdat", first))
    }
}
