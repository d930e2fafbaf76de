import Glibc
package import Media
import System

/// Writes M3U8 lists.
///
/// Locations are absolute, so that a list can be moved. User names and passwords of URLs
/// are left out: they belong to the command line or to `~/.netrc`, and lists are passed on. A query
/// stays, since without it the URL names something else.
package enum M3UWriter {
    /// The list of `tracks`, which `Playlist` reads back to the same locations.
    package static func text(for tracks: some Sequence<Track>) -> String {
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

    /// Writes the list of `tracks` to `path`, whole or not at all: what was there stays until then.
    ///
    /// Only a list, or an empty file, is replaced: music and other files stay as they are.
    ///
    /// Blocks: to be called on a `WorkThread`. Throws `.notKept`.
    package static func save(_ tracks: some Sequence<Track>, to path: String) throws(MediaError) {
        let subject = SafeText(path)
        guard isReplaceable(path) else {
            throw MediaError(
                .notKept,
                subject,
                "the list cannot be written: a file that is no M3U list is there; give another name"
            )
        }
        do throws(SystemError) {
            try WholeFile.replace(path, with: text(for: tracks).utf8, mode: 0o666)
        } catch {
            throw MediaError(.notKept, subject, SafeText("the list cannot be written: \(error.reason)"))
        }
    }

    /// Whether nothing is lost when `path` becomes a list: nothing is there, or a list that begins as ours do.
    private static func isReplaceable(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return true }
        guard status.st_mode & S_IFMT == S_IFREG else { return false }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let mark = Array("#EXTM3U".utf8)
        guard let start = try? WholeFile.read(descriptor, limit: mark.count) else { return false }
        return start.isEmpty || start == mark
    }

    /// A path that would not survive as a line of its own is written as a `file` URL.
    private static func line(for location: ResourceLocation) -> String {
        switch location {
        case .web(let url): return url.requestString
        case .file(let path):
            let bytes = path.utf8
            let hasControl = bytes.contains { $0 < 0x20 }
            guard hasControl || bytes.last == 0x20 || bytes.first != UInt8(ascii: "/") else { return path }
            // A percent sign of the name itself must not look like an escape.
            let literal = path.split(separator: "%", omittingEmptySubsequences: false).joined(
                separator: "%25"
            )
            return "file://" + PercentEncoding.normalized(literal, keeping: .path)
        }
    }
}
