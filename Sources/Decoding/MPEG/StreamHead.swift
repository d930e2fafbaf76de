import Media

/// The head of an MPEG stream: its leading tags, where the audio begins, and its format.
///
/// One request of 64 KiB suffices, unless a larger tag precedes the audio: then a second one is needed.
struct StreamHead {
    /// The first frame must begin within this many bytes after the leading tags: the length of one request.
    private static let reach = ByteWindow.requestByteCount
    /// The number of frames to examine, if the resource has as many, to decide if the bit rate is constant or
    /// variable.
    private static let wantedFrames = 16

    var tags = TrackTags()
    /// The ReplayGain in the tags.
    var loudness = Loudness()
    /// The offset where the leading tags end and feeding begins.
    var feedStart: Int64
    /// The bytes that were read from `feedStart` on.
    var bytes: [UInt8]
    /// The offset of the first frame: music, or the Xing header.
    var firstFrame: Int64
    /// The offset of the first frame that is played.
    var origin: Int64
    /// The header of the first frame that is played.
    var header: FrameHeader
    var xing: XingHeader?
    /// The frames that are played, as far as `bytes` reach.
    var frames: [FrameWalker.Frame]

    /// Reads as far as needed. Throws `MediaError` with `.emptyResource` or `.notAudio`, and errors of the source.
    ///
    /// `start` has the first bytes of the source that were already read.
    static func read(from source: any ByteSource, startingWith start: [UInt8], subject: SafeText) async throws
        -> StreamHead
    {
        var window = ByteWindow(source, at: 0, holding: start)
        try await window.fill(ID3v2Header.byteCount, askingUpTo: reach)
        guard !window.bytes.isEmpty else {
            throw MediaError(.emptyResource, subject, "is empty: there is nothing to play")
        }
        var tags = TrackTags()
        var loudness = Loudness()
        // Several tags may follow one another; no honest file has many.
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

    private static func read(_ window: inout ByteWindow, subject: SafeText) async throws -> StreamHead {
        var limit = reach(of: window)
        while true {
            let all = Array(FrameWalker(window.bytes))
            let frames = Array(all.prefix { $0.header.isConsistent(with: all[0].header) })
            if frames.count <= wantedFrames, try await window.grow(to: limit) { continue }
            if frames.isEmpty, !window.isAtEnd, limit < reach + 2 * FrameHeader.longestFrame {
                limit = reach + 2 * FrameHeader.longestFrame
                continue
            }
            guard let first = frames.first, first.index < reach else { throw noMusic(window.bytes, subject) }
            return make(window, frames)
        }
    }

    /// How many bytes of `window` to request: none beyond the first 64 KiB if the head lies within them,
    /// because the first request returns no more.
    private static func reach(of window: ByteWindow) -> Int {
        let left = Int(max(0, Int64(reach) - window.start))
        return left >= 4 * FrameHeader.longestFrame ? left : reach
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

    /// Returns the error that says what was found instead of MPEG audio: another audio format, a compressed
    /// body, which some servers send unrequested, or a web page, the usual response of a server that requires
    /// a login.
    private static func noMusic(_ bytes: [UInt8], _ subject: SafeText) -> MediaError {
        // RFC 1952 §2.3.1: every gzip stream begins with these two bytes.
        if bytes.starts(with: [0x1F, 0x8B]) {
            return MediaError(.notAudio, subject, "Not MP3 (compressed with gzip)")
        }
        let start = String(decoding: bytes.prefix(512), as: UTF8.self).lowercased()
        let text = ID3Text.trimmed(start.hasPrefix("\u{FEFF}") ? start.dropFirst() : start[...])
        if text.hasPrefix("<!doctype html") || text.contains("<html") {
            return MediaError(
                .notAudio,
                subject,
                "Got a web page instead of audio (wrong link or login page?)"
            )
        }
        let kind = AudioKind.byMagicNumber(bytes).map { " (looks like \($0.name))" } ?? ""
        return MediaError(.notAudio, subject, SafeText("Not MP3\(kind) – Reprise plays MP3 only"))
    }
}
