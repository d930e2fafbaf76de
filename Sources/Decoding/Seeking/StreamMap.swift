import Media

/// What is known of where a stream's frames lie, and of how long it is.
///
/// Pure: it learns from the head, from every decoded frame and from the end, and answers where a time of the
/// music is to be looked for. Offsets count from the origin, the first frame that sounds.
struct StreamMap {
    /// Where a place in the music is found.
    enum Route: Equatable {
        /// The place is the end, after so many PCM frames.
        case end(FrameCount)
        /// Feeding MPEG frame `start`, at `offset`, leads to the wanted `sample` exactly.
        case known(start: Int64, offset: Int64, sample: FrameCount)
        /// MPEG frame `frame`, which holds `sample`, is about at `offset`.
        case estimate(frame: Int64, offset: Int64, sample: FrameCount)
    }

    /// More bytes than this behind the stated ones are not taken for an ID3v1 tag.
    private static let unexplained: Int64 = 65_536

    let header: FrameHeader
    private(set) var xing: XingHeader?
    private(set) var trim: GaplessTrim
    /// Where frame 0 begins in the resource.
    private(set) var origin: Int64
    private let firstFrame: Int64
    /// The length of a free-format frame without padding; nil in all other streams.
    let freeByteCount: Int?
    /// The length of the whole music where frames of several kinds were counted to the end.
    var mixedLength: Duration?
    var table = SeekTable()
    private(set) var rate: ConstantRate?
    /// Where the audio ends in the resource, tags at the end not counted; nil while unknown.
    var audioEnd: Int64?
    /// The last frame of all that were observed, for the mean length of a frame.
    private var furthest: (number: Int64, offset: Int64) = (0, 0)

    init(_ head: StreamHead, audioEnd: Int64?) {
        header = head.header
        xing = head.xing
        trim = GaplessTrim(head.xing, samplesPerFrame: head.header.samplesPerFrame)
        origin = head.origin
        firstFrame = head.firstFrame
        rate = ConstantRate(head.header)
        self.audioEnd = audioEnd
        freeByteCount = head.frames.first { $0.header.bitRate == 0 }
            .map { $0.byteCount - ($0.header.isPadded ? 1 : 0) }
        // Numbered by the scan's rules, which are those of the decoder.
        guard !head.frames.isEmpty else { return }
        var scan = self.scan(fromFrame: 0, at: origin)
        scan.scan(Array(head.bytes[Int(origin - head.feedStart)...])) { observe(frame: $0, at: $1) }
    }

    /// A scan from frame `number`, which begins at `offset` of the resource.
    func scan(fromFrame number: Int64, at offset: Int64) -> FrameScan {
        FrameScan(fromFrame: number, at: offset, like: header, freeByteCount: freeByteCount)
    }

    var format: AudioFormat {
        AudioFormat(sampleRate: header.sampleRate, channelCount: header.channelCount)
    }

    var samplesPerFrame: FrameCount { FrameCount(header.samplesPerFrame) }

    /// The key that a stored table of this stream carries.
    func key(length: Int64?) -> SeekTableKey { SeekTableKey(header: header, origin: origin, length: length) }

    /// Whether frames lie as a constant bit rate lays them, as far as is known.
    var hasConstantRate: Bool { (xing == nil || xing?.kind == .info) && rate?.isConstant == true }

    /// Takes note that MPEG frame `number` begins at `offset` of the resource.
    mutating func observe(frame number: Int64, at offset: Int64) {
        let distance = offset - origin
        guard distance >= 0 else { return }
        // A table that says otherwise is of no use anywhere.
        if let known = table.offset(ofFrame: number), known != distance { table = SeekTable() }
        table.record(frame: number, at: distance)
        rate?.observe(frame: number, at: distance)
        if number > furthest.number { furthest = (number, distance) }
    }

    /// Follows the decoder where it found its first frame elsewhere than the walk did: what it plays is
    /// the truth. A Xing header that it plays is none.
    mutating func rebase(to offset: Int64) {
        if offset == firstFrame {
            xing = nil
            trim = .none
        }
        origin = offset
        table = SeekTable()
        rate = ConstantRate(header)
        furthest = (0, 0)
    }

