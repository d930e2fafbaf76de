internal import Media

/// Matches rows with a typed text: each word must occur in a text of the row, in any case and with or without
/// accents. The texts of a track are its title, or else the name of its file, its artist and album, and its
/// folder or feed. The words `played:yes` and `played:no` match episodes by their state.
///
/// Fast enough for long queues: ASCII texts are compared in place, and only others are copied.
struct TrackMatcher: Sendable, Equatable {
    /// The words, folded.
    private let words: [[UInt8]]
    /// The played state that `played:yes` or `played:no` asks for; `nil` without such a word.
    private let isPlayed: Bool?

    private static let playedWords: [Substring: Bool] = ["played:yes": true, "played:no": false]

    /// A text of only blanks matches every track.
    init(_ text: String) {
        let all = text.lowercased().split(whereSeparator: \.isWhitespace)
        isPlayed = all.lazy.compactMap { Self.playedWords[$0] }.last
        words = all.filter { Self.playedWords[$0] == nil }.map { FoldedText.fold(String($0)) }
            .filter { !$0.isEmpty }
    }

    /// Matches the row of a track in the queue.
    func matches(_ player: PlayerSnapshot, at index: Int) -> Bool {
        // Only episodes are played or not.
        if let isPlayed, player.tracks[index].episode == nil || player.tracks[index].isPlayed != isPlayed {
            return false
        }
        let names = QueueRow.names(player, at: index)
        let title = names.title ?? player.tracks[index].location.name
        return words.allSatisfy { word in
            Self.occurs(word, in: title.string)
                || names.artist.map { Self.occurs(word, in: $0.string) } == true
                || names.album.map { Self.occurs(word, in: $0.string) } == true
                || player.tracks[index].episode == nil
                    && Self.occurs(word, inFolderOf: player.tracks[index].location)
        }
    }

    /// Matches a row that shows one or two texts.
    func matches(_ text: String, _ other: String? = nil) -> Bool {
        words.allSatisfy { word in
            Self.occurs(word, in: text) || other.map { Self.occurs(word, in: $0) } == true
        }
    }

    /// Shows the words in `text`, which is drawn at `place`, as typed text.
    func highlight(in text: SafeText, at place: Range<Int>, row: Int, into buffer: inout CellBuffer) {
        // The last column of a truncated text has the ellipsis.
        let end = text.columns > place.count ? place.upperBound - 1 : place.upperBound
        for column in columns(in: text) where place.lowerBound + column < end {
            buffer.restyle(column: place.lowerBound + column, row: row, style: .prompt, ground: .match)
        }
    }

    /// The columns of `text`, counted from its first one, in which a word occurs.
    private func columns(in text: SafeText) -> [Int] {
        // The folded characters, and for each byte the columns of its character.
        var bytes: [UInt8] = []
        var places: [Range<Int>] = []
        var column = 0
        TextCluster.forEach(in: text) { cluster in
            let folded = FoldedText.fold(cluster.text)
            bytes += folded
            places += repeatElement(column..<column + cluster.width, count: folded.count)
            column += cluster.width
            return true
        }
        return words.flatMap { word in
            bytes.indices.filter { bytes[$0...].starts(with: word) }
                .flatMap { places[$0..<$0 + word.count].joined() }
        }
    }

    private static func occurs(_ word: [UInt8], in text: String) -> Bool {
        var text = text
        return text.withUTF8 { occurs(word, in: $0) }
    }

    private static func occurs(_ word: [UInt8], inFolderOf location: ResourceLocation) -> Bool {
        let isFound = location.withFolderBytes { bytes in
            bytes.isEmpty || bytes.contains(UInt8(ascii: "%")) ? nil : occurs(word, in: bytes)
        }
        return isFound ?? occurs(word, in: location.folderName.string)
    }

    private static func occurs(_ word: [UInt8], in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.contains(where: { $0 >= 0x80 }) else { return contains(bytes, word) }
        return FoldedText.fold(bytes).withUnsafeBufferPointer { contains($0, word) }
    }

    /// A plain loop, because calling a closure for each byte would take most of the time.
    private static func contains(_ text: UnsafeBufferPointer<UInt8>, _ word: [UInt8]) -> Bool {
        guard let first = word.first, text.count >= word.count else { return word.isEmpty }
        var start = 0
        while start <= text.count - word.count {
            if text[start].lowercaseLetter == first {
                var length = 1
                while length < word.count, text[start + length].lowercaseLetter == word[length] {
                    length += 1
                }
                if length == word.count { return true }
            }
            start += 1
        }
        return false
    }
}
