/// Where MPEG frames begin: every eighth one of those that were walked.
///
/// Offsets count from the first frame of the music (its *origin*), so that a tag that grows or shrinks does
/// not make the table wrong. Holes are allowed: what a seek jumped over is unknown.
package struct SeekTable: Sendable, Equatable {
    /// Frames from one point to the next. After eight frames the filter bank stands where it
    /// stood (8 × 18 or 36 steps of a ring of 16), so that a decoder started at a point rounds as
    /// one that came from the start. Two bytes for eight frames are far below 0.5 % of the audio.
    package static let stride: Int64 = 8

    /// Two and a half days of music at 44.1 kHz, in 8 MiB; what lies behind is found as without a table. A
    /// stored one may be forged, so this is also what it can make us hold.
    package static let mostPoints = 1 << 20

    /// The end of a resource beyond which no point is believed, with room for frames of the greatest length
    /// at all points; keeps sums of offsets and read lengths far from overflow.
    static let farthestOffset = Int64(mostPoints) * stride * Int64(FrameWalkerLimits.longestFrame)

    /// The place of a point that is not known.
    private static let hole: Int64 = -1

    /// Offsets of frames 0, 8, 16, …, or `hole`; written by `record` and the stored form only.
    var offsets: [Int64] = []

    /// The number of frames in the whole stream, once it was walked to its end.
    package var frameCount: Int64?

    package init() {}

    package var isEmpty: Bool { offsets.allSatisfy { $0 == Self.hole } }

    /// Takes note that frame `number` begins at `offset`; frames between two points are passed over.
    package mutating func record(frame number: Int64, at offset: Int64) {
        guard number >= 0, offset >= 0, number % Self.stride == 0 else { return }
        let point = Int(number / Self.stride)
        guard point < Self.mostPoints else { return }
        if point >= offsets.count {
            offsets.append(contentsOf: repeatElement(Self.hole, count: point - offsets.count + 1))
        }
        offsets[point] = offset
    }

    /// Where frame `number` begins, if it is a point and known.
    package func offset(ofFrame number: Int64) -> Int64? {
        guard number >= 0, number % Self.stride == 0, number / Self.stride < offsets.count else { return nil }
        let offset = offsets[Int(number / Self.stride)]
        return offset == Self.hole ? nil : offset
    }

    /// The last known point at or before frame `number`.
    package func point(atOrBefore number: Int64) -> (frame: Int64, offset: Int64)? {
        guard number >= 0, !offsets.isEmpty else { return nil }
        var point = min(Int(min(number / Self.stride, Int64(Self.mostPoints))), offsets.count - 1)
        while point >= 0 {
            if offsets[point] != Self.hole { return (Int64(point) * Self.stride, offsets[point]) }
            point -= 1
        }
        return nil
    }

    /// The nearest known point after frame `number`.
    package func point(after number: Int64) -> (frame: Int64, offset: Int64)? {
        let first = max(0, number / Self.stride + 1)
        guard first < offsets.count else { return nil }
        for point in Int(first)..<offsets.count where offsets[point] != Self.hole {
            return (Int64(point) * Self.stride, offsets[point])
        }
        return nil
    }

    /// The first point after frame `number` (-1: of all) behind which a walk finds something new: the next is
    /// not known, and the stream does not end before it.
    package func runEnd(after number: Int64) -> (frame: Int64, offset: Int64)? {
        let first = max(0, (number + Self.stride) / Self.stride)
        guard first < offsets.count else { return nil }
        for point in Int(first)..<offsets.count where offsets[point] != Self.hole {
            let frame = Int64(point) * Self.stride
            if let frameCount, frame + Self.stride >= frameCount { return nil }
            if point + 1 == offsets.count || offsets[point + 1] == Self.hole {
                return (frame, offsets[point])
            }
        }
        return nil
    }

    /// The first point at `offset` or behind it.
    package func point(atOrBehind offset: Int64) -> (frame: Int64, offset: Int64)? {
        guard let point = offsets.firstIndex(where: { $0 >= offset && $0 != Self.hole }) else { return nil }
        return (Int64(point) * Self.stride, offsets[point])
    }

    /// The point from which frame `number` is reached with everything it depends on; nil when it lies in a hole.
    ///
    /// Fed from there, frame `number` and the two before it find their overlap, filter bank and bit
    /// reservoir as in a straight decode: at least `primingFrameCount` frames lie before it, and the
    /// frames before the third last hold the longest reservoir. The reservoir's bound
    /// is taken instead of the frame's own `main_data_begin`, which is not known before it is fetched.
    package func primingPoint(forFrame number: Int64, like header: FrameHeader) -> (
        frame: Int64, offset: Int64
    )? {
        let settled = number - 2
        guard let near = point(atOrBefore: settled) ?? point(atOrBefore: number) else { return nil }
        guard number - near.frame <= 3 * Self.stride else { return nil }
        var frame = near.frame
        var offset = near.offset
        while frame > 0 {
            let overhead = (near.frame - frame) * Int64(header.overheadByteCount + 2)
            let reservoir = near.offset - offset - overhead
            if number - frame >= header.primingFrameCount, reservoir >= header.longestReservoir { break }
            frame -= Self.stride
            guard let earlier = self.offset(ofFrame: frame) else { return nil }
            offset = earlier
        }
        return (frame, offset)
    }
}
