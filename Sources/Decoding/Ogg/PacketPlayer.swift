import Media

/// Turns the packets of one logical stream into its frames: it counts granule positions, trims both ends, and fills holes
/// with silence. It neither reads nor waits.
struct PacketPlayer {
    /// The longest hole that is filled. Only a wrong granule position states a longer one.
    private static let longestHole: FrameCount = 600 * 48_000
    /// The most frames of silence in one step.
    private static let silenceStep: FrameCount = 4_096

    private let handle: any OggCodecHandle
    private let bytesPerFrame: Int
    /// The frames at the start of the stream that are not music.
    private let skipped: FrameCount

    /// The granule position of the next frame; `nil` until a page states it.
    private(set) var position: FrameCount?
    /// The granule position of the first frame of the stream; `nil` until the first page has stated it, and after a
    /// jump.
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
    private var silence: FrameCount = 0

    init(_ handle: any OggCodecHandle, bytesPerFrame: Int, skipping skipped: FrameCount) {
        self.handle = handle
        self.bytesPerFrame = bytesPerFrame
        self.skipped = skipped
    }

    /// Begins again with the first page of the stream.
    mutating func start(playingFrom wanted: FrameCount?) {
        handle.reset()
        self = PacketPlayer(handle, bytesPerFrame: bytesPerFrame, skipping: skipped)
        self.wanted = wanted
        isAtStart = true
    }

    /// Begins again with a page from the middle of the stream.
    mutating func jump(playingFrom wanted: FrameCount) {
        start(playingFrom: wanted)
        isAtStart = false
    }

    private var isAtStart = true

    /// `true` if `take` must be called before the next frames.
    var needsPage: Bool { silence == 0 && nextPacket == packets.count }

    /// Takes the packets of the next page. Call it only if `needsPage`.
    mutating func take(_ content: OggPackets.Content) {
        hasHole = hasHole || content.followsHole
        guard !content.packets.isEmpty else { return }
        if hasHole, position != nil { handle.reset() }
        (packets, nextPacket, pageEnd) = (content.packets, 0, content.granule)
        if let granule = content.granule {
            locate(granule, after: FrameCount(handle.frames(in: packets[...])), isLast: content.isLast)
            if content.isLast { limit = granule }
        }
        hasHole = false
    }

    /// Finds the position of the packets taken last. They bring `frames` frames, which end at `granule` unless the end
    /// of the stream is trimmed.
    private mutating func locate(_ granule: FrameCount, after frames: FrameCount, isLast: Bool) {
        let start = granule - frames
        guard let position else {
            if isAtStart {
                // The first page of a recording may state fewer frames than it has: those before 0 are not music. If it
                // is also the last page, its end is trimmed instead.
                let isEndTrimmed = start < 0 && isLast
                position = isEndTrimmed ? 0 : start
                origin = max(0, start)
                wanted = wanted ?? max(0, start) + skipped
            } else {
                position = start
            }
            isAtStart = false
            return
        }
        guard hasHole else { return }
        let gap = start - position
        if (1...Self.longestHole).contains(gap) {
            silence = gap
        } else {
            wanted = max(wanted ?? position, position)
            self.position = start
        }
    }

    /// Appends the frames of one packet, or some silence, to `pcm`; a packet may bring none. Returns `false` if another
    /// page is needed.
    mutating func step(into pcm: inout [UInt8]) -> Bool {
        let start = pcm.count
        if silence > 0 {
            let count = min(silence, Self.silenceStep)
            silence -= count
            pcm.append(contentsOf: repeatElement(0, count: Int(count) * bytesPerFrame))
            trim(&pcm, from: start, count)
            return true
        }
        guard nextPacket < packets.count else { return false }
        let expected = handle.frames(in: packets[nextPacket...nextPacket])
        var count = handle.decode(packets[nextPacket], into: &pcm)
        if count == 0, expected > 0 {
            // The packet cannot be decoded: silence replaces it. Its length may be a guess, but the page states where
            // its packets end.
            let rest = FrameCount(handle.frames(in: packets[(nextPacket + 1)...]))
            let room = position.flatMap { position in pageEnd.map { max(0, $0 - position - rest) } }
            count = min(expected, Int(room ?? FrameCount(expected)))
            pcm.append(contentsOf: repeatElement(0, count: count * bytesPerFrame))
        }
        nextPacket += 1
        trim(&pcm, from: start, FrameCount(count))
        if nextPacket == packets.count, let pageEnd, limit == nil, position != nil { position = pageEnd }
        return true
    }

    /// Advances by the `count` frames in `pcm` from byte `start` on, and removes those that are not played.
    private mutating func trim(_ pcm: inout [UInt8], from start: Int, _ count: FrameCount) {
        guard let begin = position else {
            // No page has stated the position of these frames yet.
            pcm.removeSubrange(start...)
            return
        }
        position = begin + count
        let range = begin..<begin + count
        let music = range.clamped(to: max(wanted ?? begin, 0)..<max(wanted ?? begin, limit ?? .max, 0))
        guard !music.isEmpty else {
            pcm.removeSubrange(start...)
            return
        }
        let end = start + Int(music.upperBound - begin) * bytesPerFrame
        if end < pcm.count { pcm.removeSubrange(end...) }
        let first = start + Int(music.lowerBound - begin) * bytesPerFrame
        if first > start { pcm.removeSubrange(start..<first) }
    }
}
