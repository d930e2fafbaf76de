/// How a session is shown.
enum Presentation: Sendable, Equatable {
    /// The screen of a terminal.
    case screen
    /// One JSON object per event.
    case json
    /// One line of words per event.
    case plain

    /// What the surroundings offer.
    struct Surroundings: Sendable, Equatable {
        var isOutputTerminal: Bool
        /// The value of `TERM`; nil when it is unset.
        var terminalType: String?
    }

    /// Chooses by what was asked for and by what there is; the samples of `raw:-` leave no screen.
    init(options: Options, surroundings: Surroundings) {
        if options.json {
            self = .json
        } else if options.headless || options.plain || options.writesSamplesToOutput
            || !surroundings.isOutputTerminal || !Self.hasScreen(surroundings.terminalType)
        {
            self = .plain
        } else {
            self = .screen
        }
    }

    /// Terminals that say of themselves that they cannot move the cursor have no screen.
    private static func hasScreen(_ terminalType: String?) -> Bool {
        switch terminalType {
        case nil, "", "dumb", "unknown": false
        default: true
        }
    }
}
