import Cache
import Glibc
import Media
import System

/// Cached tracks that the user names by a word instead of a URL, as `cache list` finds them.
struct NamedEntries {
    let command: CacheCommand
    /// The name of the command, for its messages.
    let name: SafeText

    static let mostCandidates = 20

    /// The cached track of `source`, a URL or a word. Prints the reason and returns `nil` if there is none,
    /// or if several match the word.
    func entry(_ source: String) async throws -> CachedItem? {
        var found: [CachedItem] = []
        if let url = WebURL(source) {
            if let entry = try await command.administration.info(for: url) { found = [entry] }
        } else {
            found = try await matches(source)
        }
        // The source may hold a secret, so it is not repeated.
        if found.isEmpty { say("that source is not cached; cache list shows what is") }
        if found.count > 1 { sayCandidates(found) }
        return found.count == 1 ? found[0] : nil
    }

    /// Divides `sources` into the cached tracks that words name, and the others, in order.
    ///
    /// A word that matches nothing is one of the others. A word that names a list is replaced by the URL of
    /// the list, which stands for its tracks; with `byURL`, so is a word that names a track. Prints the
    /// reason and returns `nil` if several tracks match a word, or if the URL to replace it is not known.
    func divided(
        _ sources: [String],
        byURL: Bool = false
    ) async throws -> (entries: [CachedItem], others: [String])? {
        var entries: [CachedItem] = []
        var others: [String] = []
        for source in sources {
            guard isWord(source), case let matches = try await matches(source), let entry = matches.first
            else {
                others.append(source)
                continue
            }
            guard matches.count == 1 else {
                sayCandidates(matches)
                return nil
            }
            guard byURL || entry.isList else {
                entries.append(entry)
                continue
            }
            guard !entry.url.string.hasSuffix("…") else {
                say("give all of its URL; its query, a possible secret, is not stored")
                return nil
            }
            others.append(entry.url.string)
        }
        return (entries, others)
    }

    private func isWord(_ source: String) -> Bool {
        !source.contains("://") && source != "-" && access(FileName.cString(source), F_OK) != 0
    }

    private func matches(_ word: String) async throws -> [CachedItem] {
        // An error would name it, and it may hold a secret.
        guard !word.contains("://") else { return [] }
        return EntrySelection(words: [word]).applied(to: try await command.administration.list())
    }

    private func say(_ message: SafeText) { command.console.say("cache " + name + ": " + message) }

    private func sayCandidates(_ matches: [CachedItem]) {
        say(SafeText("\(matches.count)") + " cached tracks match; name one by its URL:")
        for entry in matches.prefix(Self.mostCandidates) {
            let title = entry.tags.title.map { "  " + TrackName.text($0, entry.tags.artist) } ?? ""
            command.console.note("  " + entry.url + title)
        }
        let more = matches.count - Self.mostCandidates
        if more > 0 { command.console.note(SafeText("  and \(more) more: see cache list")) }
    }
}
