import Media

/// A box of an MP4 file (ISO/IEC 14496-12 §4.2).
struct Box: Equatable {
    /// Four characters.
    let name: String
    let offset: Int64
    /// The offsets of the content, as the head states its size; up to `BoxWalk.farthest` if it states no end.
    let content: ByteRange
}

/// Walks the boxes of an MP4 file, and those inside the ones that the caller enters. Pure.
///
/// `wanted` are the bytes to read next; they go to `took`. A large stated size costs nothing: only heads are
/// read, and the contents that the caller requests.
struct BoxWalk {
    /// The most boxes that are walked, and their depth; no ordinary file has so many.
    static let mostBoxes = 4_096
    static let mostDepth = 8
    /// The end of a box that states none: larger than any file, but small enough for sums not to overflow.
    static let farthest: Int64 = 1 << 60
    /// The length of the longest head: size, name, and a size of 64 bits.
    static let headByteCount = 16
    private static let shortHeadByteCount: Int64 = 8

    private var offset: Int64
    /// The ends of the boxes that were entered.
    private var ends: [Int64]
    private var count = 0

    init(in range: ByteRange) {
        offset = range.lowerBound
        ends = [range.upperBound]
    }

    /// The bytes to read next: the head of a box; `nil` at the end of the boxes that were entered.
    var wanted: ByteRange? {
        guard let end = ends.last, offset + Self.shortHeadByteCount <= end, count < Self.mostBoxes else {
            return nil
        }
        return offset..<min(offset + Int64(Self.headByteCount), end)
    }

    /// Takes the bytes of `wanted`, or fewer at the end of the file, and returns the box that begins there;
    /// `nil` if they are not the head of a box. The walk continues after that box unless the caller enters
    /// it.
    mutating func took(_ head: some Collection<UInt8>) -> Box? {
        let head = Array(head)
        guard head.count >= 8, let end = ends.last else { return stop() }
        count += 1
        let name = ID3Text.latin1(head[4..<8])
        var start = offset + Self.shortHeadByteCount
        var size = head[..<4].bigEndianNumber
        if size == 1 {
            guard head.count >= 16 else { return stop() }
            size = head[8..<16].bigEndianNumber
            start += 8
        }
        // 0 states that the box ends with the file.
        let stated = size == 0 ? Self.farthest : min(size, Self.farthest)
        guard stated >= start - offset else { return stop() }
        let box = Box(name: name, offset: offset, content: start..<max(start, min(offset + stated, end)))
        offset = box.content.upperBound
        return box
    }

    /// Continues with the boxes inside `box`, which begin after `skipped` other bytes; `false` if they are
    /// nested too deep.
    @discardableResult
    mutating func enter(_ box: Box, after skipped: Int64 = 0) -> Bool {
        guard ends.count < Self.mostDepth else { return false }
        ends.append(box.content.upperBound)
        offset = min(box.content.lowerBound + skipped, box.content.upperBound)
        return true
    }

    /// Continues after the box that was entered last; `false` if the walk is in none.
    mutating func leave() -> Bool {
        guard ends.count > 1, let end = ends.popLast() else { return false }
        offset = end
        return true
    }

    /// The boxes in `range` of `content`, which lie side by side.
    static func boxes(in range: ByteRange, of content: [UInt8]) -> [Box] {
        var walk = BoxWalk(in: range)
        var boxes: [Box] = []
        while let wanted = walk.wanted,
            let box = walk.took(content[Int(wanted.lowerBound)..<Int(wanted.upperBound)])
        {
            boxes.append(box)
        }
        return boxes
    }

    private mutating func stop() -> Box? {
        offset = ends.last ?? offset
        return nil
    }
}

extension ByteRange {
    func first(_ count: Int64) -> ByteRange { lowerBound..<Swift.min(lowerBound + count, upperBound) }
}
