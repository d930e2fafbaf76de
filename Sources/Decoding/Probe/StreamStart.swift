package import Media

/// The start of a resource, read to determine what it is: the tags in front, and the first bytes after them.
///
/// One request of 64 KiB suffices, unless a larger tag comes first: then a second one is needed.
package struct StreamStart {
    /// The most other bytes in front of the music: as many as the reference decoder skips, and as one request
    /// returns.
    static let reach = ByteWindow.requestByteCount
    /// The most bytes after `reach` that belong to a run of frames which begins before it.
    private static let lookahead = FrameRun.length * FrameHeader.longestFrame
    /// The longest tag that is read as a whole: forty chapters with pictures of 50 KB.
    static let longestTag = 2 << 20
    /// The most tags in front. No honest file has many.
    private static let mostTags = 8

    package private(set) var tags = TrackTags()
    /// The ReplayGain in the tags.
    package private(set) var loudness = Loudness()
    private(set) var chapters = ChapterList()
    /// The first ID3v2 tag of which texts are still unread; `nil` if all were read.
    private(set) var longTag: ID3v2Tag?
    private(set) var window: ByteWindow
    private let source: any ByteSource

    /// The offset up to which the last request for `bytes` asked.
    var requestEnd: Int64 { window.start + Int64(firstRequest) }

    init(of source: any ByteSource, holding head: [UInt8] = []) {
        self.source = source
        window = ByteWindow(source, at: 0, holding: head)
    }

    /// The offset of `bytes` in the resource: after `skipTags`, that of the first byte after the tags.
    package var offset: Int64 { window.start }

    /// The bytes from `offset` on, as far as they were read.
    package var bytes: [UInt8] { window.bytes }

    /// `true` if the resource ends with `bytes`.
    var isWhole: Bool { window.isAtEnd }

    /// Reads and skips the tags in front, ID3v2 and APE, which music of any kind may have; does nothing if
    /// there are no more.
    ///
    /// Throws `MediaError` with `.emptyResource` if there are no bytes at all.
    package mutating func skipTags(of subject: SafeText) async throws {
        try await window.fill(AudioKind.headByteCount, askingUpTo: firstRequest)
        guard !window.bytes.isEmpty || window.start > 0 else {
            throw MediaError(.emptyResource, subject, "nothing to play, the file is empty")
        }
        for _ in 0..<Self.mostTags {
            if let header = ID3v2Header(window.bytes[...]) {
                try await window.fill(min(header.tagByteCount, Self.reach), askingUpTo: firstRequest)
                if var tag = ID3v2Tag(window.bytes[...], at: window.start) {
                    try await tag.readStored(in: source)
                    note(tag.tags, tag.loudness)
                    if chapters.isEmpty { chapters = tag.chapters }
                    if tag.wanted != nil, longTag == nil { longTag = tag }
                }
                window = window.dropping(header.tagByteCount)
            } else if window.bytes.starts(with: APETag.mark) {
                try await window.fill(APETag.byteCount, askingUpTo: firstRequest)
                guard let length = APETag.byteCount(ofHeader: window.bytes) else { return }
                try await window.fill(Int(min(length, Int64(Self.reach))), askingUpTo: firstRequest)
                let tag = APETag(Array(window.bytes.prefix(Int(length) - APETag.byteCount)))
                note(tag.tags, tag.loudness)
                window = window.dropping(Int(length))
            } else {
                return
            }
            try await window.fill(AudioKind.headByteCount, askingUpTo: firstRequest)
        }
    }

    /// Adds what the next tag states; if several state the same, the first counts.
    private mutating func note(_ more: TrackTags, _ gain: Loudness) {
        tags = tags.filled(from: more)
        loudness = loudness.filled(from: gain)
    }

    /// Reads as many bytes as are needed to identify the kind of audio; `nil` if it is of no known kind.
    mutating func kind() async throws -> AudioKind? {
        while true {
            if let kind = Self.kind(of: bytes, isWhole: isWhole) { return kind }
            guard try await grow() else { return nil }
        }
    }

    /// Reads more bytes; `false` if nothing more is read, because the resource ends, or the search for music
    /// does.
    ///
    /// With `inFirstRequest` only those that the first request returns anyway.
    mutating func grow(inFirstRequest: Bool = false) async throws -> Bool {
        let most = inFirstRequest ? firstRequest : Self.reach + Self.lookahead
        guard !isWhole, bytes.count < most else { return false }
        _ = try await window.grow(to: bytes.count < firstRequest ? firstRequest : most)
        return true
    }

    /// The length of `bytes` to request first: none beyond the first 64 KiB of the resource if the head lies
    /// within them, because the first request returns no more.
    private var firstRequest: Int {
        let left = Int(max(0, Int64(Self.reach) - window.start))
        return left >= Self.lookahead ? left : Self.reach
    }

    /// The kind of a resource that begins with `bytes`, or whose tags are followed by them; `nil` if they do
    /// not identify any. `isWhole` states that the resource ends with them. Pure.
    ///
    /// Only the bytes count, since content types and file names are often wrong: first a magic number, then a
    /// run of frames, which may begin after up to 64 KiB of other bytes.
    package static func kind(of bytes: [UInt8], isWhole: Bool) -> AudioKind? {
        if let kind = AudioKind.byMagicNumber(bytes) {
            guard kind == .wave else { return kind }
            guard let format = WaveFormat.format(of: bytes) else {
                return isWhole || bytes.count >= reach ? .wave : nil
            }
            return format.isMPEG ? .mpeg : .wave
        }
        var walker = FrameWalker(bytes, isWhole: isWhole)
        if let first = walker.next(), first.index < reach { return .mpeg }
        return ADTSHeader.firstRun(in: bytes, before: reach, isWhole: isWhole) == nil ? nil : .adts
    }

    /// Returns the error for a resource that no decoder plays. It states what was found instead of music:
    /// another audio format, a compressed body, which some servers send unrequested, or a web page, the usual
    /// response of a server that requires a login.
    func notAudio(_ subject: SafeText) -> MediaError {
        let head = String(decoding: bytes.prefix(512), as: UTF8.self).lowercased()
        let text = ID3Text.trimmed(head.hasPrefix("\u{FEFF}") ? head.dropFirst() : head[...])
        if text.hasPrefix("<!doctype html") || text.contains("<html") {
            return MediaError(
                .notAudio,
                subject,
                "got a web page instead of audio (wrong link or login page?)"
            )
        }
        if bytes.withUnsafeBufferPointer({ HLSPlaylistKind.of($0) }) != nil {
            return MediaError(
                .notAudio,
                subject,
                "a stream of segments (HLS), which is played, but not cached"
            )
        }
        // RFC 1952 §2.3.1: every gzip stream begins with these two bytes.
        let isCompressed = bytes.starts(with: [0x1F, 0x8B])
        let kind = AudioKind.byMagicNumber(bytes) ?? Self.kind(of: bytes, isWhole: isWhole)
        let name = kind.flatMap { $0 == .mpeg ? nil : "looks like " + SafeText($0.name) }
        let what: SafeText = isCompressed ? "compressed with gzip" : name ?? "not a known audio format"
        return MediaError(.notAudio, subject, AudioKind.refusal(of: what))
    }
}
