/// The meaning of a cell; only the terminal layer turns a meaning into colours and attributes.
package enum Style: UInt8, Sendable, CaseIterable {
    case normal
    /// The tab of the open view.
    case title
    /// Less important text: numbers, durations, units.
    case dim
    /// The current track.
    case playing
    /// The background of the row that the next command acts on.
    case selected
    case error
    /// A message that is not an error.
    case notice
    /// Text being typed, and what matches it.
    case prompt
    case marked
    /// The name of a group in the queue.
    case heading
    /// The current position in the bar.
    case head
    // The parts of the bar.
    case played
    case cached
    case inFlight
    case missing
    /// The lower, middle and upper parts of the spectrum and the level meters.
    case soft
    case middling
    case loud

    /// The name in the configuration: `in-flight` for `inFlight`.
    package var name: String {
        "\(self)".reduce(into: "") { name, letter in
            name += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }
}

/// The background of a cell, on which it keeps the colour of its style.
package enum Ground: UInt8, Sendable, CaseIterable {
    /// The terminal's own.
    case plain
    /// That of a marked row.
    case marked
    /// The background of the open tab, and of the row that the next command acts on.
    case selected
}

/// A colour of the terminal, as the configuration names it.
package enum ColorChoice: Sendable, Equatable {
    /// The terminal's own foreground.
    case standard
    /// 0...255; 0...15 are the named ones.
    case index(Int)

    private static let names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]

    /// The name of one of the first sixteen colours, 0...15.
    package static func name(of index: Int) -> String {
        index < 8 ? names[index] : "bright-" + names[index - 8]
    }

    /// Parses `default`, a name (`red`, `bright-red`) or a number, 0...255; `nil` for anything else.
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
