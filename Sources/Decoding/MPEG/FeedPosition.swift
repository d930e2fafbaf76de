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

    init(frame: Int64, start: Int64, isExact: Bool, wantedSample: FrameCount, pending: [UInt8]) {
        firstFrame = frame
        self.start = start
        self.isExact = isExact
        self.wantedSample = wantedSample
        self.pending = pending
        nextRead = start + Int64(pending.count)
    }
}
