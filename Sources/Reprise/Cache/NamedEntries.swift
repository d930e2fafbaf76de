import Cache
import Glibc
import Media
import System

/// Cached tracks that the user names by a word instead of a URL, as `cache list` finds them.
struct NamedEntries {
    let command: CacheCommand
    /// The name of the command, for its messages.
    let name: SafeText

    /// The most candidates that are printed.
    static let mostCandidates = 20

    /// The cached track of `source`, a URL or a word. Prints the reason and returns `nil` if there is none, or if several
    /// match the word.
    func entry(_ source: String) async throws -> CachedEntry? {
        if let url = WebURL(source) {
            let entry = try await command.administration.info(for: url)
            if entry == nil { sayNotCached() }
            return entry
        }
        let matches = try await matches(source)
        if matches.isEmpty { sayNotCached() }
        if matches.count > 1 { sayCandidates(matches) }
        return matches.count == 1 ? matches[0] : nil
    }

    /// `sources`, with each word that only one cached track matches replaced by the track's URL. Words that match nothing
    /// stay as they are. Prints the reason and returns `nil` if several tracks match, or the URL is not known.
    func sources(_ sources: [String]) async throws -> [String]? {
        var named: [String] = []
        for source in sources {
            guard isWord(source), case let matches = try await matches(source), !matches.isEmpty else {
                named.append(source)
                continue
            }
            guard matches.count == 1 else {
                sayCandidates(matches)
                return nil
            }
            guard let url = url(of: matches[0]) else { return nil }
            named.append(url.requestString)
        }
        return named
    }

    /// The URL of `entry`; prints the reason and returns `nil` if it had a query, which is not stored.
    func url(of entry: CachedEntry) -> WebURL? {
        let url = entry.url.string.hasSuffix("…") ? nil : WebURL(entry.url.string)
        if url == nil {
            command.console.say(
                "cache " + name + ": give all of its URL; its query, a possible secret, is not stored"
            )
        }
        return url
    }

    private func isWord(_ source: String) -> Bool {
        !source.contains("://") && source != "-" && access(FileName.cString(source), F_OK) != 0
    }

    private func matches(_ word: String) async throws -> [CachedEntry] {
        // An error would name it, and it may hold a secret.
        guard !word.contains("://") else { return [] }
        return EntrySelection(words: [word]).applied(to: try await command.administration.list())
    }

    /// The source may hold a secret, so it is not repeated.
    private func sayNotCached() {
        command.console.say("cache " + name + ": that source is not cached; cache list shows what is")
    }

    private func sayCandidates(_ matches: [CachedEntry]) {
        let count = SafeText("\(matches.count)")
        command.console.say("cache " + name + ": " + count + " cached tracks match; name one by its URL:")
        for entry in matches.prefix(Self.mostCandidates) {
            let title = entry.title.map { "  " + TrackName.text($0, entry.artist) } ?? ""
            command.console.note("  " + entry.url + title)
        }
        let more = matches.count - Self.mostCandidates
        if more > 0 { command.console.note(SafeText("  and \(more) more: see cache list")) }
    }
}
