import Media

/// Chooses the bytes that are fed to libmpg123: those of the frames that `FrameScan` finds. Pure.
///
/// Once libmpg123 lost sync, it believes any four bytes that look like a header, gives up after 64 KiB, and
/// holds all of a tag in memory. So tags, damage and whatever else stands between frames never reach it.
struct FrameGate {
    private var scan: FrameScan
    /// The bytes received that need those after them to be judged, and their offset in the resource.
    private var rest: [UInt8] = []
    private var restStart: Int64
    /// The offset after the last frame found.
    private var frameEnd: Int64
    private var fedCount: Int64 = 0
    /// The places where fed bytes do not follow one another in the resource, from the last decoded frame on:
    /// the number of bytes fed before, and the offset of the next one in the resource.
    private var jumps: [(fed: Int64, offset: Int64)]

    /// Opens before the next frame of `scan`.
    init(_ scan: FrameScan) {
        self.scan = scan
        restStart = scan.offset
        frameEnd = scan.offset
        jumps = [(fed: 0, offset: scan.offset)]
    }

    /// Accepts the next `bytes` of the resource. Returns the parts to feed, in order.
    mutating func pass(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let start = restStart
        let bytes = rest.isEmpty ? bytes : rest + bytes
        let end = start + Int64(bytes.count)
        var parts: [ArraySlice<UInt8>] = []
        // The bytes from here up to the end of the last frame are not in `parts` yet.
        var first = start
        func flush() {
            let part = first..<max(first, min(frameEnd, end))
            guard !part.isEmpty else { return }
            parts.append(bytes[Int(part.lowerBound - start)..<Int(part.upperBound - start)])
            fedCount += Int64(part.count)
        }
        repeat {
            if let other = scan.following { scan = other }
            while let frame = scan.next(in: bytes, from: start) {
                if frame.lowerBound > frameEnd {
                    flush()
                    first = frame.lowerBound
                    parts.append(Self.filler(for: scan.gapBefore))
                    fedCount += Int64(parts[parts.count - 1].count)
                    jumps.append((fed: fedCount, offset: first))
                }
                frameEnd = frame.upperBound
            }
        } while scan.isLost
        flush()
        restStart = min(scan.offset, end)
        rest = Array(bytes[Int(restStart - start)...])
        return parts
    }

    /// The fewest bytes that change the state of libmpg123's filters as all the bytes of `gap` would.
    private static func filler(for gap: FrameScan.Gap) -> ArraySlice<UInt8> {
        switch gap {
        case .none: []
        case .tag: ArraySlice("ID3".utf8 + [4, 0, 0, 0, 0, 0, 0])
        case .other: [0]
        }
    }

    /// The offset in the resource of the frame that begins after `count` fed bytes. Counts never decrease.
    mutating func offset(afterFed count: Int64) -> Int64 {
        let last = jumps.lastIndex { $0.fed <= count } ?? 0
        jumps.removeFirst(last)
        return jumps[0].offset + count - jumps[0].fed
    }
}
