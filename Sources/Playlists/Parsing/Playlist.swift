import Media
import System

/// The playlist formats that Reprise reads.
package enum PlaylistFormat: String, Sendable {
    /// M3U and M3U8, and text files with one location in each line.
    case m3u
    case pls
    case xspf
    /// The JSON of XSPF.
    case jspf
    /// ASX or WPL, the lists of Windows Media Player.
    case asx
    /// RSS or Atom.
    case feed
    /// OPML, a list of feeds.
    case opml
    /// The listing of a folder that a web server makes, as HTML or JSON.
    case webFolder
}

/// Parses playlists in one pass over their bytes. Pure.
enum Playlist {
    /// Parses `bytes`, which are of this `kind`, and passes the entries to `take` in order, at least one;
    /// only a web folder may be empty. If there are too many, passes at least one more than `limits` allows.
    ///
    /// If the kind is unknown, each line is an entry. Throws `.badPlaylist`.
    static func parse(
        _ bytes: [UInt8],
        kind: ResourceKind,
        in list: ListFile,
        limits: PlaylistLimits,
        _ take: (PlaylistEntry) -> Void
    ) throws(MediaError) {
        let subject = list.subject
        let bytes = bytes.withUnsafeBufferPointer { $0.wideText } ?? bytes
        let entries: [PlaylistEntry]
        func xml(_ reader: any XMLReader.Type, _ name: SafeText) throws(MediaError) -> [PlaylistEntry] {
            do throws(XMLFault) {
                return try reader.entries(of: bytes, limit: limits.entries)
            } catch {
                throw MediaError(.badPlaylist, subject, "can't read this " + name + ": " + error.reason)
            }
        }
        switch kind {
        case .unknown(notList: let reason?): throw MediaError(.badPlaylist, subject, reason)
        case .music: throw MediaError(.badPlaylist, subject, "not a playlist (music)")
        case .list(.xspf): entries = try xml(XSPFParser.self, "XSPF playlist")
        case .list(.feed):
            entries = try xml(FeedParser.self, "podcast feed")
            guard !entries.isEmpty else {
                throw MediaError(.badPlaylist, subject, "the feed has no episodes")
            }
        case .list(.opml): entries = try xml(OPMLParser.self, "OPML file")
        case .list(.asx): entries = try xml(WindowsListParser.self, "Windows Media playlist")
        case .list(.jspf):
            let found = bytes.withUnsafeBufferPointer {
                JSONLists.tracks(in: $0.withoutByteOrderMark, limit: limits.entries)
            }
            guard let found else { throw MediaError(.badPlaylist, subject, "can't read this JSPF playlist") }
            entries = found
        case .list(.webFolder):
            guard case .web(let url) = list.base,
                let found = bytes.withUnsafeBufferPointer({
                    WebFolder.entries(of: $0, at: url, limit: limits.entries)
                })
            else { throw MediaError(.badPlaylist, subject, ResourceKind.page) }
            return found.forEach(take)
        case .list(.pls):
            entries = bytes.withUnsafeBufferPointer { PLSParser.entries(of: $0, limit: limits.entries) }
        case .list(.m3u), .unknown, .folder:
            // Each entry becomes a track at once: an array of 100,000 entries takes more memory than the
            // tracks.
            var isEmpty = true
            bytes.withUnsafeBufferPointer { bytes in
                M3UParser.parse(bytes, limit: limits.entries) { entry in
                    isEmpty = false
                    take(entry)
                }
            }
            guard !isEmpty else { throw empty(subject) }
            return
        }
        guard !entries.isEmpty else { throw empty(subject) }
        entries.forEach(take)
    }

    private static func empty(_ subject: SafeText) -> MediaError {
        MediaError(.badPlaylist, subject, "the playlist is empty")
    }
}

/// One entry of a playlist, as the list describes it.
struct PlaylistEntry: Sendable, Equatable {
    /// A path or URL, absolute or relative, as written. Not sanitised. Bytes that are not UTF-8 are kept
    /// (`FileName`), since they may name a file.
    var reference: String
    /// `true` if `reference` is a URI (XSPF), which is percent-encoded. In other formats a local reference is
    /// a plain path, in which `%` is a percent sign.
    var isURI = false
    /// `true` if the list states that this entry is a list, whatever its name: a folder, or a feed of OPML.
    var isList = false
    var tags = TrackTags()
    /// The length that the list states; `nil` if unknown, which lists write as -1 or 0.
    var duration: Duration?
    /// `nil` if the list is not a feed.
    var episode: EpisodeFacts?

    /// `reference`, read as CP1252 if it is not UTF-8.
    var text: String {
        FileName.isUTF8(reference)
            ? reference : LegacyText.string(FileName.bytes(of: reference), or: .windows1252)
    }

    /// The facts that a feed states about an episode, besides its title and length.
    struct EpisodeFacts: Sendable, Equatable {
        /// Unique within the feed.
        var guid: String
        var date: InternetDate?
    }
}
