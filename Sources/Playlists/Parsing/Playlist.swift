package import Media

/// Reads playlists: bytes in, entries out. Pure, and as fast as one pass over the bytes.
package enum Playlist {
    /// The entries of the list that `bytes` hold, in its order, at least one.
    ///
    /// What the bytes show wins over `expected`, which is what the name says; without either it is a
    /// plain list of lines. `subject` names the list in errors. Throws `.badPlaylist`.
    package static func entries(
        of bytes: [UInt8],
        expected: PlaylistFormat?,
        subject: SafeText,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(MediaError) -> [PlaylistEntry] {
        let format = try PlaylistFormat(of: bytes, subject: subject) ?? expected ?? .m3u
        let entries: [PlaylistEntry]
        switch format {
        case .m3u:
            entries = bytes.withUnsafeBufferPointer { M3UParser.entries(of: $0, limit: limits.entries) }
        case .pls:
            entries = bytes.withUnsafeBufferPointer { PLSParser.entries(of: $0, limit: limits.entries) }
        case .xspf:
            let parser = XSPFParser(limit: limits.entries)
            if let fault = parser.parse(bytes) {
                throw MediaError(.badPlaylist, subject, "this XSPF playlist cannot be read: " + fault)
            }
            entries = parser.entries
        }
        guard !entries.isEmpty else { throw MediaError(.badPlaylist, subject, "the playlist names no music") }
        guard entries.count <= limits.entries else {
            let most = SafeText("the playlist has more than \(limits.entries) entries, which is too long")
            throw MediaError(.badPlaylist, subject, most)
        }
        return entries
    }
}
