package import Media

/// A command that a key runs or a line names.
///
/// `CommandTable` has the name, the syntax, the keys and the help of each.
package enum UICommand: Sendable, Equatable {
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
    /// Shows or hides the spectrum and the level meters.
    case toggleSound
    /// Opens the command line with this text in it.
    case openCommandLine(String)
    case toggleHelp
    /// Closes what was opened last: a view, a filter, the marks.
    case back
    case redraw

    /// The reason, worded for the user, why a line is not a command.
    package struct ParseError: Error, Equatable, CustomStringConvertible {
        package var message: SafeText
        /// `true` if no command has this name, so that a list of all commands would help.
        package var isUnknownName = false
        package var description: String { message.string }
    }

    /// Parses one line: typed after `:`, bound to a key in the configuration, or sent on standard input.
    ///
    /// The first word is the name; the rest of the line, without the blanks around it, is the argument.
    package init(parsing line: some StringProtocol) throws(ParseError) {
        let words = String(line).split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard let name = words.first.map({ String($0) }) else {
            throw ParseError(message: "An empty line is no command")
        }
        guard let row = CommandTable.row(named: name) else {
            throw ParseError(message: SafeText("Unknown command \"\(name)\""), isUnknownName: true)
        }
        guard let command = row.command(words.count > 1 ? Self.trimmed(words[1]) : "") else {
            throw ParseError(message: row.usage)
        }
        self = command
    }

    /// The command as it is typed; `init(parsing:)` parses it back.
    package var line: String {
        let argument = row.argument(of: self) ?? ""
        return argument.isEmpty ? row.name : row.name + " " + argument
    }

    /// The command's row in the table.
    var row: CommandRow {
        guard let row = CommandTable.rows.first(where: { $0.argument(of: self) != nil }) else {
            preconditionFailure("every command has a row in the table")
        }
        return row
    }

    /// The error for a command that cannot be run where it was entered.
    package var needsScreenMessage: SafeText {
        SafeText(row.name.prefix(1).uppercased() + row.name.dropFirst() + " needs the full-screen mode")
    }

    /// The player's part of the command; `nil` if it acts on a screen or on a selection.
    package var withoutScreen: PlayerCommand? {
        if case .player(let command) = self { command } else { nil }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
