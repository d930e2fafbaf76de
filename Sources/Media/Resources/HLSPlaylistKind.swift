/// The two kinds of HLS playlists (RFC 8216 §4.1). Pure.
package enum HLSPlaylistKind: Sendable, Equatable {
    /// A list of the segments of one stream.
    case media
    /// A list of media playlists, which have the same music in several forms.
    case master

    /// The kind of the playlist that begins with `head`; `nil` for anything else. Names and content types
    /// do not matter.
    ///
    /// The first line must be `#EXTM3U`, and one of three tags shows the kind. Other tags show nothing, even
    /// if they begin with `#EXT-X-`, since ordinary M3U lists have private ones.
    package static func of(_ head: UnsafeBufferPointer<UInt8>) -> HLSPlaylistKind? {
        let text = head.withoutByteOrderMark.trimmed
        guard text.starts(with: "#EXTM3U") else { return nil }
        var start = 0
        while let end = text.offset(of: "\n", from: start) {
            let line = text.piece(end + 1..<text.count)
            if line.starts(with: "#EXT-X-TARGETDURATION") { return .media }
            if line.starts(with: "#EXT-X-STREAM-INF") || line.starts(with: "#EXT-X-MEDIA:") { return .master }
            start = end + 1
        }
        return nil
    }
}