    /// The stream turned out to have `count` MPEG frames.
    mutating func ended(after count: Int64) { table.frameCount = count }

    /// The length of the music in PCM frames, counted or stated by a header; nil while neither is known.
    var statedLength: FrameCount? {
        if let count = table.frameCount { return trim.position(ofSample: count * samplesPerFrame) }
        guard let length = trim.musicLength, !isCutShort else { return nil }
        return length
    }

    /// Whether `statedLength` is the truth as far as can be told.
    var isLengthExact: Bool {
        guard table.frameCount == nil else { return true }
        // Bytes behind the stated ones may be a tag, and may be music that was joined on.
        guard let bytes = xing?.byteCount, let audioEnd else { return statedLength != nil }
        return statedLength != nil && audioEnd - firstFrame - bytes < Self.unexplained
    }

    /// Whether the resource ends before the music that its header states.
    private var isCutShort: Bool {
        guard let bytes = xing?.byteCount, let audioEnd else { return false }
        return audioEnd - firstFrame < bytes - Int64(FrameWalkerLimits.longestFrame)
    }

    /// The length of the music by the mean length of the frames seen; nil where the resource's is unknown.
    var estimatedLength: FrameCount? {
        if let statedLength { return statedLength }
        if xing?.kind == .vbri, !isCutShort, let frames = xing?.frameCount {
            // The header's own frame plays too.
            return trim.position(ofSample: (frames + 1) * samplesPerFrame)
        }
        guard let audioEnd, audioEnd > origin else { return nil }
        let frames = Double(audioEnd - origin) / meanFrameLength
        guard frames < 1e12 else { return nil }
        return trim.position(ofSample: FrameCount(frames.rounded()) * samplesPerFrame)
    }

    /// Bytes of a frame in the mean: stated, else of the frames seen, else by the first header.
    var meanFrameLength: Double {
        if let bytes = xing?.byteCount, let frames = xing?.frameCount, bytes > frames {
            return Double(bytes) / Double(frames)
        }
        if furthest.number > 0, furthest.offset > 0 {
            return Double(furthest.offset) / Double(furthest.number)
        }
        return Double(max(header.frameByteCount ?? 1, 1))
    }

    /// Where the PCM frame `position` of the music is found.
    func route(to position: FrameCount) -> Route {
        if let end = statedLength, position >= end { return .end(end) }
        let sample = trim.sample(at: position)
        let frame = sample / samplesPerFrame
        if let point = table.primingPoint(forFrame: frame, like: header) {
            return .known(start: point.frame, offset: point.offset, sample: sample)
        }
        return .estimate(frame: frame, offset: estimatedOffset(ofFrame: frame), sample: sample)
    }

    /// About where frame `number` begins, kept between the known frames around it and within the audio.
    private func estimatedOffset(ofFrame number: Int64) -> Int64 {
        var offset: Int64
        if hasConstantRate, let rate {
            offset = rate.offset(ofFrame: number)
        } else if let share = tableShare(ofFrame: number),
            let bytes = xing?.byteCount ?? audioEnd.map({ $0 - firstFrame })
        {
            // A server may state any length; rounded up, the greatest is no number of bytes any more.
            offset = Int64(min(share * Double(bytes), 1e15)) - (origin - firstFrame)
        } else {
            offset = Int64(min(Double(number) * meanFrameLength, 1e15))
        }
        if let below = table.point(atOrBefore: number) { offset = max(offset, below.offset) }
        if let above = table.point(after: number) { offset = min(offset, above.offset) }
        if let audioEnd { offset = min(offset, audioEnd - origin) }
        return max(0, offset)
    }

    /// The share of the bytes before frame `number` by the header's own table, which rounds down to 1/256.
    private func tableShare(ofFrame number: Int64) -> Double? {
        guard let frames = xing?.frameCount, frames > 0,
            let share = xing?.byteShare(at: Double(number) / Double(frames))
        else { return nil }
        return min(share + (xing?.kind == .xing ? 0.5 / 256 : 0), 1)
    }
}
