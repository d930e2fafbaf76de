import Media

/// Divides the sound of segments into packets: frames of ADTS or MPEG audio, whichever they are. Pure.
///
/// It goes on over the ends of segments, so that frames may cross them.
struct SoundStream {
    /// The most bytes among which the first frames are looked for.
    private static let reach = 2 * StreamStart.reach
    /// The most marks before the next frame; only damage has more.
    private static let mostMarks = 64

    /// A time or a title, and the offset of the bytes to which it belongs.
    private struct Mark {
        let offset: Int64
        var time: MediaTime?
        var title: SafeText?
    }

    /// The bytes before the first frame was found, and their number when it was looked for.
    private var head: [UInt8] = []
    private var searchedCount = 0
    private var adts: ADTSWalk?
    private var mpeg: MPEGWalk?
    private var codec: SegmentCodec?
    private var isWhole = false
    /// The number of bytes that were appended.
    private var end: Int64 = 0
    /// The offset after the last frame; `nil` before the first.
    private var frameEnd: Int64?
    private var marks: [Mark] = []
    /// Steps that were found together; the next one comes last.
    private var steps: [SegmentStep] = []

    /// Appends `bytes`. The first frame that begins in them has `time`, if it is given.
    mutating func append(_ bytes: [UInt8], at time: MediaTime?) {
        if let time { mark(Mark(offset: end, time: time)) }
        end += Int64(bytes.count)
        if adts != nil {
            adts?.append(bytes)
        } else if mpeg != nil {
            mpeg?.append(bytes)
        } else {
            head += bytes
        }
    }

    /// The frames that begin in the bytes appended next have `title`.
    mutating func note(_ title: SafeText) { mark(Mark(offset: end, title: title)) }

    private mutating func mark(_ mark: Mark) {
        if marks.count == Self.mostMarks { marks.removeFirst() }
        marks.append(mark)
    }

    /// No more bytes follow.
    mutating func finish() {
        isWhole = true
        adts?.finish()
        mpeg?.finish()
    }

    mutating func next() throws(Refusal) -> SegmentStep {
        if let step = steps.popLast() { return step }
        try begin()
        if let step = adts?.next(), let walk = adts {
            switch step {
            case .frame(let header, let range):
                let packet = walk.bytes[range.dropFirst(header.headByteCount)]
                return pass(.adts(header), packet, at: walk.offset, range, missing: header.packetCount - 1)
            case .missing(let count): return .missing(count)
            case .needMore: return .needMore
            case .end: return .end
            }
        }
        while let step = mpeg?.next(), let walk = mpeg {
            switch step {
            case .frame(let header, let range):
                // libmpg123 plays no header of an encoder.
                let isHeader = codec == nil && XingHeader(walk.bytes[range], header: header)?.isSilent == true
                if isHeader { continue }
                return pass(.mpeg(header), walk.bytes[range], at: walk.offset, range, missing: 0)
            case .needMore: return .needMore
            case .end: return .end
            }
        }
        return isWhole ? .end : .needMore
    }

    /// Looks for the first frame, unless it was found. Throws if there is none among too many bytes.
    private mutating func begin() throws(Refusal) {
        // As the bytes double from search to search, each is searched a few times at most.
        guard adts == nil, mpeg == nil, isWhole || head.count >= 2 * searchedCount else { return }
        searchedCount = head.count
        let start = end - Int64(head.count)
        var walker = FrameWalker(head, isWhole: isWhole)
        if let frame = walker.next() {
            mpeg = MPEGWalk(from: frame, at: start + Int64(frame.index))
            mpeg?.append(Array(head[frame.index...]))
        } else if let first = ADTSHeader.firstRun(in: head, before: head.count, isWhole: isWhole) {
            let mean = Double(first.header.frameByteCount)
            adts = ADTSWalk(like: first.header, meanLength: mean, at: start + Int64(first.index))
            adts?.append(head[first.index...])
        } else {
            if head.count < Self.reach { return }
            head = []
            searchedCount = 0
            throw .damaged
        }
        head = []
        if isWhole { finish() }
    }

    /// The steps for a frame at `range` of the bytes from `offset` on, of which `packet` is passed on.
    private mutating func pass(
        _ codec: SegmentCodec,
        _ packet: ArraySlice<UInt8>,
        at offset: Int64,
        _ range: Range<Int>,
        missing: Int
    ) -> SegmentStep {
        let start = offset + Int64(range.lowerBound)
        let follows = frameEnd.map { $0 == start } ?? true
        frameEnd = offset + Int64(range.upperBound)
        var time: MediaTime?
        if missing > 0 { steps.append(.missing(missing)) }
        var titles: [SegmentStep] = []
        while let mark = marks.first, mark.offset <= start {
            marks.removeFirst()
            // After damage, a time may belong to a frame that was lost.
            if follows || mark.offset == start { time = mark.time ?? time }
            if let title = mark.title { titles.append(.title(title, after: .zero)) }
        }
        steps.append(.packet(packet, time))
        if self.codec?.isContinued(by: codec) != true {
            self.codec = codec
            steps.append(.codec(codec))
        }
        steps += titles.reversed()
        return steps.popLast() ?? .needMore
    }
}

/// Divides the bytes of an MPEG stream into frames. Pure.
struct MPEGWalk {
    enum Step {
        /// A frame, and where it is in `bytes` until more are appended.
        case frame(FrameHeader, Range<Int>)
        case needMore
        case end
    }

    /// The bytes that no step has covered yet, and some that steps have covered.
    private(set) var bytes: [UInt8] = []
    /// The offset of `bytes` in the stream.
    private(set) var offset: Int64
    private var scan: FrameScan
    /// The next frame, of which bytes are missing.
    private var cut: ByteRange?
    private var isWhole = false

    /// A walk from `first` on, which is at `offset`.
    init(from first: FrameWalker.Frame, at offset: Int64) {
        self.offset = offset
        let free = first.header.bitRate == 0 ? first.byteCount - (first.header.isPadded ? 1 : 0) : nil
        scan = FrameScan(fromFrame: 0, at: offset, like: first.header, freeByteCount: free)
    }

    mutating func append(_ more: [UInt8]) {
        let done = min((cut?.lowerBound ?? scan.offset) - offset, Int64(bytes.count))
        bytes.removeFirst(Int(done))
        offset += done
        bytes += more
    }

    mutating func finish() { isWhole = true }

    mutating func next() -> Step {
        let end = offset + Int64(bytes.count)
        var frame = cut
        while frame == nil {
            if let other = scan.following { scan = other }
            frame = scan.next(in: bytes, from: offset, endingAt: isWhole ? end : nil)
            guard scan.isLost else { break }
        }
        cut = frame
        guard let frame, frame.upperBound <= end,
            let header = FrameHeader(bytes, at: Int(frame.lowerBound - offset))
        else { return isWhole ? .end : .needMore }
        cut = nil
        return .frame(header, Int(frame.lowerBound - offset)..<Int(frame.upperBound - offset))
    }
}
