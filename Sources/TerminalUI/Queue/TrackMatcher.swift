internal import Media

/// Matches tracks with a typed text: each word must occur in the title, artist, album or address, in any
/// case.
///
/// Fast enough for long queues: bytes are compared in place, and only texts compared with non-ASCII words are
/// copied.
struct TrackMatcher: Sendable, Equatable {
    private struct Word: Sendable, Equatable {
        var bytes: [UInt8]
        var isASCII: Bool
    }

    private let words: [Word]
    /// The played state that `played:yes` or `played:no` asks for; `nil` without such a word.
    private let isPlayed: Bool?

    private static let playedWords: [Substring: Bool] = ["played:yes": true, "played:no": false]

    /// A text of only blanks matches every track.
    init(_ text: String) {
        let all = text.lowercased().split(whereSeparator: \.isWhitespace)
        isPlayed = all.lazy.compactMap { Self.playedWords[$0] }.last
        words = all.filter { Self.playedWords[$0] == nil }.map { word in
            Word(bytes: Array(word.utf8), isASCII: word.utf8.allSatisfy { $0 < 0x80 })
        }
    }

    func matches(_ track: Track, facts: TrackFacts?) -> Bool {
        // Only episodes are played or not.
        if let isPlayed, track.episode == nil || track.isPlayed != isPlayed { return false }
        return words.allSatisfy { word in
            occurs(word, in: track.tags) || facts.map { occurs(word, in: $0.tags) } == true
                || occurs(word, in: track.location)
        }
    }

    /// Matches any other text.
    func matches(_ text: String) -> Bool { words.allSatisfy { occurs($0, in: text) } }

    private func occurs(_ word: Word, in tags: TrackTags) -> Bool {
        occurs(word, in: tags.title?.string) || occurs(word, in: tags.artist?.string)
            || occurs(word, in: tags.album?.string)
    }

    private func occurs(_ word: Word, in location: ResourceLocation) -> Bool {
        switch location {
        case .file(let path): occurs(word, in: path)
        case .web(let url):
            occurs(word, in: url.host) || occurs(word, in: url.path)
                || (url.path.utf8.contains(UInt8(ascii: "%")) && occurs(word, in: url.fileName))
        }
    }

    private func occurs(_ word: Word, in text: String?) -> Bool {
        guard var text else { return false }
        if !word.isASCII { text = text.lowercased() }
        return text.withUTF8 { Self.contains($0, word.bytes) }
    }

    /// A plain loop, because calling a closure for each byte would take most of the time.
    private static func contains(_ text: UnsafeBufferPointer<UInt8>, _ word: [UInt8]) -> Bool {
        guard let first = word.first, text.count >= word.count else { return word.isEmpty }
        var start = 0
        while start <= text.count - word.count {
            if lowercased(text[start]) == first {
                var length = 1
                while length < word.count, lowercased(text[start + length]) == word[length] { length += 1 }
                if length == word.count { return true }
            }
            start += 1
        }
        return false
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }
}
