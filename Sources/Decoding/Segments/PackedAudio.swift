import Media

/// Finds the sound in segments of ADTS or MPEG frames, and what the ID3 tags in front of them state: a title,
/// and the time of the first frame (RFC 8216 §3.4). Pure.
struct PackedAudio: SoundContainer {
    private static let owner = Array("com.apple.streaming.transportStreamTimestamp\0".utf8)
    /// The longest tag that is read; a longer one is only skipped.
    private static let longestTag = 256 << 10

    /// The bytes that were not passed on yet.
    private var bytes: [UInt8] = []
    /// `true` if a tag may begin there.
    private var isInFront = true
    /// The rest of a tag that is skipped.
    private var skipped = 0
    private var clock: MediaClock
    private var time: MediaTime?
    /// `true` for AAC, `false` for MPEG audio; `nil` until a segment has shown it.
    private var isAAC: Bool?

    init(_ clock: MediaClock) { self.clock = clock }

    mutating func beginSegment() {
        bytes = []
        isInFront = true
        skipped = 0
        time = nil
    }

    mutating func append(_ more: [UInt8]) { bytes += more }

    mutating func next() -> SoundPart {
        while isInFront {
            let step = min(skipped, bytes.count)
            bytes.removeFirst(step)
            skipped -= step
            guard let header = ID3v2Header(bytes[...]) else {
                if bytes.count < ID3v2Header.byteCount, "ID3".utf8.starts(with: bytes.prefix(3)) {
                    return .needMore
                }
                isInFront = false
                let known = isAAC
                isAAC = Self.isAAC(bytes) ?? known
                if let known, isAAC != known { return .restart }
                break
            }
            let length = header.tagByteCount
            guard bytes.count >= length || length > Self.longestTag else { return .needMore }
            skipped = length
            if length <= Self.longestTag, let title = read(bytes[..<length]) { return .title(title) }
        }
        guard !bytes.isEmpty else { return .needMore }
        let part = SoundPart.sound(bytes, time)
        bytes = []
        time = nil
        return part
    }

    /// `true` if `bytes` begin with two frames of AAC, `false` if they are MPEG audio; `nil` if they show
    /// neither, as when a frame goes on from the segment before.
    private static func isAAC(_ bytes: [UInt8]) -> Bool? {
        if let first = ADTSHeader(bytes, at: 0), ADTSHeader(bytes, at: first.frameByteCount) != nil {
            return true
        }
        guard let length = FrameHeader(bytes, at: 0)?.frameByteCount, length < bytes.count,
            FrameHeader(bytes, at: length) != nil
        else { return nil }
        return false
    }

    /// Notes the time in `tag`, and returns its title.
    private mutating func read(_ tag: ArraySlice<UInt8>) -> SafeText? {
        if let place = tag.firstRange(of: Self.owner) {
            // The upper 31 of the 64 bits should be 0, and are not always.
            let stamp = tag[place.upperBound...].prefix(8)
            if stamp.count == 8 {
                time = MediaTime(time: clock.time(of: stamp.suffix(5).bigEndianNumber), isHint: true)
            }
        }
        return ID3v2Tag(tag)?.tags.songTitle
    }
}
