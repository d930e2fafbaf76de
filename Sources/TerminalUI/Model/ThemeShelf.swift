internal import Media

/// The themes that are known, and the one that was chosen. Pure.
///
/// Those with a file are read each time that they are asked for, so a file that was just edited is shown.
struct ThemeShelf: Sendable {
    private var chosen: Theme
    private var known = Theme.plain.map { ThemeChoice($0) }
    /// The name that the user chose before the themes were read.
    private var wanted: String?

    init(_ theme: Theme) { chosen = theme }

    /// The chosen theme, or the one that `line` names before it is entered.
    func shown(while line: CommandLine?) -> Theme {
        guard let parts = line?.parts, parts.before.string.hasPrefix("theme "),
            case .theme(let name?)? = try? ParsedCommand(parsing: (parts.before + parts.after).string).command
        else { return chosen }
        return choice(name)?.theme ?? chosen
    }

    /// Shows the theme called `name`, at once if it is known. Nothing is refused before the themes are read.
    mutating func choose(_ name: String) -> CommandAnswer? {
        wanted = name
        return choice(name)?.theme.map { use($0) }
    }

    /// Replaces the known themes; the answer to the last choice, if it waited for them.
    mutating func receive(_ choices: [ThemeChoice]) -> CommandAnswer? {
        known = choices
        guard let name = wanted else { return nil }
        wanted = nil
        guard let choice = choice(name) else {
            let hint = Spelling.hint(for: name, among: choices.map(\.name))
            return .error(SafeText("No theme is called \"\(name)\"" + hint) + " (Tab lists them)")
        }
        return choice.theme.map { use($0) } ?? .error(choice.problem)
    }

    private func choice(_ name: String) -> ThemeChoice? { known.first { $0.name == name } }

    private mutating func use(_ theme: Theme) -> CommandAnswer {
        chosen = theme
        return .notice(SafeText("Theme " + theme.name))
    }
}
