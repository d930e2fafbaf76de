import Media

/// Finds the MPEG frames in bytes from an unknown position in the stream, skipping tags and junk. Pure.
///
/// The first frame, and every one after junk, must begin a run of consistent frames (`FrameRun`), since four
/// bytes that look like a header are common in compressed audio and pictures. In a stream that is known
/// already, one more frame suffices.
package struct FrameWalker: Sequence, IteratorProtocol {
    package struct Frame: Sendable, Equatable {
        /// Index in the walked bytes.
        package var index: Int
        package var header: FrameHeader
        /// Length of the frame with its header.
        package var byteCount: Int
    }

    /// The shortest free-format frame: 8 kbit/s at 48 kHz.
    private static let shortestFree = 24

    private let bytes: [UInt8]
    /// A header of the stream, if known; frames of another kind count as junk while searching.
    private let reference: FrameHeader?
    private let isWhole: Bool
    /// `true` if a stream of frames like `reference` broke off before the bytes.
    private let isResuming: Bool
    private var index = 0
    private var previous: FrameHeader?
    private var freeFormatByteCount: Int?

    /// Walks `bytes`; `like` is a header of the same stream, if one is known. `isWhole` states that the
    /// resource ends with `bytes`, so that the last frames of a short one count.
    package init(_ bytes: [UInt8], like: FrameHeader? = nil, isWhole: Bool = false) {
        self.bytes = bytes
        reference = like
        self.isWhole = isWhole
        isResuming = false
    }

    /// Walks `bytes` from `index` on, where a stream of frames like `lost` broke off. Frames of another kind
    /// are found too, if they begin a run as long as at the start of a resource. Free-format frames like
    /// `lost` are `freeByteCount` bytes long without padding.
    init(_ bytes: [UInt8], from index: Int, resuming lost: FrameHeader, freeByteCount: Int?) {
        self.bytes = bytes
        reference = lost
        isWhole = false
        isResuming = true
        self.index = index
        freeFormatByteCount = freeByteCount
    }

    /// The next frame that begins in the bytes; it may end beyond them. `nil` if these bytes do not confirm
    /// another frame; with more bytes there may be one.
    package mutating func next() -> Frame? {
        if let previous, let header = FrameHeader(bytes, at: Swift.min(index, bytes.count)),
            header.isConsistent(with: previous), let length = header.byteCount(ifFree: freeFormatByteCount)
        {
            return step(over: header, length)
        }
        previous = nil
        var isAfterFrame = !isResuming
        while index + FrameHeader.byteCount <= bytes.count {
            if let length = FrameRun.tagByteCount(in: bytes, at: index, isAfterFrame: isAfterFrame) {
                index = length > bytes.count - index ? bytes.count : index + length
                continue
            }
            if let header = FrameHeader(bytes, at: index), isConfirmed(header, isAtStart: isAfterFrame),
                let length = header.byteCount(ifFree: freeFormatByteCount)
            {
                return step(over: header, length)
            }
            // Nothing else can begin a frame, or a tag that does not follow one.
            let next = bytes[(index + 1)...].firstIndex { $0 == 0xFF || $0 == UInt8(ascii: "I") }
            index = next ?? bytes.count
            isAfterFrame = false
        }
        return nil
    }

    private mutating func step(over header: FrameHeader, _ length: Int) -> Frame {
        defer { index += length }
        previous = header
        return Frame(index: index, header: header, byteCount: length)
    }

    /// `true` if the frame at `index` begins a run of frames. `isAtStart` states that only tags precede it.
    private mutating func isConfirmed(_ header: FrameHeader, isAtStart: Bool) -> Bool {
        let isKnown =
            reference.map { isResuming ? header.isAlike($0) : header.isConsistent(with: $0) } ?? false
        if reference != nil, !isKnown, !isResuming { return false }
        var count = isKnown ? 2 : FrameRun.length
        var free = isResuming && !isKnown ? nil : freeFormatByteCount
        if header.bitRate == 0, free == nil {
            if !isKnown { count = FrameRun.freeFormatLength }
            free = freeLength(of: header, at: index)
            if let free, free < Swift.max(Self.shortestFree, header.overheadByteCount + 1) { return false }
        }
        let isRun = FrameRun.isConfirmed(
            count,
            from: index,
            in: bytes,
            isWhole: isWhole,
            isAtStart: isAtStart
        ) {
            frameEnd(at: $0, like: header, free: free)
        }
        if isRun { freeFormatByteCount = free }
        return isRun
    }

    /// The index after the frame at `place`; `nil` if it is no frame like `first`.
    private func frameEnd(at place: Int, like first: FrameHeader, free: Int?) -> Int? {
        guard let header = FrameHeader(bytes, at: place),
            isResuming ? header.isAlike(first) : header.isConsistent(with: first),
            let length = header.byteCount(ifFree: free)
        else { return nil }
        // A free-format frame ends at the next header, wherever that is.
        if header.bitRate == 0, let nearest = freeLength(of: header, at: place), nearest != free {
            return nil
        }
        return place + length
    }

    /// The distance from the free-format header at `place` to the next one of the same stream, without
    /// padding.
    private func freeLength(of header: FrameHeader, at place: Int) -> Int? {
        let last = Swift.min(place + FrameHeader.longestFrame, bytes.count - FrameHeader.byteCount + 1)
        for next in stride(from: place + FrameHeader.byteCount, to: last, by: 1) where bytes[next] == 0xFF {
            if let follower = FrameHeader(bytes, at: next), follower.bitRate == 0,
                follower.isConsistent(with: header)
            {
                return next - place - (header.isPadded ? 1 : 0)
            }
        }
        return nil
    }
}

