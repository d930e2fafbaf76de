package import Media

extension Key {
    /// Why a text names no key, worded for the listener.
    package struct ParseError: Error, Equatable {
        package var reason: SafeText
    }

    /// The key that `name` calls as the help does: one character, `Space`, `Ctrl-L`, `PgUp`, `F5`; words in
    /// upper or lower case.
    package init(named name: String) throws(ParseError) {
        if name.count == 1, let character = name.first, character != " " {
            guard !character.isWhitespace, SafeText(name).string == name else {
                throw ParseError(reason: "is no key")
            }
            self = .character(character)
            return
        }
        let word = name.lowercased()
        if let key = Self.named[word] {
            self = key
        } else if word.hasPrefix("ctrl-"), word.count == 6, let letter = word.last {
            self = try Self.controlKey(letter)
        } else if word.first == "f", let number = Int(word.dropFirst()), (1...12).contains(number) {
            self = .function(number)
        } else {
            throw ParseError(
                reason: "is no key; keys are one character, Space, Enter, Ctrl-L, PgUp, F5 and so on"
            )
        }
    }

    private static func controlKey(_ letter: Character) throws(ParseError) -> Key {
        switch letter {
        // Terminals send the same code for both.
        case "i": return .tab
        case "m", "j": return .enter
        case "h": return .backspace
        case "c", "z", "s", "q":
            throw ParseError(reason: "belongs to the terminal, which never hands it on")
        case "a"..."z": return .control(letter)
        default: throw ParseError(reason: "is no key; Ctrl- takes a letter")
        }
    }

    private static let named: [String: Key] = Dictionary(
        uniqueKeysWithValues: [
            .character(" "), .enter, .escape, .backspace, .delete, .up, .down, .left, .right, .pageUp,
            .pageDown, .home, .end, .tab, .backTab,
        ].map { (key: Key) in (key.name.string.lowercased(), key) }
    )
}
