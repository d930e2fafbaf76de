import Media

/// What the first bytes of a resource tell: tags, where the audio begins, and what it is.
///
/// One request of 64 KiB suffices unless a larger tag leads; then the audio behind it is one more.
struct StreamHead {
    /// One request's worth, and the reach within which the first frame must begin.
    static let reach = 65_536
    /// So many frames are walked, where the resource has them, before the rate is judged.
    private static let wantedFrames = 16

    var tags = TrackTags()
    /// What the tags say.
    var loudness = Loudness()
    /// Where the leading tags end, and feeding begins.
    var feedStart: Int64
    /// What was read from `feedStart` on.
    var bytes: [UInt8]
    /// The offset of the first frame: music, or the Xing header.
    var firstFrame: Int64
    /// The offset of the first frame that sounds.
    var origin: Int64
    /// The header of the first frame that sounds.
    var header: FrameHeader
    var xing: XingHeader?
    /// The frames that sound, as far as the bytes reach.
    var frames: [FrameWalker.Frame]

    /// Reads as far as needed. Throws `MediaError` with `.emptyResource` or `.notAudio`, and what the source throws.
    static func read(from source: any ByteSource, subject: SafeText) async throws -> StreamHead {
        var window = ByteWindow(source, at: 0)
        try await window.fill(ID3v2Header.byteCount, askingUpTo: reach)
        guard !window.bytes.isEmpty else {
            throw MediaError(.emptyResource, subject, "is empty: there is nothing to play")
        }
        var tags = TrackTags()
        var loudness = Loudness()
        // Each tag may be followed by another; no honest file has many.
        for _ in 0..<8 {
            guard let header = ID3v2Header(window.bytes[...]) else { break }
            let tagLength = header.tagByteCount
            try await window.fill(min(tagLength, reach), askingUpTo: reach(of: window))
            if let tag = ID3v2Tag(window.bytes[...]) {
                tags = tags.filled(from: tag.tags)
                loudness = loudness.filled(from: tag.loudness)
            }
            window = window.dropping(tagLength)
            try await window.fill(ID3v2Header.byteCount, askingUpTo: reach(of: window))
        }
        var head = try await read(&window, subject: subject)
        head.tags = tags
        head.loudness = loudness
        return head
    }

    private static func read(
        _ window: inout ByteWindow,
        subject: SafeText
    ) async throws -> StreamHead {
        var limit = reach(of: window)
        while true {
            var walker = FrameWalker(window.bytes)
            var frames: [FrameWalker.Frame] = []
            while let frame = walker.next() {
                guard frames.isEmpty || frame.header.isConsistent(with: frames[0].header) else { break }
                frames.append(frame)
            }
            let isEnough = frames.count > wantedFrames
            if !isEnough, try await window.grow(to: limit) { continue }
            if frames.isEmpty, !window.isAtEnd, limit < reach + 2 * FrameWalkerLimits.longestFrame {
                limit = reach + 2 * FrameWalkerLimits.longestFrame
                continue
            }
            guard let first = frames.first, first.index < reach else { throw noMusic(window.bytes, subject) }
            return make(window, frames)
        }
    }

    /// How far `window` is asked for: a head within the first 64 KiB asks for nothing behind them, as the one
    /// request that a start may cost brings no more.
    private static func reach(of window: ByteWindow) -> Int {
        let left = Int(max(0, Int64(reach) - window.start))
        return left >= 4 * FrameWalkerLimits.longestFrame ? left : reach
    }

    private static func make(_ window: ByteWindow, _ walked: [FrameWalker.Frame]) -> StreamHead {
        var frames = walked
        let first = walked[0]
        let xing = XingHeader(window.bytes[first.index...], header: first.header)
        if xing?.isSilent == true { frames.removeFirst() }
        let origin = frames.first?.index ?? first.index + first.byteCount
        return StreamHead(
            feedStart: window.start,
            bytes: window.bytes,
            firstFrame: window.start + Int64(first.index),
            origin: window.start + Int64(origin),
            header: frames.first?.header ?? first.header,
            xing: xing,
            frames: frames
        )
    }

    /// Names what was found instead of music, where it is a web page, the usual answer of a server that wants a
    /// login, or a compressed body, which a server sent although none was asked for.
    private static func noMusic(_ bytes: [UInt8], _ subject: SafeText) -> MediaError {
        // RFC 1952 §2.3.1: every gzip stream begins with these two.
        if bytes.starts(with: [0x1F, 0x8B]) {
            return MediaError(.notAudio, subject, "is compressed (gzip), not MP3 music")
        }
        let start = String(decoding: bytes.prefix(512), as: UTF8.self).lowercased()
        let text = ID3Text.trimmed(start.hasPrefix("\u{FEFF}") ? start.dropFirst() : start[...])
        if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") || text.contains("<html") {
            return MediaError(.notAudio, subject, "is a web page and holds no MP3 music")
        }
        return MediaError(.notAudio, subject, "holds no MP3 music")
    }
}

/// Bounds of what a walk may need.
enum FrameWalkerLimits {
    /// Above the largest frame of any table (2,881 bytes: MPEG-2.5 Layer II, 160 kbit/s at 8 kHz).
    static let longestFrame = 4096
}
