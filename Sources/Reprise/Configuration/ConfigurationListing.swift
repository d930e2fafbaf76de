import ArgumentParser
import FoundationEssentials
import Media
import TerminalUI

/// The declaration of a command, read from ArgumentParser's dump.
///
/// Making the dump takes several times as long as parsing a command line, so no session reads it: it serves
/// `reprise config`, the manual page and tests.
struct DeclaredCommand: Decodable {
    let commandName: String
    let abstract: String?
    let discussion: String?
    let subcommands: [DeclaredCommand]?
    private let arguments: [DeclaredOption]?

    init(_ command: any ParsableArguments.Type) {
        struct Dump: Decodable { let command: DeclaredCommand }
        do {
            self = try JSONDecoder().decode(Dump.self, from: Data(command._dumpHelp().utf8)).command
        } catch {
            preconditionFailure("the dump of ArgumentParser has another form: \(error)")
        }
    }

    /// Options and operands, in the order of the help.
    var options: [DeclaredOption] { arguments ?? [] }
}

/// The declaration of an option or operand.
struct DeclaredOption: Decodable {
    struct Name: Decodable {
        let kind: String
        let name: String
    }

    /// `flag`, `option` or `positional`.
    let kind: String
    let names: [Name]?
    let isOptional: Bool
    let isRepeating: Bool
    let valueName: String?
    let defaultValue: String?
    let abstract: String?
    let discussion: String?

    /// The long names, with their dashes.
    var longNames: [String] { (names ?? []).filter { $0.kind == "long" }.map { "--" + $0.name } }

    /// The value if the option is not given: the declared default, or else the one in the last parentheses of
    /// the help text.
    var fallback: String {
        if let defaultValue { return defaultValue }
        guard let help = abstract, help.hasSuffix(")"),
            let start = help.ranges(of: "(default: ").last?.upperBound
        else { return kind == "flag" ? "false" : "" }
        return String(help[start..<help.index(before: help.endIndex)])
    }
}

extension Configuration {
    /// The lines of `reprise config --sample`: a file that sets nothing, with every setting in a comment.
    static var sample: [String] {
        let declared = DeclaredCommand(Options.self).options
        var lines = [
            "# The configuration of Reprise. Save it as ~/.config/reprise/config.toml,",
            "# and remove the # in front of what you change. `reprise config` checks it.",
        ]
        var tables: [String] = []
        for setting in Options.settings where !tables.contains(setting.table) { tables.append(setting.table) }
        for table in tables {
            lines += ["", "[\(table)]"]
            for setting in Options.settings where setting.table == table {
                let option = declared.first { $0.longNames.contains(setting.option) }
                lines += option?.abstract.map { ["# " + $0] } ?? []
                lines.append("#\(setting.key) = \(example(of: setting, option))")
            }
        }
        let parts = ColorTable.names.joined(separator: ", ")
        return lines + [
            "", "[keys]", "# A key, and the command that it runs; with \"\" it runs none.", "#x = \"stop\"",
            "",
            "[colors]", "# \(parts)", "#title = \"bright-red\"",
        ]
    }

    /// An example value: the default, or a placeholder in capitals if the user has to choose a value.
    private static func example(of setting: Setting, _ option: DeclaredOption?) -> String {
        // The default may read `as last time, at first 100`.
        var fallback = (option?.fallback ?? "").components(separatedBy: "at first ").last ?? ""
        // A shell expands `$HOME`; the file does not.
        let isValue = try? Invocation.parse(["\(setting.option)=\(fallback)", "x"])
        if setting.kind == .value, isValue == nil || fallback.contains("$") { fallback = "" }
        switch setting.kind {
        case .flag, .toggle: return fallback == "true" ? "true" : "false"
        case .value where Int(fallback) != nil: return fallback
        case .value:
            return EventLine.quoted(fallback.isEmpty ? (option?.valueName ?? "").uppercased() : fallback)
        case .list: return "[" + EventLine.quoted((option?.valueName ?? "").uppercased()) + "]"
        }
    }

    /// The lines of `reprise config` with the typed options of `arguments`: name, value and origin of each
    /// setting.
    func listing(with arguments: [String], style: TextStyle) -> [String] {
        let declared = DeclaredCommand(Options.self).options
        let settings = Options.settings.map { row(of: $0, declared, arguments) }
        let place = Options.settings.firstIndex { $0.option == "--theme" }
        let theme = place.flatMap { try? ThemeFiles.theme(named: settings[$0][1].string) } ?? .auto
        let screen = screen.rows(pairs, theme: theme).map { row in
            [SafeText(row.name), SafeText(row.value), origin(row.line)]
        }
        let table = TextTable(
            columns: [.init(title: "setting"), .init(title: "value", most: 40), .init(title: "from")],
            rows: settings + screen
        )
        return table.lines(width: style.columns)
    }

    private func row(of setting: Setting, _ declared: [DeclaredOption], _ arguments: [String]) -> [SafeText] {
        let typed = setting.values(in: arguments)
        // The actual path, rather than the variable that the help shows.
        let fallback =
            setting.option == "--cache-dir"
            ? BasePaths.path(of: .cache)
            : declared.first { $0.longNames.contains(setting.option) }?.fallback
        let entry = entries.first { $0.setting == setting }
        let values =
            if let last = typed.last {
                setting.kind == .list ? typed : [last]
            } else {
                entry?.values ?? [fallback ?? ""]
            }
        let value = values.map { shown($0, setting) }.joined(separator: ", ")
        return [
            SafeText(setting.name), SafeText(value), typed.isEmpty ? origin(entry?.line) : "command line",
        ]
    }

    private func origin(_ line: Int?) -> SafeText { line.map { SafeText("\(name):\($0)") } ?? "default" }

    /// A header field may be a secret: only its name is shown.
    private func shown(_ value: String, _ setting: Setting) -> String {
        guard setting.option == "--header", !value.isEmpty, !value.hasPrefix("@") else { return value }
        return value.prefix { $0 != ":" } + ": …"
    }
}
