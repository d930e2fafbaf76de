import Glibc
import Media
import Settings

/// The listener's configuration file, checked whole before anything of it is used.
struct Configuration: Sendable {
    var file: SettingsFile
    /// What it makes of keys and colours.
    var screen = ScreenSettings()

    /// `$XDG_CONFIG_HOME/reprise/config.toml`, else the one in `.config` at home; nil where there is no home.
    static func path() -> String? { BasePaths.configurationFolder().map { $0 + "/config.toml" } }

    /// Reads the file at `path`. One that is not there says nothing.
    ///
    /// Throws a refusal with file and line for whatever would be refused on the command line too.
    static func read(_ path: String?) throws(UsageError) -> Configuration {
        guard let path, access(path, F_OK) == 0 else { return Configuration(file: SettingsFile(name: "")) }
        let text: String
        do {
            text = try TextFile.read(path)
        } catch {
            throw UsageError(error.description)
        }
        return try parse(text, name: path)
    }

    static func parse(_ text: String, name: String) throws(UsageError) -> Configuration {
        let file: SettingsFile
        do {
            file = try SettingsFile(parsing: text, name: name, schema: .reprise)
        } catch {
            throw UsageError(error.description)
        }
        for entry in file.entries { try check(entry, of: file) }
        return Configuration(file: file, screen: try ScreenSettings(file))
    }

    /// `arguments` with those of the file that its command takes put before them: what is typed comes later, and
    /// wins.
    func extending(_ arguments: [String]) -> [String] {
        let isTaken = SettingsSchema.settingsTaken(by: arguments)
        let own = file.entries.filter { isTaken($0.setting) }.flatMap(\.arguments)
        guard arguments.first == "cache" else { return own + arguments }
        let typed = CacheCommands.commandFirst(Array(arguments.dropFirst()))
        guard let name = typed.first, !own.isEmpty else { return arguments }
        return ["cache", name] + own + typed.dropFirst()
    }

    /// What holds of every setting with these `arguments`, a line each: name, value, who says so.
    func lines(_ arguments: [String], style: TextStyle) -> [String] {
        let table = TextTable(
            columns: [
                .init(title: "setting"), .init(title: "value", most: 40), .init(title: "from"),
            ],
            rows: EffectiveSetting.all(of: .reprise, file: file, arguments: arguments).map { setting in
                [SafeText(setting.name), Self.shown(setting), Self.origin(setting)]
            }
                + screen.rows(file).map { row in
                    [
                        SafeText(row.name), SafeText(row.value),
                        row.line.map { SafeText("\(file.name):\($0)") } ?? "default",
                    ]
                }
        )
        return table.lines(width: style.columns)
    }

    /// Header fields may be secrets: only their names are shown.
    private static func shown(_ setting: EffectiveSetting) -> SafeText {
        guard setting.name == "network.header" else { return SafeText(setting.text) }
        let fields = setting.text.split(separator: ", ").map { field in
            field.hasPrefix("@") ? String(field) : field.prefix { $0 != ":" } + ": …"
        }
        return SafeText(fields.joined(separator: ", "))
    }

    private static func origin(_ setting: EffectiveSetting) -> SafeText {
        switch setting.origin {
        case .fallback: "default"
        case .commandLine: "command line"
        case .file(let name, let line): SafeText("\(name):\(line)")
        }
    }

    /// Each setting alone is a command line of its own.
    private static func check(_ entry: SettingsFile.Entry, of file: SettingsFile) throws(UsageError) {
        guard !entry.arguments.isEmpty else { return }
        do {
            _ = try Invocation.parse(entry.arguments, defaultCacheFolder: { nil })
        } catch {
            let name = SafeText(entry.setting.name)
            throw UsageError(
                SettingsFile.Refusal(file.name, line: entry.line, name + " is refused: " + error.message)
                    .description
            )
        }
    }
}
