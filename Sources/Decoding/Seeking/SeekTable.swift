/// The offsets of every eighth MPEG frame of those that were scanned.
///
/// Offsets count from the first frame of the music (its *origin*), so that the table stays valid when a tag
/// grows or shrinks. The table may have holes: frames that a seek skipped are unknown.
package struct SeekTable: Sendable, Equatable {
    /// The number of frames from one point to the next. After eight frames the filter bank has the same phase
    /// (8 × 18 or 36 steps of a ring of 16), so that a decoder that starts at a point rounds like one that
    /// starts at the beginning. Two bytes for eight frames are far below 0.5 % of the audio.
    package static let stride: Int64 = 8

    /// The most points: two and a half days of music at 44.1 kHz, in 8 MiB. Later frames are found as if
    /// there were no table. The limit also bounds the memory that a forged table can take.
    package static let mostPoints = 1 << 20

    /// The largest accepted offset, which allows for the longest frames throughout. It keeps sums of offsets
    /// and read lengths far from overflow.
    static let farthestOffset = Int64(mostPoints) * stride * Int64(FrameHeader.longestFrame)

    /// The offset of an unknown point.
    private static let hole: Int64 = -1

    /// Offsets of frames 0, 8, 16, …; `hole` if unknown.
    private(set) var offsets: [Int64] = []

    /// The number of frames in the stream, if it was scanned to its end.
    package var frameCount: Int64?

    package init() {}

    package var isEmpty: Bool { offsets.allSatisfy { $0 == Self.hole } }

    /// Records that frame `number` begins at `offset`; ignores frames between two points.
    package mutating func record(frame number: Int64, at offset: Int64) {
        guard number >= 0, offset >= 0, number % Self.stride == 0 else { return }
        let point = Int(number / Self.stride)
        guard point < Self.mostPoints else { return }
        if point >= offsets.count {
            offsets.append(contentsOf: repeatElement(Self.hole, count: point - offsets.count + 1))
        }
        offsets[point] = offset
    }

    package typealias Point = (frame: Int64, offset: Int64)

    private func point(at index: Int) -> Point? {
        guard offsets.indices.contains(index), offsets[index] != Self.hole else { return nil }
        return (Int64(index) * Self.stride, offsets[index])
    }

    /// The offset of frame `number`, if it is a known point.
    package func offset(ofFrame number: Int64) -> Int64? {
        number % Self.stride == 0 ? point(at: Int(number / Self.stride))?.offset : nil
    }

    /// The last known point at or before frame `number`.
    package func point(atOrBefore number: Int64) -> Point? {
        guard number >= 0 else { return nil }
        let end = min(Int(number / Self.stride) + 1, offsets.count)
        return (0..<end).reversed().lazy.compactMap(point).first
    }

    /// The nearest known point after frame `number` (-1 for the start).
    package func point(after number: Int64) -> Point? {
        offsets.indices.dropFirst(Int((number + Self.stride) / Self.stride)).lazy.compactMap(point).first
    }

    /// The offsets of `frames`, which are in rising order. Between two adjacent points they are interpolated;
    /// in a hole `estimate` gives them, limited by the points around it.
    func offsets(of frames: [Int64], estimate: (Int64) -> Int64) -> [Int64] {
        let known = offsets.indices.filter { offsets[$0] != Self.hole }
        var next = 0
        return frames.map { frame in
            while next < known.count, Int64(known[next]) * Self.stride <= frame { next += 1 }
            let below = next > 0 ? point(at: known[next - 1]) : nil
            let above = next < known.count ? point(at: known[next]) : nil
            if let below, let above, above.frame - below.frame == Self.stride {
                return below.offset + (above.offset - below.offset) * (frame - below.frame) / Self.stride
            }
            return min(max(estimate(frame), below?.offset ?? 0), above?.offset ?? .max)
        }
    }

    /// The first known point after frame `number` (-1 for the start) from which a scan adds to the table: the
    /// next point is unknown, and the stream does not end before it.
    package func runEnd(after number: Int64) -> Point? {
        var number = number
        while let point = point(after: number) {
            if let frameCount, point.frame + Self.stride >= frameCount { return nil }
            if offset(ofFrame: point.frame + Self.stride) == nil { return point }
            number = point.frame
        }
        return nil
    }

    /// The first known point at `offset` or after it.
    package func point(atOrBehind offset: Int64) -> Point? {
        offsets.firstIndex { $0 >= offset && $0 != Self.hole }.flatMap(point)
    }

    /// The point at which decoding must start so that frame `number` is exact; `nil` if that point is in a
    /// hole.
    ///
    /// Decoding from there gives frame `number` and the two before it the same overlap, filter bank and bit
    /// reservoir as decoding from the start: at least `primingFrameCount` frames come before it, and those
    /// before the last three fill the longest reservoir. The longest reservoir stands in for the frame's own
    /// `main_data_begin`, which is unknown until the frame is read.
    package func primingPoint(forFrame number: Int64, like header: FrameHeader) -> Point? {
        let settled = number - 2
        guard let near = point(atOrBefore: settled) ?? point(atOrBefore: number),
            number - near.frame <= 3 * Self.stride
        else { return nil }
        var (frame, offset) = near
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

/// Identifies the stream of a stored table; a table of another stream is refused.
package struct SeekTableKey: Sendable, Equatable {
    /// Version, layer and sample rate of the stream.
    package var header: FrameHeader
    /// The offset of the first frame of the music.
    package var origin: Int64
    /// The length of the resource, if known.
    package var length: Int64?

    var numbers: [Int64] {
        let version: Int64 = header.version == .mpeg1 ? 1 : header.version == .mpeg2 ? 2 : 3
        return [version, Int64(header.layer), Int64(header.sampleRate), origin]
    }
}

extension SeekTable {
    /// The table in the form that is stored; empty if no point is known.
    package func stored(for key: SeekTableKey) -> [UInt8] {
        let points = offsets.indices.lazy.compactMap(point)
        let places = points.map { StoredPlaces.Place(position: $0.frame, offset: $0.offset) }
        return StoredPlaces(Array(places), adding: [(frameCount ?? -1) + 1]).bytes(for: key.numbers)
    }

    /// Parses the result of `stored(for:)`; `nil` if a byte was changed, or if the table cannot be one of the
    /// stream `key`. No value is trusted.
    package init?(stored bytes: [UInt8], for key: SeekTableKey) {
        let end = min(key.length ?? Self.farthestOffset, Self.farthestOffset) - key.origin
        guard
            let stored = StoredPlaces(
                bytes,
                for: key.numbers,
                adding: 1,
                atMost: Self.mostPoints,
                before: end
            )
        else { return nil }
        self.init()
        let most = Int64(Self.mostPoints) * Self.stride
        var last = StoredPlaces.Place(position: 0, offset: 0)
        for place in stored.places {
            // No frame is shorter than its header and one byte. This is true of the frames in a hole too, so
            // that a few bytes of input cannot allocate much memory.
            let least = (place.position - last.position) * Int64(FrameHeader.byteCount + 1)
            guard place.position < most, place.position % Self.stride == 0,
                place.offset - last.offset >= least
            else { return nil }
            record(frame: place.position, at: place.offset)
            last = place
        }
        if let first = offsets.first, first > 0 { return nil }
        let count = stored.numbers[0]
        if count > 0 {
            // The upper bound prevents an overflow when the count is multiplied by the samples of a frame.
            guard count - 1 > Int64(offsets.count - 1) * Self.stride, count - 1 <= most else { return nil }
            frameCount = count - 1
        }
    }
}
