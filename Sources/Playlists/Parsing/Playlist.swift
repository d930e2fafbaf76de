package import Media

/// Parses playlists in one pass over their bytes. Pure.
package enum Playlist {
    /// Parses the list in `bytes` and returns its entries in order, at least one.
    ///
    /// The format that the bytes show wins over `expected`, the format that the name suggests; without either, each
    /// line is an entry. `subject` names the list in errors. Throws `.badPlaylist`.
    package static func entries(
        of bytes: [UInt8],
        expected: PlaylistFormat?,
        subject: SafeText,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(MediaError) -> [PlaylistEntry] {
        let format = try PlaylistFormat(of: bytes, subject: subject) ?? expected ?? .m3u
        let entries = try parse(bytes, as: format, subject: subject, limit: limits.entries)
        guard !entries.isEmpty else { throw MediaError(.badPlaylist, subject, "the playlist is empty") }
        guard entries.count <= limits.entries else {
            let cause = SafeText("the playlist is too long (more than \(limits.entries) entries)")
            throw MediaError(.badPlaylist, subject, cause)
        }
        return entries
    }

    private static func parse(
        _ bytes: [UInt8],
        as format: PlaylistFormat,
        subject: SafeText,
        limit: Int
    ) throws(MediaError) -> [PlaylistEntry] {
        switch format {
        case .m3u: return bytes.withUnsafeBufferPointer { M3UParser.entries(of: $0, limit: limit) }
        case .pls: return bytes.withUnsafeBufferPointer { PLSParser.entries(of: $0, limit: limit) }
        case .xspf:
            let parser = XSPFParser(limit: limit)
            if let fault = parser.parse(bytes) {
                throw MediaError(.badPlaylist, subject, "can't read this XSPF playlist: " + fault)
            }
            return parser.entries
        }
    }
}

/// One entry of a playlist, as the list describes it.
package struct PlaylistEntry: Sendable, Equatable {
    /// A path or URL, absolute or relative, as written. Not sanitised.
    package var reference: String
    /// `true` if `reference` is a URI (XSPF), whose escapes mean characters. In other formats a local name is a path,
    /// and its `%` is a percent sign.
    package var isURI: Bool
    package var tags: TrackTags
    /// The length that the list states; `nil` if unknown, which lists write as -1 or 0.
    package var duration: Duration?

    package init(
        reference: String,
        isURI: Bool = false,
        tags: TrackTags = TrackTags(),
        duration: Duration? = nil
    ) {
        self.reference = reference
        self.isURI = isURI
        self.tags = tags
        self.duration = duration
    }
}

/// Bounds for one source. Playlists come from anywhere, and a small one can name a large one.
package struct PlaylistLimits: Sendable {
    /// Bytes of one list. A list of 600,000 entries, the largest that users report, has 20 MiB.
    package var bytes = 64 * 1024 * 1024
    /// Entries of one source, including nested lists and folders.
    package var entries = 1_000_000
    /// Lists opened for one source: eight levels that each name ten lists would be 100 million.
    package var lists = 1_000
    /// Levels of lists within lists; more is a mistake or a trap.
    package var depth = 8
    /// Levels of folders within folders.
    package var folderDepth = 64

    package init() {}
}
