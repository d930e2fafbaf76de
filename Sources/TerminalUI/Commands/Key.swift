package import Media

/// One key press, after the bytes of an escape sequence were combined. A literal is the key of a character.
package enum Key: Hashable, Sendable, ExpressibleByExtendedGraphemeClusterLiteral {
    case character(Character)
    /// Control and a letter, in lower case.
    case control(Character)
    case enter
    case escape
    case backspace
    case delete
    case up
    case down
    case left
    case right
    case pageUp
    case pageDown
    case home
    case end
    case tab
    case backTab
    /// 1...12.
    case function(Int)

    package init(extendedGraphemeClusterLiteral character: Character) { self = .character(character) }

    private static let names: [Key: SafeText] = [
        " ": "Space", .enter: "Enter", .escape: "Esc", .backspace: "Backspace", .delete: "Del", .up: "Up",
        .down: "Down", .left: "Left", .right: "Right", .pageUp: "PgUp", .pageDown: "PgDn", .home: "Home",
        .end: "End", .tab: "Tab", .backTab: "Shift-Tab",
    ]

    private static let named = Dictionary(
        uniqueKeysWithValues: names.map { ($0.value.string.lowercased(), $0.key) }
    )

    /// The key's name in the help and in the configuration.
    package var name: SafeText {
        switch self {
        case .control(let letter): SafeText("Ctrl-\(letter.uppercased())")
        case .function(let number): SafeText("F\(number)")
        case .character(let character): Self.names[self] ?? SafeText(String(character))
        default: Self.names[self] ?? ""
        }
    }

    /// The reason, worded for the user, why a text does not name a key.
    package struct ParseError: Error, Equatable {
        package var reason: SafeText
    }

    /// Parses a name: one character, `Space`, `Ctrl-L`, `PgUp`, `F5`. Case matters only for one character.
    package init(named name: String) throws(ParseError) {
        let word = name.lowercased()
        if name.count == 1, let character = name.first, !character.isWhitespace, SafeText(name).string == name
        {
            self = .character(character)
        } else if let key = Self.named[word] {
            self = key
        } else if word.hasPrefix("ctrl-"), word.count == 6, let letter = word.last {
            self = try Self.controlKey(letter)
        } else if word.first == "f", let number = Int(word.dropFirst()), (1...12).contains(number) {
            self = .function(number)
        } else {
            throw ParseError(
                reason: "is not a key; keys are one character, Space, Enter, Ctrl-L, PgUp, F5 and so on"
            )
        }
    }

    private static func controlKey(_ letter: Character) throws(ParseError) -> Key {
        switch letter {
        // Terminals send one code for both names.
        case "i": return .tab
        case "m", "j": return .enter
        case "h": return .backspace
        case "c", "z", "s", "q": throw ParseError(reason: "can't be bound: the terminal handles it itself")
        case "a"..."z": return .control(letter)
        default: throw ParseError(reason: "is not a key; Ctrl- takes a letter")
        }
    }
}
