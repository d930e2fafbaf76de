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

    let header: FrameHeader
    private(set) var xing: XingHeader?
    private(set) var trim: GaplessTrim
    /// Where frame 0 begins in the resource.
    private(set) var origin: Int64
    private let firstFrame: Int64
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
        for (number, frame) in head.frames.enumerated() {
            observe(frame: Int64(number), at: head.feedStart + Int64(frame.index))
        }
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
        if let length = trim.musicLength { return length }
        return nil
    }

    /// The length of the music by the mean length of the frames seen; nil where the resource's is unknown.
    var estimatedLength: FrameCount? {
        if let statedLength { return statedLength }
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
