import Media

/// Where the feeding of the decoder stands since its last fresh start.
struct FeedPosition {
    /// The number of the first MPEG frame that the decoder meets: counted, or an estimate.
    var firstFrame: Int64
    /// The offset in the resource of the first byte fed.
    var start: Int64
    /// Whether `firstFrame` is counted.
    var isExact: Bool
    /// The first sample to be heard; those before it are only decoded for what follows.
    var wantedSample: FrameCount
    /// Bytes that were read and not fed yet.
    var pending: [UInt8]
    /// The offset that is read next.
    var nextRead: Int64
    /// The last frame that was decoded.
    var lastFrame: Int64?
    /// Where the first decoded frame began; nil before it.
    var firstPlace: Int64?
    /// Where the last decoded frame ended.
    var lastEnd: Int64
    /// Where frames turned into another kind, with another rate or number of samples: from there on places
    /// in the music cannot be counted from frame numbers.
    var turn: Turn?

    struct Turn {
        /// The first frame of another kind.
        var frame: Int64
        /// How long the music is that was decoded from there on.
        var length: Duration
    }

    init(frame: Int64, start: Int64, isExact: Bool, wantedSample: FrameCount, pending: [UInt8]) {
        firstFrame = frame
        self.start = start
        self.isExact = isExact
        self.wantedSample = wantedSample
        self.pending = pending
        nextRead = start + Int64(pending.count)
        lastEnd = start
    }

    /// Follows the decoder to the frame `frame`, `byteCount` bytes long, at `place`; returns how many bytes it
    /// passed over since the last one. What lies before the first is a header, a tag or none of its business.
    mutating func advance(to frame: Int64, at place: Int64, byteCount: Int64) -> Int64 {
        let skipped = firstPlace == nil ? 0 : max(0, place - lastEnd)
        firstPlace = firstPlace ?? place
        lastFrame = frame
        lastEnd = place + byteCount
        return skipped
    }
}
