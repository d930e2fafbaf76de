import Glibc
import Media
import System

/// Parses M3U and M3U8: a line is an entry unless it begins with `#`.
///
/// `#EXTINF` is the only directive that is used. It describes the next entry, even if other directives or
/// comments come before that entry.
enum M3UParser {
    /// Passes the entries of `bytes` to `take` in order: at most `limit` + 1, the last of which shows the
    /// caller that the list is too long.
    static func parse(_ bytes: ByteText, limit: Int, _ take: (PlaylistEntry) -> Void) {
        var count = 0
        var tags = TrackTags()
        var duration: Duration?
        bytes.withoutByteOrderMark.forEachLine { line in
            guard line[0] != UInt8(ascii: "#") else {
                if line.starts(withLowercase: "#extinf:") {
                    (tags, duration) = information(line.piece(8..<line.count))
                }
                return
            }
            guard count <= limit else { return }
            count += 1
            take(PlaylistEntry(reference: FileName.text(line), tags: tags, duration: duration))
            tags = TrackTags()
            duration = nil
        }
    }

    /// Parses `123 key="value",Artist - Title`. Any part may be missing.
    private static func information(_ text: ByteText) -> (TrackTags, Duration?) {
        let text = text.trimmed
        let duration = text.leadingSeconds
        // A comma inside a quoted attribute does not end the attributes.
        var isQuoted = false
        let comma = text.firstIndex { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        guard let comma = comma ?? text.firstIndex(of: UInt8(ascii: ",")) else {
            return (TrackTags(), duration)
        }
        return (tags(ofTitle: text.piece(comma + 1..<text.count).trimmed), duration)
    }

    /// Parses `Artist - Title`, or a title alone.
    static func tags(ofTitle text: ByteText) -> TrackTags {
        guard let dash = text.offset(of: " - ", from: 1), dash + 3 < text.count else {
            return TrackTags(title: safe(text))
        }
        let title = text.piece(dash + 3..<text.count).trimmed
        return TrackTags(title: safe(title), artist: safe(text.piece(0..<dash).trimmed))
    }

    private static func safe(_ text: ByteText) -> SafeText? {
        text.isEmpty ? nil : SafeText(LegacyText.string(text))
    }
}

/// Writes M3U8 playlists.
///
/// Locations are absolute, so that the list can be moved. User names and passwords of URLs are left out,
/// because people share playlists; they belong on the command line or in `~/.netrc`. Queries are kept, since
/// without its query a URL names another resource.
enum M3UWriter {
    /// Formats `tracks` as a list that `Playlist` parses back to the same locations.
    static func text(for tracks: some Sequence<Track>) -> String {
        var text = "#EXTM3U\n"
        for track in tracks {
            let seconds = track.duration.map { ($0 + .milliseconds(500)).components.seconds } ?? -1
            let title = [track.tags.artist, track.tags.title].compactMap { $0?.string }.joined(
                separator: " - "
            )
            if track.duration != nil || !title.isEmpty { text += "#EXTINF:\(seconds),\(title)\n" }
            text += line(for: track.location) + "\n"
        }
        return text
    }

    /// Writes the list of `tracks` to `path` atomically: until the new file is complete, an earlier one
    /// stays.
    ///
    /// Overwrites only M3U lists and empty files, so that a typing mistake cannot destroy music. Blocks: call
    /// it on a `WorkThread`. Throws `.notCached`.
    static func save(_ tracks: some Sequence<Track>, to path: String) throws(MediaError) {
        let subject = SafeText(path)
        if let reason = refusal(toReplace: path) {
            throw MediaError(.notCached, "Not overwritten", subject + reason)
        }
        do throws(SystemError) {
            try WholeFile.replace(path, with: text(for: tracks).utf8, mode: 0o666)
        } catch {
            throw MediaError(.notCached, subject, SafeText("can't write the playlist: \(error.reason)"))
        }
    }

    /// The reason why `path` is not overwritten; `nil` if it does not exist, or is an empty file or a list
    /// that starts with `#EXTM3U`, as lists written here do.
    private static func refusal(toReplace path: String) -> SafeText? {
        var status = stat()
        guard stat(FileName.cString(path), &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFDIR { return " is a folder; add a file name" }
        let mark = Array("#EXTM3U".utf8)
        guard status.st_mode & S_IFMT == S_IFREG,
            let start = try? LocalFile.read(path, limit: mark.count, isWhole: false),
            start.isEmpty || start == mark
        else { return " is not a playlist" }
        return nil
    }

    /// The line for `location`. A path that a parser would not read back unchanged is written as a `file`
    /// URL.
    private static func line(for location: ResourceLocation) -> String {
        switch location {
        case .web(let url): return url.requestString
        case .file(let path):
            let isPlain =
                FileName.isUTF8(path) && path.hasPrefix("/") && !path.hasSuffix(" ")
                && !path.utf8.contains { $0 < 0x20 }
            return isPlain ? path : FileName.url(of: path)
        }
    }
}
