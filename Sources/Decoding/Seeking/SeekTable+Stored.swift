/// What a stored table is checked against: a table of other music is of no use.
package struct SeekTableKey: Sendable, Equatable {
    /// Version, layer and sample rate of the stream.
    package var header: FrameHeader
    /// The offset of the first frame of the music.
    package var origin: Int64
    /// The resource's length, where known.
    package var length: Int64?

    package init(header: FrameHeader, origin: Int64, length: Int64?) {
        self.header = header
        self.origin = origin
        self.length = length
    }

    fileprivate var kind: [UInt8] {
        [header.version == .mpeg1 ? 1 : header.version == .mpeg2 ? 2 : 3, UInt8(header.layer)]
    }
}

extension SeekTable {
    /// The mark and the version of the format; another version is not read.
    private static let mark: [UInt8] = Array("RST".utf8) + [2]
    private static let checkByteCount = 8

    /// The table as bytes: the mark, what it is checked against, runs of known points, and a check over all of it.
    /// Empty when nothing is known.
    ///
    /// A run is the number of unknown points before it, its own number of points, the first one's distance from
    /// the last one known, and for each further one the difference between its step and the step before,
    /// which is small. An odd number stands for so many differences of 0.
    package func stored(for key: SeekTableKey) -> [UInt8] {
        guard !isEmpty else { return [] }
        var bytes = Self.mark + key.kind
        Self.append(Int64(key.header.sampleRate), to: &bytes)
        Self.append(key.origin, to: &bytes)
        Self.append((frameCount ?? -1) + 1, to: &bytes)
        var previous: Int64 = 0
        var point = 0
        while point < offsets.count {
            let holeStart = point
            while point < offsets.count, offsets[point] < 0 { point += 1 }
            let runStart = point
            while point < offsets.count, offsets[point] >= 0 { point += 1 }
            guard point > runStart else { break }
            Self.append(Int64(runStart - holeStart), to: &bytes)
            Self.append(Int64(point - runStart), to: &bytes)
            Self.append(offsets[runStart] - previous, to: &bytes)
            Self.append(steps: offsets[runStart..<point], to: &bytes)
            previous = offsets[point - 1]
        }
        return bytes + Self.check(of: bytes[...])
    }

    /// Reads what `stored` made. Nil when a byte is not as it was written, or when what the table says cannot
    /// be true of the music that `key` describes: every value in it is treated as hostile.
    package init?(stored bytes: [UInt8], for key: SeekTableKey) {
        guard bytes.count > Self.mark.count + Self.checkByteCount, bytes.starts(with: Self.mark) else {
            return nil
        }
        let content = bytes.dropLast(Self.checkByteCount)
        guard Array(bytes.suffix(Self.checkByteCount)) == Self.check(of: content) else { return nil }
        var rest = content.dropFirst(Self.mark.count)
        guard rest.prefix(2).elementsEqual(key.kind) else { return nil }
        rest = rest.dropFirst(2)
        guard Self.take(&rest) == Int64(key.header.sampleRate), Self.take(&rest) == key.origin,
            let count = Self.take(&rest)
        else { return nil }
        self.init()
        // No frame is shorter than its header and one byte, none of two points is nearer.
        let shortest = Self.stride * Int64(FrameHeader.byteCount + 1)
        let end = min(key.length ?? Self.farthestOffset, Self.farthestOffset)
        while !rest.isEmpty {
            guard let hole = Self.take(&rest), let run = Self.take(&rest), run > 0,
                hole <= Int64(Self.mostPoints), run <= Int64(Self.mostPoints),
                Int64(offsets.count) + hole + run <= Int64(Self.mostPoints),
                let points = Self.run(of: run, behind: offsets.last, &rest, shortest, end - key.origin),
                // As many frames as the hole has need room too, so that a few bytes cannot ask for much memory.
                points[0] >= (Int64(offsets.count) + hole) * shortest
            else { return nil }
            offsets.append(contentsOf: repeatElement(-1, count: Int(hole)))
            offsets += points
        }
        if let first = offsets.first, first > 0 { return nil }
        if count > 0 {
            // Bounded above too: the count is multiplied by the samples of a frame wherever a length is asked for.
            guard count - 1 > Int64(offsets.count - 1) * Self.stride,
                count - 1 <= Int64(Self.mostPoints) * Self.stride
            else { return nil }
            frameCount = count - 1
        }
    }

    /// Appends how the steps between `points` differ, each from the one before.
    private static func append(steps points: ArraySlice<Int64>, to bytes: inout [UInt8]) {
        var last: Int64 = 0
        var zeros: Int64 = 0
        for (point, next) in zip(points, points.dropFirst()) {
            let difference = next - point - last
            last = next - point
            if difference == 0 {
                zeros += 1
                continue
            }
            if zeros > 0 { append(zeros << 1 | 1, to: &bytes) }
            zeros = 0
            // Signs alternate, so that small differences of either make small numbers.
            append((difference < 0 ? -2 * difference - 1 : 2 * difference) << 1, to: &bytes)
        }
        if zeros > 0 { append(zeros << 1 | 1, to: &bytes) }
    }

    /// The next `count` points of `bytes`, which rise by at least `shortest` from `previous` on and stay before
    /// `end`; nil where that is not so.
    private static func run(
        of count: Int64,
        behind previous: Int64?,
        _ bytes: inout ArraySlice<UInt8>,
        _ shortest: Int64,
        _ end: Int64
    ) -> [Int64]? {
        guard let first = take(&bytes), previous == nil || first >= shortest,
            first < end - (previous ?? 0)
        else { return nil }
        var offset = (previous ?? 0) + first
        var points = [offset]
        var step: Int64 = 0
        while points.count < count {
            guard let code = take(&bytes) else { return nil }
            let repeats = code & 1 == 1 ? code >> 1 : 1
            if code & 1 == 0 {
                let folded = code >> 1
                step += folded & 1 == 1 ? -(folded / 2) - 1 : folded / 2
            }
            guard repeats > 0, repeats <= count - Int64(points.count), step >= shortest,
                step <= (end - 1 - offset) / repeats
            else { return nil }
            for _ in 0..<repeats {
                offset += step
                points.append(offset)
            }
        }
        return points
    }

    /// Appends a number of 0 or more, seven bits for each byte, the lowest first.
    private static func append(_ value: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(max(0, value))
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func take(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
        var value: UInt64 = 0
        for group in 0..<UInt64(9) {
            let shift = 7 * group
            guard let byte = bytes.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return Int64(value) }
        }
        return nil
    }

    /// FNV-1a: finds damage. Against intent the cache has its own, keyed checks, and `init` its limits.
    private static func check(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
    }
}
