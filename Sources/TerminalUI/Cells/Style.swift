/// The meaning of a cell; only the terminal layer turns a meaning into colours and attributes.
package enum Style: UInt8, Sendable, CaseIterable {
    case normal
    /// The tab of the open view.
    case title
    /// Facts beside a title: the artist, durations, units.
    case dim
    /// Text that matters least: titles of columns, words of hints, names of files without tags.
    case faint
    /// The current track.
    case playing
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
    /// The parts of the spectrum and the level meters, from below.
    case soft
    case middling
    case loud
    case loudest

    /// The name in the configuration: `in-flight` for `inFlight`.
    var name: String {
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
    /// That of letters that a search or a filter has found.
    case match

    /// The name in the configuration.
    var name: String {
        switch self {
        case .plain: "background"
        case .marked: "marked-row"
        case .selected: "selected"
        case .match: "match"
        }
    }
}

/// The user's own colours, of text by its style and of what is behind it.
package struct ColorTable: Sendable, Equatable {
    var inks: [Style: ColorChoice] = [:]
    var papers: [Ground: ColorChoice] = [:]

    package init() {}

    /// The names of the parts that have a colour, as in the configuration.
    package static let names = Style.allCases.map(\.name) + Ground.allCases.map(\.name)

    /// Sets the colour of the part called `name`; `false` if there is no such part.
    package mutating func set(_ color: ColorChoice, for name: String) -> Bool {
        if let style = Style.allCases.first(where: { $0.name == name }) {
            inks[style] = color
        } else if let ground = Ground.allCases.first(where: { $0.name == name }) {
            papers[ground] = color
        } else {
            return false
        }
        return true
    }
}
