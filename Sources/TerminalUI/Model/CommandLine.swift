package import Media

/// The line behind `:` while it is typed.
package struct CommandLine: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case editing
        case cancelled
        case entered(String)
        /// The files and folders are wanted whose path begins so; `complete(_:with:)` takes them.
        case wantsPaths(String)
    }

    /// A pasted list of URLs fits; a pasted book does not.
    package static let longest = 65_536
    /// No window shows more of a line than this before or after the cursor.
    static let longestShown = 1_000

    private var characters: [Character] = []
    /// Where the next character goes, from 0.
    package private(set) var cursor = 0
    private var history: CommandHistory
    /// What `Tab` goes round while no other key comes between.
    private var choices: (start: Int, candidates: [String], place: Int?)?

    package init(_ text: String = "", history: CommandHistory = CommandHistory()) {
        self.history = history
        insert(text)
    }

    package var text: String { String(characters) }

    /// What stands before the cursor, and from it on, as far as a window can show.
    package var parts: (before: SafeText, after: SafeText) {
        (
            SafeText(String(characters[..<cursor].suffix(Self.longestShown))),
            SafeText(String(characters[cursor...].prefix(Self.longestShown)))
        )
    }

    package static func == (left: CommandLine, right: CommandLine) -> Bool {
        left.characters == right.characters && left.cursor == right.cursor && left.history == right.history
    }

    /// Applies one key; keys that mean nothing here are passed over.
    package mutating func apply(_ key: Key) -> Outcome {
        if key == .tab || key == .backTab { return complete(backwards: key == .backTab) }
        choices = nil
        switch key {
        case .character(let character): insert(String(character))
        case .enter: return .entered(text)
        case .escape, .control("c"), .control("g"): return .cancelled
        case .backspace, .control("h"):
            // Backspace in an empty line leaves it, as in vi.
            guard !characters.isEmpty else { return .cancelled }
            guard cursor > 0 else { break }
            cursor -= 1
            characters.remove(at: cursor)
        case .delete, .control("d"):
            if cursor < characters.count { characters.remove(at: cursor) }
        case .left, .control("b"): cursor = max(0, cursor - 1)
        case .right, .control("f"): cursor = min(characters.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = characters.count
        case .control("u"):
            characters.removeFirst(cursor)
            cursor = 0
        case .control("k"): characters.removeSubrange(cursor...)
        case .control("w"): removeWord()
        case .up, .control("p"): if let line = history.older(than: text) { replace(line) }
        case .down, .control("n"): if let line = history.newer() { replace(line) }
        case .control, .pageUp, .pageDown, .tab, .backTab, .function: break
        }
        return .editing
    }

    /// Puts text in at the cursor, as far as it fits; line breaks become spaces, other controls go.
    package mutating func insert(_ text: String) {
        let fitting = text.prefix(Self.longest - characters.count).compactMap { character -> Character? in
            if character.isWhitespace { return " " }
            return character.unicodeScalars.contains { $0.properties.generalCategory == .control }
                ? nil : character
        }
        characters.insert(contentsOf: fitting, at: cursor)
        cursor += fitting.count
    }

    /// The paths that begin with what `wantsPaths` named; too late after another key.
    package mutating func complete(_ word: String, with paths: [String]) {
        let completion = CommandCompletion(of: String(characters[..<cursor]))
        guard completion.source == .path(word: word) else { return }
        offer(paths.sorted(), from: completion.start)
    }

    private mutating func complete(backwards: Bool) -> Outcome {
        if var choices, choices.candidates.count > 1 {
            let count = choices.candidates.count
            let next = choices.place.map { ($0 + (backwards ? count - 1 : 1)) % count }
            choices.place = next ?? (backwards ? count - 1 : 0)
            put(choices.candidates[choices.place ?? 0], from: choices.start)
            self.choices = choices
            return .editing
        }
        let completion = CommandCompletion(of: String(characters[..<cursor]))
        switch completion.source {
        case .nothing: return .editing
        case .path(let word): return .wantsPaths(word)
        case .words(let words):
            offer(words, from: completion.start)
            return .editing
        }
    }

    /// As shells do it: first what all have in common, then one after the other.
    private mutating func offer(_ candidates: [String], from start: Int) {
        choices = nil
        guard !candidates.isEmpty else { return }
        put(CommandCompletion.commonStart(candidates), from: start)
        if candidates.count > 1 { choices = (start, candidates, nil) }
    }

    private mutating func put(_ text: String, from start: Int) {
        characters.removeSubrange(start..<cursor)
        cursor = start
        insert(text)
    }

    private mutating func replace(_ line: String) {
        characters = []
        cursor = 0
        insert(line)
    }

    private mutating func removeWord() {
        var start = cursor
        while start > 0, characters[start - 1] == " " { start -= 1 }
        while start > 0, characters[start - 1] != " " { start -= 1 }
        characters.removeSubrange(start..<cursor)
        cursor = start
    }
}
