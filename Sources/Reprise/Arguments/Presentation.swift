/// How a session is shown.
enum Presentation: Sendable, Equatable {
    /// The screen of a terminal.
    case screen
    /// One JSON object per event.
    case json
    /// One line of words per event.
    case plain

    /// Chooses by what was asked for and by what there is; the samples of `raw:-` leave no screen.
    ///
    /// `canShowScreen` is only asked where a screen would be taken.
    init(options: Options, canShowScreen: @autoclosure () -> Bool) {
        if options.json {
            self = .json
        } else if options.headless || options.plain || options.writesSamplesToOutput || !canShowScreen() {
            self = .plain
        } else {
            self = .screen
        }
    }
}
