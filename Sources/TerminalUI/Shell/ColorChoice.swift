/// A colour of the terminal, as the configuration names it.
package enum ColorChoice: Sendable, Equatable {
    /// The terminal's own foreground.
    case standard
    /// 0...255; 0...15 are the named ones.
    case index(Int)

    private static let names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]

    /// Parses `default`, a name (`red`, `bright-red`) or a number, 0...255; nil for anything else.
    package init?(parsing text: String) {
        let word = text.lowercased()
        if word == "default" {
            self = .standard
        } else if let number = Int(word), (0...255).contains(number) {
            self = .index(number)
        } else if let place = Self.names.firstIndex(of: word) {
            self = .index(place)
        } else if word.hasPrefix("bright-"), let place = Self.names.firstIndex(of: String(word.dropFirst(7)))
        {
            self = .index(8 + place)
        } else {
            return nil
        }
    }
}

extension Style {
    /// What the configuration calls it: `in-flight` for `inFlight`.
    package var name: String {
        "\(self)".reduce(into: "") { name, letter in
            name += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }

    /// The style that the configuration calls so; nil for none.
    package init?(named name: String) {
        guard let style = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = style
    }
}
