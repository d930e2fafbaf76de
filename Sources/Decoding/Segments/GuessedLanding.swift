import Media

/// An estimated landing in a recording, and how many frames were counted to find out where it is.
struct GuessedLanding {
    enum Count: Equatable {
        /// The next segment is needed.
        case more
        /// The presumed number of the landing's frame is too low by this.
        case found(FrameCount)
        /// No count shows it.
        case never
    }

    /// Farther landings stay estimates: each look at what is stored takes as long as the list is.
    private static let mostSegments = 10_000
    private static let readByteCount = 96 * 1024

    /// The presumed frame with which the music begins there.
    let landing: FrameCount
    /// The first packet that was read there, the presumed number of its first frame, and its segment.
    private let packet: [UInt8]
    private let frame: FrameCount
    private let segment: Int
    private var demuxer = SegmentDemuxer()
    /// The number of the segment that is counted next.
    private(set) var next = 0
    private var counted: FrameCount = 0

    /// `nil` if the landing is too far away.
    init?(_ packet: [UInt8], in segment: Int, at frame: FrameCount, landing: FrameCount) {
        guard segment < Self.mostSegments else { return nil }
        self.packet = packet
        self.segment = segment
        self.frame = frame
        self.landing = landing
    }

    /// Counts the frames of `segment`, the next one, whose packets have `packetFrames` each.
    ///
    /// A discontinuity ends it: what an encoder has added there shows only in decoding.
    mutating func count(_ segment: Segment, _ packetFrames: FrameCount) async throws -> Count {
        guard segment.discontinuity == 0, segment.initialisation == nil, !segment.isGap,
            segment.number == next, next <= self.segment
        else { return .never }
        if next > 0 { demuxer.beginSegment() }
        next += 1
        var offset: Int64 = 0
        while case let bytes = try await segment.bytes.read(at: offset, count: Self.readByteCount),
            !bytes.isEmpty
        {
            offset += Int64(bytes.count)
            demuxer.append(bytes)
            steps: while true {
                switch try demuxer.next() {
                case .packet(let packet, _):
                    if segment.number == self.segment, packet.elementsEqual(self.packet) {
                        return .found(counted - frame)
                    }
                    counted += packetFrames
                case .missing(let count): counted += FrameCount(count) * packetFrames
                case .codec: if counted > 0 { return .never }
                case .silence: return .never
                case .title: break
                case .needMore, .end: break steps
                }
            }
        }
        return .more
    }
}
