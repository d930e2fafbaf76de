import Media

/// Divides the bytes of an ADTS stream into frames. Pure.
///
/// A frame counts if another one of the stream begins where it ends. Damage is skipped up to the next two
/// consistent frames, and counts as the number of packets that would fit into its bytes. Tags between frames
/// count as nothing.
struct ADTSWalk {
    enum Step: Equatable {
        /// A frame, and where it is in `bytes` until more are appended.
        case frame(ADTSHeader, Range<Int>)
        /// The number of packets that are missing here.
        case missing(Int)
        /// More bytes are needed, or `finish`.
        case needMore
        case end
    }

    /// The most bytes that are kept while no frame is found, in case a frame begins in them.
    private static let mostKept = FrameRun.length * ADTSHeader.longestFrame

    /// A header of the stream. It changes if, after damage, the frames of another stream follow.
    private(set) var reference: ADTSHeader
    private let meanLength: Double
    /// The bytes that no step has covered yet, and some that steps have covered.
    private(set) var bytes: [UInt8] = []
    /// The offset of `bytes` in the resource.
    private(set) var offset: Int64
    private var index = 0
    /// The offset of the first byte that belongs to no frame, while frames are looked for.
    private var gapStart: Int64?
    private var isWhole = false
    /// The bytes of a tag that were not skipped yet.
    private var tagRest = 0

    /// A walk from `offset`, where a frame like `reference` is expected.
    init(like reference: ADTSHeader, meanLength: Double, at offset: Int64) {
        self.reference = reference
        self.meanLength = max(1, meanLength)
        self.offset = offset
    }

    var nextOffset: Int64 { offset + Int64(index) }

    var endOffset: Int64 { offset + Int64(bytes.count) }

    mutating func append(_ more: some Collection<UInt8>) {
        offset += Int64(index)
        bytes.removeFirst(index)
        index = 0
        bytes += more
    }

    mutating func finish() { isWhole = true }

    mutating func next() -> Step {
        if let gapStart { return search(from: gapStart) }
        guard passTags() else { return isWhole ? finished() : .needMore }
        guard let header = ADTSHeader(bytes, at: index), header.isConsistent(with: reference) else {
            if !isWhole, bytes.count - index < ADTSHeader.byteCount { return .needMore }
            return search(from: nextOffset)
        }
        let end = index + header.frameByteCount
        if isWhole {
            // This frame extends beyond the end of the resource. If no other frame follows, it is cut and not
            // played. If one follows, its length is damaged: search for the next frame.
            if end > bytes.count {
                return nextFrame == nil ? finished() : search(from: nextOffset)
            }
        } else if end + ADTSHeader.byteCount > bytes.count {
            return .needMore
        }
        if isFollowed(at: end) { return pass(header, upTo: end) }
        // No frame follows: either this frame's length is wrong, or the next header is.
        let next = nextFrame ?? bytes.count
        if next < end { return search(from: nextOffset) }
        return pass(header, upTo: end)
    }

    /// `true` if the bytes at `place` can follow a frame: a frame of the stream, a tag, or the end.
    private func isFollowed(at place: Int) -> Bool {
        if let next = ADTSHeader(bytes, at: place) { return next.isConsistent(with: reference) }
        return place >= bytes.count || Self.isTag(bytes[place...])
    }

    /// `true` if a tag begins with `bytes`, which may be cut.
    private static func isTag(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: "TAG".utf8) || bytes.starts(with: APETag.mark) || bytes.starts(with: "ID3".utf8)
    }

    /// Skips the tags that begin here; `false` if the bytes end within one.
    private mutating func passTags() -> Bool {
        while true {
            let step = min(tagRest, bytes.count - index)
            index += step
            tagRest -= step
            guard tagRest == 0 else { return false }
            if !isWhole, bytes.count - index < APETag.byteCount, Self.isTag(bytes[index...]) { return false }
            guard let length = FrameRun.tagByteCount(in: bytes, at: index) else { return true }
            tagRest = length
        }
    }

    private mutating func pass(_ header: ADTSHeader, upTo end: Int) -> Step {
        let range = index..<end
        index = end
        gapStart = nil
        return .frame(header, range)
    }

    /// The index of the first frame after `index` that another confirms.
    private var nextFrame: Int? {
        ADTSHeader.firstRun(
            of: 2,
            in: bytes,
            from: index + 1,
            before: bytes.count,
            isWhole: isWhole,
            like: reference
        )?.index
    }

    /// Looks for the frame after the damage that begins at `start`.
    private mutating func search(from start: Int64) -> Step {
        if isWhole, index < bytes.count, start == nextOffset, Self.isTag(bytes[index...]) {
            return finished()
        }
        gapStart = start
        let own = ADTSHeader.firstRun(
            of: 2,
            in: bytes,
            from: index,
            before: bytes.count,
            isWhole: false,
            like: reference
        )
        // Frames of another stream may come before the next ones of this stream.
        let end = own?.index ?? bytes.count
        let found = ADTSHeader.firstRun(in: bytes, from: index, before: end, isWhole: false) ?? own
        if let found {
            index = found.index
            reference = found.header
            gapStart = nil
            let byteCount = Int64(found.index) + offset - start
            return byteCount > 0 ? missing(byteCount) : next()
        }
        guard isWhole else {
            index = max(index, bytes.count - Self.mostKept)
            return .needMore
        }
        // The rest is a frame that was cut, zeros, or damage: no music follows.
        return finished()
    }

    private func missing(_ byteCount: Int64) -> Step {
        .missing(max(1, Int((Double(byteCount) / meanLength).rounded())))
    }

    private mutating func finished() -> Step {
        index = bytes.count
        gapStart = nil
        return .end
    }
}
