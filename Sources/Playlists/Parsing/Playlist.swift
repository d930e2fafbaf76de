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
        let entries = try whole(bytes, format, subject: subject, limit: limits.entries)
        guard !entries.isEmpty else { throw MediaError(.badPlaylist, subject, "the playlist names no music") }
        guard entries.count <= limits.entries else {
            let most = SafeText("the playlist has more than \(limits.entries) entries, which is too long")
            throw MediaError(.badPlaylist, subject, most)
        }
        return entries
    }

    /// The first entries of a long M3U list, and the offset behind them.
    struct Beginning {
        var entries: [PlaylistEntry]
        var end: Int
    }

    /// What the list that begins with `head` and has more behind it begins with; nil where that is no M3U list or has
    /// no whole entry there.
    static func beginning(
        in head: [UInt8],
        expected: PlaylistFormat?,
        subject: SafeText,
        limits: PlaylistLimits
    ) -> Beginning? {
        // What is wrong is told by those who read all of it.
        guard let shown = try? PlaylistFormat(of: head, subject: subject) ?? expected ?? .m3u, shown == .m3u,
            let lastEnd = head.lastIndex(where: { $0 == 0x0A || $0 == 0x0D })
        else { return nil }
        return head[...lastEnd].withUnsafeBufferPointer { bytes in
            var parser = M3UParser(bytes)
            let entries = parser.next(limits.firstEntries)
            return entries.isEmpty ? nil : Beginning(entries: entries, end: parser.offset)
        }
    }

    /// The entries of an M3U list from `offset` on, where an entry has ended; at most `most`.
    static func entries(of bytes: [UInt8], from offset: Int, most: Int) -> [PlaylistEntry] {
        bytes.withUnsafeBufferPointer { bytes in
            var parser = M3UParser(bytes, from: offset)
            return parser.next(most)
        }
    }

    private static func whole(
        _ bytes: [UInt8],
        _ format: PlaylistFormat,
        subject: SafeText,
        limit: Int
    ) throws(MediaError) -> [PlaylistEntry] {
        switch format {
        case .m3u:
            return bytes.withUnsafeBufferPointer { bytes in
                var parser = M3UParser(bytes)
                // One more than is allowed, so that the excess is seen.
                return parser.next(limit + 1)
            }
        case .pls:
            return bytes.withUnsafeBufferPointer { PLSParser.entries(of: $0, limit: limit) }
        case .xspf:
            let parser = XSPFParser(limit: limit)
            if let fault = parser.parse(bytes) {
                throw MediaError(.badPlaylist, subject, "this XSPF playlist cannot be read: " + fault)
            }
            return parser.entries
        }
    }
}
