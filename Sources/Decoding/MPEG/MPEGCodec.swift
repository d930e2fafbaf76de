import Media

/// Decodes MPEG audio frame by frame with libmpg123: each packet is one frame. Its samples are those of
/// `MPEGDecoder`, which decodes the same frames from a file.
///
/// libmpg123 keeps the bytes of earlier frames that a frame of Layer III needs (the bit reservoir).
final class MPEGCodec: PacketCodec {
    let name: SafeText
    private(set) var format: AudioFormat
    let packetFrames: Int
    /// Those that fill the bit reservoir if they are short, and the filters, and those up to the next phase.
    let primingFrames: FrameCount
    let packetsPerPhase = SeekTable.stride
    private let handle: FeedHandle
    /// The samples of the packet decoded last, in libmpg123's buffer.
    private var samples = UnsafeBufferPointer<Int16>(start: nil, count: 0)

    /// Decodes frames like `header`.
    init(_ header: FrameHeader, subject: SafeText) throws {
        // libmpg123 looks for the length of these frames in the next one, which comes only later.
        guard header.bitRate > 0 else { throw Refusal("MP3 in free format") }
        handle = try FeedHandle(subject: subject, getsWholeFrames: true)
        name = header.codecName
        format = AudioFormat(sampleRate: header.sampleRate, channelCount: header.channelCount)
        packetFrames = header.samplesPerFrame
        let shortest = header.shortestFrameByteCount - header.overheadByteCount
        let reservoir = (header.longestReservoir + shortest - 1) / max(1, shortest)
        let count = reservoir + header.primingFrameCount + Int(packetsPerPhase) - 1
        primingFrames = FrameCount(count * packetFrames)
    }

    func reset() {
        // If there is no memory for it, the next frames are damaged.
        try? handle.reopen()
    }

    func frames(in packets: ArraySlice<[UInt8]>) -> Int { packets.count * packetFrames }

    func decode(_ packet: ArraySlice<UInt8>) -> Int {
        do {
            try handle.feed(packet)
            while true {
                switch try handle.next() {
                case .format(let format): self.format = format
                case .frame(let frame):
                    samples = frame.samples
                    return samples.count / format.channelCount
                case .needMore, .end:
                    // What libmpg123 holds of a damaged frame would be the start of the next one.
                    reset()
                    return 0
                }
            }
        } catch {
            reset()
            return 0
        }
    }

    func copy(_ range: Range<Int>, into pcm: UnsafeMutableRawBufferPointer) {
        let count = format.channelCount
        let part = samples[range.lowerBound * count..<range.upperBound * count]
        pcm.copyMemory(from: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: part)))
    }
}
