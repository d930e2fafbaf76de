import Cache
import Media

/// The filter and order of the entries in a list. Pure.
struct EntrySelection: Sendable, Equatable {
    enum Order: String, Sendable, CaseIterable {
        /// The last played first.
        case played
        /// The largest first; those of unknown size last.
        case size
        /// The most stored bytes first.
        case stored
        /// The oldest first; those of unknown age last.
        case age
        /// Alphabetically by source.
        case source
    }

    /// Words that must all occur in the source or the shown name, in any case, with or without accents.
    var words: [String] = []
    var order = Order.played
    var isReversed = false
    var isPinnedOnly = false
    /// `true` for whole tracks only, `false` for parts only; `nil` for both.
    var isComplete: Bool?

    /// The matching `entries`, in order; equal ones are sorted by their sources.
    func applied(to entries: [CachedItem]) -> [CachedItem] {
        let words = words.map(Self.folded)
        let wanted = entries.filter { entry in
            guard !isPinnedOnly || entry.isPinned else { return false }
            guard isComplete == nil || isComplete == entry.isComplete else { return false }
            guard !words.isEmpty else { return true }
            let text = Self.folded(entry.url.string + "\n" + entry.name().string)
            return words.allSatisfy { text.contains($0) }
        }
        let ordered = wanted.sorted { isBefore($0, $1) }
        return isReversed ? ordered.reversed() : ordered
    }

    private static func folded(_ text: String) -> String {
        String(decoding: FoldedText.fold(text), as: UTF8.self)
    }

    private func isBefore(_ left: CachedItem, _ right: CachedItem) -> Bool {
        switch order {
        case .played where left.lastPlayed != right.lastPlayed: left.lastPlayed > right.lastPlayed
        case .size where left.length != right.length: (left.length ?? -1) > (right.length ?? -1)
        case .stored where left.storedBytes != right.storedBytes: left.storedBytes > right.storedBytes
        case .age where left.created != right.created:
            (left.created ?? .max) < (right.created ?? .max)
        case .played, .size, .stored, .age, .source: left.url.string < right.url.string
        }
    }
}