/// Numbers the frames of a stream from a known one on, and finds where they go on after other bytes. The
/// bytes are passed in slices. Pure.
///
/// These frames, and no other bytes, are decoded (`FrameGate`), so a frame has the same number in both. A
/// frame is followed by a frame, a tag, which is skipped, or by other bytes of any length. After those,
/// frames go on where two of them follow one another. If a run of frames of another kind comes first, the
/// scan is *lost* and stops.
package struct FrameScan: Sendable, Equatable {
    /// The number of bytes at `offset` that suffices for any step between frames: the length of an APE tag's
    /// header.
    package static let reach = 32
    /// The length of the longest run of frames that ends a search.
    private static let searchReach = FrameRun.freeFormatLength * FrameHeader.longestFrame

    /// The number of the next frame.
    package private(set) var number: Int64
    /// The offset at which the next slice must begin. It can lie within the last slice, at its end, or beyond
    /// it.
    package private(set) var offset: Int64
    /// The offset after the last frame; `nil` before the first.
    package private(set) var lastFrameEnd: Int64?
    /// The first frame of another kind, at `offset`; `nil` unless the scan is lost.
    private var other: FrameWalker.Frame?
    /// `true` if frames of another kind begin at `offset`.
    package var isLost: Bool { other != nil }

    private var header: FrameHeader
    private let freeByteCount: Int?
    /// The bytes between two frames.
    enum Gap: Sendable, Equatable {
        /// Nothing, or ID3v1 tags, which libmpg123 passes over like nothing.
        case none
        case tag
        case other
    }

    /// The gap before the last frame found.
    private(set) var gapBefore = Gap.none
    /// The gap between the last frame and `offset`. After anything but tags, the next frame is searched for.
    private var gap = Gap.none

    /// Starts at frame `number`, which begins at `offset`, in a stream of frames like `header`. Free-format
    /// frames are `freeByteCount` bytes long without padding.
    package init(fromFrame number: Int64, at offset: Int64, like header: FrameHeader, freeByteCount: Int?) {
        self.number = number
        self.offset = offset
        self.header = header
        self.freeByteCount = freeByteCount
    }

    /// The scan of the frames of another kind at which this scan stopped; `nil` unless it is lost.
    var following: FrameScan? {
        other.map { frame in
            let free = frame.header.bitRate == 0 ? frame.byteCount - (frame.header.isPadded ? 1 : 0) : nil
            var scan = FrameScan(fromFrame: number, at: offset, like: frame.header, freeByteCount: free)
            scan.gap = gap
            return scan
        }
    }

    /// The number of frames of the stream if it ends at `end`; `nil` while the scan has not reached `end`.
    package func frameCount(endingAt end: Int64) -> Int64? {
        guard !isLost, offset + Int64(FrameHeader.byteCount) > end else { return nil }
        // A truncated frame is never decoded.
        return (lastFrameEnd ?? 0) > end ? number - 1 : number
    }

    /// Scans `bytes`, which begin at `offset`, and calls `found` with every frame that begins in them. The
    /// resource ends at `end`, if that is known.
    ///
    /// If this leaves `offset` unchanged, the next step needs more bytes.
    package mutating func scan(
        _ bytes: [UInt8],
        endingAt end: Int64? = nil,
        found: (_ number: Int64, _ offset: Int64) -> Void
    ) {
        let start = offset
        while let frame = next(in: bytes, from: start, endingAt: end) { found(number - 1, frame.lowerBound) }
    }

    /// The next frame that begins in `bytes`, which begin at offset `start`; it may end beyond them. `nil` if
    /// the next step needs more bytes, or if the scan is lost. The resource ends at `end`, if that is known.
    mutating func next(in bytes: [UInt8], from start: Int64, endingAt end: Int64? = nil) -> ByteRange? {
        let isWhole = end.map { start + Int64(bytes.count) >= $0 } ?? false
        while !isLost, offset - start + Int64(FrameHeader.byteCount) <= Int64(bytes.count) {
            let index = Int(offset - start)
            if gap != .other {
                if let frame = FrameHeader(bytes, at: index), frame.isAlike(header),
                    let length = frame.byteCount(ifFree: freeByteCount)
                {
                    return step(overFrameOf: length)
                }
                let isTag = "TIA".utf8.contains(bytes[index])
                guard !isTag || bytes.count - index >= Self.reach || isWhole else { return nil }
                // In other bytes the letters of a tag can occur by chance.
                if let length = FrameRun.tagByteCount(in: bytes, at: index) {
                    if bytes[index] != UInt8(ascii: "T") { gap = .tag }
                    offset += Int64(length)
                    continue
                }
                gap = .other
            }
            var walker = FrameWalker(bytes, from: index, resuming: header, freeByteCount: freeByteCount)
            guard let frame = walker.next() else {
                let last = start + Int64(bytes.count)
                offset = isWhole ? last : max(offset, last - Int64(Self.searchReach))
                return nil
            }
            offset = start + Int64(frame.index)
            guard frame.header.isConsistent(with: header),
                (frame.header.bitRate == 0) == (header.bitRate == 0)
            else {
                other = frame
                return nil
            }
            // The number of channels may have changed.
            header = frame.header
            return step(overFrameOf: frame.byteCount)
        }
        return nil
    }

    private mutating func step(overFrameOf byteCount: Int) -> ByteRange {
        let frame = offset..<offset + Int64(byteCount)
        number += 1
        gapBefore = gap
        gap = .none
        offset = frame.upperBound
        lastFrameEnd = offset
        return frame
    }
}
