import Media

/// A fragment of an MP4 file: the packets of one track that a box `moof` lists (ISO/IEC 14496-12 §8.8). Pure.
struct Fragment {
    /// The most packets of a fragment: 25 minutes of music.
    private static let mostPackets = 1 << 16

    /// The offset of `moof`.
    let offset: Int64
    /// The offset after `moof`.
    let end: Int64
    /// The time of its first packet in units of the track; `nil` if it is not stated.
    private(set) var time: Int64?
    private(set) var packets: [ByteRange] = []

    /// Parses the `content` of the box `moof`; `nil` if it has no packets of `track`. Packets have
    /// `defaultSize` bytes if no size is stated.
    init?(_ content: [UInt8], of box: Box, track: Int64, defaultSize: Int64) {
        offset = box.offset
        end = box.content.upperBound
        for traf in BoxWalk.boxes(in: 0..<Int64(content.count), of: content) where traf.name == "traf" {
            parse(BoxWalk.boxes(in: traf.content, of: content), content, track, defaultSize)
        }
        if packets.isEmpty { return nil }
    }

    /// Takes the boxes of a track, if it is `track`.
    private mutating func parse(_ boxes: [Box], _ content: [UInt8], _ track: Int64, _ defaultSize: Int64) {
        var size = defaultSize
        var base = offset
        var place: Int64?
        for box in boxes {
            var reader = BigEndianReader(
                Array(content[Int(box.content.lowerBound)..<Int(box.content.upperBound)])
            )
            let isLong = reader.next(1) == 1
            let flags = reader.next(3) ?? 0
            switch box.name {
            case "tfhd":
                guard reader.next(4) == track else { return }
                if flags & 0x1 != 0, reader.next(1) == 0 { base = reader.next(7) ?? base }
                if flags & 0x2 != 0 { _ = reader.next(4) }
                if flags & 0x8 != 0 { _ = reader.next(4) }
                if flags & 0x10 != 0 { size = reader.next(4) ?? size }
            case "tfdt":
                if isLong, reader.next(1) != 0 { return }
                time = time ?? reader.next(isLong ? 7 : 4)
            case "trun":
                let count = reader.next(4) ?? 0
                if flags & 0x1 != 0, let offset = reader.next(4) {
                    place = base + Int64(Int32(truncatingIfNeeded: offset))
                }
                if flags & 0x4 != 0 { _ = reader.next(4) }
                let others = [0x100, 0x400, 0x800].filter { flags & $0 != 0 }.count
                // A packet whose size is missing ends the list.
                let stated =
                    flags & 0x700 == 0 && flags & 0x800 == 0 ? count : min(count, Int64(reader.remaining / 4))
                for _ in 0..<min(stated, Int64(Self.mostPackets - packets.count)) {
                    if flags & 0x100 != 0 { _ = reader.next(4) }
                    guard let own = flags & 0x200 != 0 ? reader.next(4) : size else { return }
                    _ = reader.take(4 * (others - (flags & 0x100 != 0 ? 1 : 0)))
                    let start = place ?? base
                    guard start >= 0, start < BoxWalk.farthest else { return }
                    packets.append(start..<start + own)
                    place = start + own
                }
            default: break
            }
        }
    }
}

/// The index of fragments in a box `sidx` (ISO/IEC 14496-12 §8.16.3). Pure.
struct FragmentTimes {
    static let mostReferences = 16_384
    static let mostByteCount: Int64 = 32 + 12 * Int64(mostReferences)

    /// The start of each fragment, in units of `timescale`, and its offset.
    private(set) var places: [PlaceTable.Place] = []
    private(set) var timescale: Int64 = 0
    /// The time at the end of the last fragment.
    private(set) var end: Int64 = 0

    /// Parses the `content` of `box`; `nil` if it refers to other indexes, or has no references.
    init?(_ content: [UInt8], of box: Box) {
        var reader = BigEndianReader(content, at: 4)
        let isLong = content.first == 1
        guard reader.next(4) != nil, let scale = reader.next(4), scale > 0 else { return nil }
        timescale = scale
        if isLong { guard reader.next(1) == 0 else { return nil } }
        guard var time = reader.next(isLong ? 7 : 4) else { return nil }
        if isLong { guard reader.next(1) == 0 else { return nil } }
        guard let first = reader.next(isLong ? 7 : 4), reader.next(2) != nil, let count = reader.next(2)
        else { return nil }
        var offset = box.content.upperBound + first
        for _ in 0..<min(count, Int64(Self.mostReferences)) {
            guard let size = reader.next(4), let duration = reader.next(4), reader.next(4) != nil,
                size >> 31 == 0
            else { return nil }
            places.append(.init(position: time, offset: offset))
            time += duration
            offset += size
        }
        end = time
        if places.isEmpty { return nil }
    }
}
