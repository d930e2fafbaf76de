import Media
import TerminalUI

/// The keys and colours of the screen, with the changes of the tables `[keys]` and `[colors]` in the
/// configuration file.
struct ScreenSettings: Sendable {
    var keyMap: KeyMap { ownKeyMap ?? .standard }
    var colors = ColorTable()

    /// `nil` if the file binds no key. The standard map is only created once a screen or a terminal reads
    /// keys.
    private var ownKeyMap: KeyMap?

    private static let keyTable = "keys"
    static let colorTable = "colors"
    static let tables = [keyTable, colorTable]

    init() {}

    /// Parses the lines of the two tables. `refuse` is called with each line that sets nothing, and the
    /// reason.
    init(_ pairs: [Configuration.Pair], refuse: (Configuration.Pair, SafeText) -> Void) {
        var boundAt: [Key: Int] = [:]
        for pair in pairs {
            do {
                guard pair.table == Self.keyTable else {
                    try setColor(pair)
                    continue
                }
                let key = try Key(named: pair.name)
                if let line = boundAt[key] {
                    throw UsageError("is bound in line \(line) already; a key can do one thing")
                }
                boundAt[key] = pair.line
                // An empty line removes the key's command.
                let isEmpty = pair.value.allSatisfy(\.isWhitespace)
                ownKeyMap = keyMap.binding(key, to: isEmpty ? nil : try ParsedCommand(parsing: pair.value))
            } catch let error as Key.ParseError {
                refuse(pair, error.reason)
            } catch let error as ParsedCommand.Failure {
                refuse(pair, "can't run this: " + error.message)
            } catch {
                refuse(pair, SafeText("\(error)"))
            }
        }
    }

    private mutating func setColor(_ pair: Configuration.Pair) throws(UsageError) {
        // A wrong name is reported before a wrong colour.
        let color = ColorChoice(parsing: pair.value)
        guard colors.set(color ?? .standard, for: pair.name) else {
            let hint = Spelling.hint(for: pair.name, among: ColorTable.names)
            throw UsageError(
                "is not a part of the screen" + (hint.isEmpty ? " (reprise config lists them)" : hint)
            )
        }
        guard color != nil else {
            throw UsageError("takes default, a name such as red or bright-red, 0 to 255, or #rrggbb")
        }
    }

    /// Every key and colour with its value, and the line number of the pair that set it. The default colours
    /// are those of `theme`.
    func rows(_ pairs: [Configuration.Pair], theme: Theme) -> [(name: String, value: String, line: Int?)] {
        let lines = Dictionary(pairs.map { ($0.table + "." + Self.canonical($0), $0.line) }) { $1 }
        var rows: [(name: String, value: String, line: Int?)] = []
        for binding in keyMap.bindings {
            for key in binding.keys {
                let name = Self.keyTable + "." + key.name.string
                rows.append((name, binding.entry.line, lines[name]))
            }
        }
        for pair in pairs where pair.table == Self.keyTable && pair.value.allSatisfy(\.isWhitespace) {
            rows.append((Self.keyTable + "." + Self.canonical(pair), "", pair.line))
        }
        for part in ColorTable.names {
            let name = Self.colorTable + "." + part
            let chosen = pairs.first { $0.table == Self.colorTable && $0.name == part }
            rows.append((name, chosen?.value ?? theme.colorText(of: part), chosen?.line))
        }
        return rows
    }

    /// The key's name as spelled in the help.
    private static func canonical(_ pair: Configuration.Pair) -> String {
        guard pair.table == keyTable else { return pair.name }
        return (try? Key(named: pair.name))?.name.string ?? pair.name
    }
}
