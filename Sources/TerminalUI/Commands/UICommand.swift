package import Media

/// A command that a key runs or a line names.
///
/// `CommandTable` has the name, the syntax, the keys and the help of each.
package enum UICommand: Sendable, Hashable {
    case player(PlayerCommand)
    case show(ViewName)
    /// Opens the view this many tabs further on; -1 is the previous one.
    case nextView(by: Int)
    case selectBy(Int)
    /// Moves the selection down by this many screens of the list; -1 is up.
    case selectByPage(Int)
    case selectFirst
    case selectLast
    case selectCurrent
    case playSelected
    case removeSelected
    case pinSelected
    case downloadSelected
    case playedSelected
    /// Plays the selected tracks next, or after the present album.
    case playNextSelected(after: PlayPoint)
    /// Folds the group of the selected row, or unfolds it.
    case toggleFold
    /// 1 is down, -1 is up.
    case moveSelected(by: Int)
    case toggleMark
    case markAll
    case unmarkAll
    /// Searches for a text; `nil` prompts for it.
    case search(String?)
    /// 1 is forwards, -1 is backwards.
    case nextMatch(Int)
    /// Shows only the tracks that match a text; `nil` prompts for it.
    case filter(String?)
    case toggleRemainingTime
    /// Shows or hides the spectrum.
    case toggleSound
    /// Shows the screen in another theme; `nil` offers their names in a line.
    case theme(String?)
    /// Shows or hides the level meters below the spectrum, and shows that if it is hidden.
    case toggleLevels
    case openCommandLine(String)
    case toggleHelp
    /// Shows all that is known of the selected row, or closes that.
    case showFacts
    /// Closes what was opened last: a view, a filter, the marks.
    case back
    /// In Help it does what `back` does, elsewhere what `quit` does.
    case closeOrQuit
    case redraw

    /// `true` if the keys after it are the text of a line.
    var opensLine: Bool {
        switch self {
        case .search(nil), .filter(nil), .openCommandLine: true
        default: false
        }
    }
}

/// A line that names a command: typed after `:`, bound to a key in the configuration, or sent on standard
/// input.
package struct ParsedCommand: Sendable {
    package let command: UICommand
    package let row: CommandRow
    /// The line, with one blank between name and argument and none around them.
    package let line: String

    /// The reason, worded for the user, why a line is not a command.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package var message: SafeText
        /// `true` if no command has the name or a similar one, so that a list of all commands would help.
        package var isUnknownName = false
        package var description: String { message.string }
    }

    /// Parses a line: the first word is the name, the rest is the argument.
    package init(parsing line: some StringProtocol) throws(Failure) {
        let words = String(line).split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard let name = words.first.map({ String($0) }) else {
            throw Failure(message: "The command is empty")
        }
        guard let row = CommandTable.row(named: name) else {
            let hint = Spelling.hint(for: name, among: CommandTable.rows.map(\.name))
            throw Failure(
                message: SafeText("Unknown command \"\(name)\"" + hint),
                isUnknownName: hint.isEmpty
            )
        }
        var argument = words.count > 1 ? words[1].drop(while: \.isWhitespace) : ""
        while argument.last?.isWhitespace == true { argument.removeLast() }
        guard let command = row.command(String(argument)) else { throw Failure(message: row.usage) }
        self.command = command
        self.row = row
        self.line = argument.isEmpty ? name : name + " " + argument
    }
}
