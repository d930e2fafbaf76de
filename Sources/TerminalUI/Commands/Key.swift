package import Media

/// One key press, after the bytes of an escape sequence were combined.
package enum Key: Hashable, Sendable {
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

    /// The key's name in the help and in the configuration.
    package var name: SafeText {
        switch self {
        case .character(" "): "Space"
        case .character(let character): SafeText(String(character))
        case .control(let letter): SafeText("Ctrl-\(letter.uppercased())")
        case .enter: "Enter"
        case .escape: "Esc"
        case .backspace: "Backspace"
        case .delete: "Del"
        case .up: "Up"
        case .down: "Down"
        case .left: "Left"
        case .right: "Right"
        case .pageUp: "PgUp"
        case .pageDown: "PgDn"
        case .home: "Home"
        case .end: "End"
        case .tab: "Tab"
        case .backTab: "Shift-Tab"
        case .function(let number): SafeText("F\(number)")
        }
    }

    /// The reason, worded for the user, why a text does not name a key.
    package struct ParseError: Error, Equatable {
        package var reason: SafeText
    }

    /// Parses a name: one character, `Space`, `Ctrl-L`, `PgUp`, `F5`. Case matters only for one character.
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
        // Terminals send one code for both names.
        case "i": return .tab
        case "m", "j": return .enter
        case "h": return .backspace
        case "c", "z", "s", "q":
            throw ParseError(reason: "cannot be bound: the terminal handles it itself")
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
