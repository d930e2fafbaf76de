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
        var all: [PlaylistEntry] = []
        try read(bytes, expected: expected, subject: subject, limits: limits, inPieces: false) { entries, _ in
            all = entries
        }
        return all
    }

    /// Hands the same entries to `take`: all at once, or with `inPieces` the first of a long M3U list before the
    /// others. `take` is told whether more follow. What is thrown is thrown before it is called.
    static func read(
        _ bytes: [UInt8],
        expected: PlaylistFormat?,
        subject: SafeText,
        limits: PlaylistLimits,
        inPieces: Bool,
        take: (_ entries: [PlaylistEntry], _ moreFollow: Bool) -> Void
    ) throws(MediaError) {
        let format = try PlaylistFormat(of: bytes, subject: subject) ?? expected ?? .m3u
        if inPieces, format == .m3u, isLong(bytes, limits), readLongM3U(bytes, limits, take) { return }
        let entries = try whole(bytes, format, subject: subject, limit: limits.entries)
        guard !entries.isEmpty else { throw MediaError(.badPlaylist, subject, "the playlist names no music") }
        guard entries.count <= limits.entries else {
            let most = SafeText("the playlist has more than \(limits.entries) entries, which is too long")
            throw MediaError(.badPlaylist, subject, most)
        }
        take(entries, false)
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

    /// Whether the first entries are worth having before the others, and these cannot turn out to be too many.
    private static func isLong(_ bytes: [UInt8], _ limits: PlaylistLimits) -> Bool {
        guard bytes.count > limits.longList else { return false }
        // An entry has a letter and the end of its line.
        return bytes.count / 2 < limits.entries
            || bytes.withUnsafeBufferPointer(M3UParser.mostEntries) <= limits.entries
    }

    /// Returns false, and has handed nothing over, when there is no entry.
    private static func readLongM3U(
        _ bytes: [UInt8],
        _ limits: PlaylistLimits,
        _ take: ([PlaylistEntry], Bool) -> Void
    ) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var parser = M3UParser(bytes)
            let first = parser.next(limits.firstEntries)
            guard !first.isEmpty else { return false }
            let moreFollow = first.count == limits.firstEntries
            take(first, moreFollow)
            if moreFollow { take(parser.next(limits.entries), false) }
            return true
        }
    }
}
