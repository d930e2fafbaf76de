package import Media

/// The line behind `:` while it is typed.
package struct CommandLine: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case editing
        case cancelled
        case entered(String)
    }

    /// A pasted URL fits many times; a pasted book does not.
    package static let longest = 4_096

    private var characters: [Character] = []
    /// Where the next character goes, from 0.
    package private(set) var cursor = 0

    package init() {}

    package var text: String { String(characters) }

    /// What stands before the cursor, and from it on.
    package var parts: (before: SafeText, after: SafeText) {
        (SafeText(String(characters[..<cursor])), SafeText(String(characters[cursor...])))
    }

    /// Applies one key; keys that mean nothing here are passed over.
    package mutating func apply(_ key: Key) -> Outcome {
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
        case .control, .up, .down, .pageUp, .pageDown: break
        }
        return .editing
    }

    /// Puts text in at the cursor, as far as it fits.
    package mutating func insert(_ text: String) {
        let fitting = text.prefix(Self.longest - characters.count)
        characters.insert(contentsOf: fitting, at: cursor)
        cursor += fitting.count
    }

    private mutating func removeWord() {
        var start = cursor
        while start > 0, characters[start - 1] == " " { start -= 1 }
        while start > 0, characters[start - 1] != " " { start -= 1 }
        characters.removeSubrange(start..<cursor)
        cursor = start
    }
}
