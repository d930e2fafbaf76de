/// How a session is shown.
enum Presentation: Sendable, Equatable {
    /// The screen of a terminal.
    case screen
    /// Sentences for people, one line each, and the screen's keys where a terminal gives them.
    case plain
    /// One JSON object per event.
    case json
    /// Each event as a line of its name and fields.
    case words

    /// What there is to show a session on.
    struct Surroundings {
        var canShowScreen: () -> Bool
        var isTerminal: () -> Bool
    }

    /// Chooses by what was asked for and by what there is; the samples of `raw:-` leave neither screen nor sentences.
    ///
    /// The surroundings are only asked where it matters.
    init(options: Options, surroundings: Surroundings) {
        if options.json {
            self = .json
        } else if options.headless || options.writesSamplesToOutput {
            self = .words
        } else if options.plain {
            self = .plain
        } else if surroundings.canShowScreen() {
            self = .screen
        } else {
            self = surroundings.isTerminal() ? .plain : .words
        }
    }
}
