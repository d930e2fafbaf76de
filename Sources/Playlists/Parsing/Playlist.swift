import Media

/// The playlist formats that Reprise reads.
package enum PlaylistFormat: String, Sendable {
    /// M3U and M3U8, and text files with one location in each line.
    case m3u
    case pls
    case xspf
    /// RSS or Atom.
    case feed
    /// OPML, a list of feeds.
    case opml
    /// The listing of a folder that a web server makes, as HTML or JSON.
    case webFolder
}

/// Parses playlists in one pass over their bytes. Pure.
enum Playlist {
    /// Parses the list in `bytes` and returns its entries in order, at least one; only a web folder may be
    /// empty.
    ///
    /// The bytes show the format, or else `contentType` or the extension of `name` suggests it; if none does,
    /// each line is an entry. `base` is the URL of a web folder. `subject` names the list in errors. Throws
    /// `.badPlaylist`.
    static func entries(
        of bytes: [UInt8],
        contentType: String? = nil,
        name: String,
        base: WebURL? = nil,
        subject: SafeText,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(MediaError) -> [PlaylistEntry] {
        let entries: [PlaylistEntry]
        switch ResourceKind.of(contentType: contentType, firstBytes: bytes, name: name) {
        case .unknown(notList: let reason?): throw MediaError(.badPlaylist, subject, reason)
        case .music: throw MediaError(.badPlaylist, subject, "not a playlist (music)")
        case .list(.xspf):
            entries = try xml("XSPF playlist", subject) { () throws(XMLFault) in
                try XSPFParser.entries(of: bytes, limit: limits.entries)
            }
        case .list(.feed):
            entries = try xml("podcast feed", subject) { () throws(XMLFault) in
                try FeedParser.entries(of: bytes, limit: limits.entries)
            }
            guard !entries.isEmpty else {
                throw MediaError(.badPlaylist, subject, "the feed has no episodes")
            }
        case .list(.opml):
            entries = try xml("OPML file", subject) { () throws(XMLFault) in
                try OPMLParser.entries(of: bytes, limit: limits.entries)
            }
        case .list(.webFolder):
            let found = base.flatMap { base in
                bytes.withUnsafeBufferPointer { WebFolder.entries(of: $0, at: base, limit: limits.entries) }
            }
            guard let found else { throw MediaError(.badPlaylist, subject, ResourceKind.page) }
            entries = found
            if found.isEmpty { return [] }
        case .list(.pls):
            entries = bytes.withUnsafeBufferPointer { PLSParser.entries(of: $0, limit: limits.entries) }
        case .list(.m3u), .unknown, .folder:
            entries = bytes.withUnsafeBufferPointer { M3UParser.entries(of: $0, limit: limits.entries) }
        }
        guard !entries.isEmpty else { throw MediaError(.badPlaylist, subject, "the playlist is empty") }
        guard entries.count <= limits.entries else { throw tooLong(subject, limits) }
        return entries
    }

    /// The result of `parse`; its fault becomes an error of the list `subject`, which is a `kind`.
    private static func xml(
        _ kind: SafeText,
        _ subject: SafeText,
        _ parse: () throws(XMLFault) -> [PlaylistEntry]
    ) throws(MediaError) -> [PlaylistEntry] {
        do throws(XMLFault) {
            return try parse()
        } catch {
            throw MediaError(.badPlaylist, subject, "can't read this " + kind + ": " + error.reason)
        }
    }

    /// The error if a list, together with the lists within it, has more entries than allowed.
    static func tooLong(_ subject: SafeText, _ limits: PlaylistLimits) -> MediaError {
        let cause = SafeText("the playlist is too long (more than \(limits.entries) entries)")
        return MediaError(.badPlaylist, subject, cause)
    }
}

/// One entry of a playlist, as the list describes it.
struct PlaylistEntry: Sendable, Equatable {
    /// A path or URL, absolute or relative, as written. Not sanitised.
    var reference: String
    /// `true` if `reference` is a URI (XSPF), which is percent-encoded. In other formats a local reference is
    /// a plain path, in which `%` is a percent sign.
    var isURI = false
    /// `true` if the list says that this is a list itself, whatever its name: a folder, or a feed of OPML.
    var isList = false
    var tags = TrackTags()
    /// The length that the list states; `nil` if unknown, which lists write as -1 or 0.
    var duration: Duration?
    /// `nil` if the list is not a feed.
    var episode: EpisodeFacts?

    /// What a feed says of an episode, besides its title and length.
    struct EpisodeFacts: Sendable, Equatable {
        /// Unique within the feed.
        var guid: String
        var date: FeedDate?
    }
}

/// Bounds for one source. Playlists come from anywhere, and a small one can name a large one.
package struct PlaylistLimits: Sendable {
    /// Bytes of one list. The largest list that users report has 600,000 entries and 20 MiB.
    package var bytes = 64 * 1024 * 1024
    /// Entries of one source, including nested lists and folders.
    package var entries = 1_000_000
    /// Lists opened for one source. Without this limit, eight levels of lists that each name ten more would
    /// be 100 million.
    package var lists = 1_000
    /// Levels of lists within lists; more are a mistake or an attack.
    package var depth = 8
    /// Levels of folders within folders.
    package var folderDepth = 64

    package init() {}
}
