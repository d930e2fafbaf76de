import Media

/// Plays the packets of one logical stream: it counts granule positions, which state where the packets are.
/// It neither reads nor waits.
struct OggPlayer {
    /// The longest hole that is filled. Only a wrong granule position states a longer one.
    private static let longestHole: FrameCount = 600 * 48_000

    let output: PacketOutput
    /// The frames at the start of the stream that are not music.
    private let skipped: FrameCount
    /// `true` if the first page follows, `false` if a page from the middle of the stream does.
    private let isAtStart: Bool
    /// `true` once a page has stated the granule position of the frames. No frame before that is played.
    private var isLocated = false
    /// The granule position of the first frame of the stream; `nil` until the first page has stated it, and
    /// after a jump.
    private(set) var origin: FrameCount?
    /// The first frame to play; `nil` for the first one of the music.
    private var wanted: FrameCount?
    /// The granule position of the end of the music, as its last page states it; `nil` until then.
    private(set) var limit: FrameCount?

    private var packets: [[UInt8]] = []
    private var nextPacket = 0
    /// The granule position after the last of `packets`, if they end on one page.
    private var pageEnd: FrameCount?
    private var hasHole = false

    /// Plays from the granule position `wanted` on; from the first frame of the music if it is `nil`.
    init(
        _ codec: any PacketCodec,
        skipping skipped: FrameCount,
        from wanted: FrameCount? = nil,
        isAtStart: Bool = true
    ) {
        output = PacketOutput(codec)
        output.music = FrameCount.max..<FrameCount.max
        self.skipped = skipped
        self.wanted = wanted
        self.isAtStart = isAtStart
    }

    /// The granule position of the next frame; `nil` until a page states it.
    var position: FrameCount? { isLocated ? output.position : nil }

    /// `true` if `receive` must be called before the next frames.
    var needsPage: Bool { output.isEmpty && nextPacket == packets.count }

    /// Receives the packets of the next page. Call it only if `needsPage`.
    mutating func receive(_ content: OggPackets.Content) {
        hasHole = hasHole || content.followsHole
        guard !content.packets.isEmpty else { return }
        if hasHole, isLocated { output.codec.reset() }
        packets = content.packets
        nextPacket = 0
        pageEnd = content.granule
        if let granule = content.granule {
            locate(granule, after: FrameCount(output.codec.frames(in: packets[...])), isLast: content.isLast)
            if content.isLast { limit = granule }
            let first = max(wanted ?? 0, 0)
            output.music = first..<max(first, limit ?? .max)
        }
        hasHole = false
    }

    /// Finds the position of the packets received last. They bring `frames` frames, which end at `granule`
    /// unless the end of the stream is trimmed.
    private mutating func locate(_ granule: FrameCount, after frames: FrameCount, isLast: Bool) {
        let start = granule - frames
        guard isLocated else {
            isLocated = true
            guard isAtStart else { return output.move(to: start) }
            // The first page of a recording may state fewer frames than it has: those before 0 are not music.
            // If it is also the last page, its end is trimmed instead.
            let isEndTrimmed = start < 0 && isLast
            output.move(to: isEndTrimmed ? 0 : start)
            origin = max(0, start)
            wanted = wanted ?? max(0, start) + skipped
            return
        }
        guard hasHole else { return }
        let gap = start - output.position
        if (1...Self.longestHole).contains(gap) {
            output.skip(gap)
        } else {
            wanted = max(wanted ?? output.position, output.position)
            output.move(to: start)
        }
    }

    /// Decodes the next packet, which may bring no frame. Returns `false` if another page is needed. Call it
    /// only if `output` is empty.
    mutating func decodeNext() -> Bool {
        guard nextPacket < packets.count else { return false }
        let packet = packets[nextPacket]
        let expected = FrameCount(output.codec.frames(in: packets[nextPacket...nextPacket]))
        nextPacket += 1
        // The expected length of a damaged packet may be a guess, but the page states where its packets end.
        output.decode(packet[...], expecting: min(expected, room))
        if nextPacket == packets.count, let pageEnd, limit == nil, isLocated { output.move(to: pageEnd) }
        return true
    }

    /// The number of frames in front of the packets that follow on the same page.
    private var room: FrameCount {
        guard isLocated, let pageEnd else { return .max }
        return max(0, pageEnd - output.position - FrameCount(output.codec.frames(in: packets[nextPacket...])))
    }
}
