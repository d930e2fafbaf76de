import Media
import Settings
import TerminalUI

/// What the tables `[keys]` and `[colors]` make of the screen.
struct ScreenSettings: Sendable {
    var keyMap: KeyMap { ownKeyMap ?? .standard }
    var colors: [Style: ColorChoice] = [:]

    /// Nil where the file binds no key. The standard map is only made where there is a screen to read keys for.
    private var ownKeyMap: KeyMap?

    static let keyTable = "keys"
    static let colorTable = "colors"

    init() {}

    /// Checks each line of the two tables; throws the first that is wrong, with file and line.
    init(_ file: SettingsFile) throws(UsageError) {
        var boundAt: [Key: Int] = [:]
        for pair in file.pairs {
            do throws(Refusal) {
                guard pair.table == Self.keyTable else {
                    try take(color: pair)
                    continue
                }
                let key = try Self.key(pair.name)
                if let line = boundAt[key] {
                    throw Refusal(reason: "is bound in line \(line) already; a key can do one thing")
                }
                boundAt[key] = pair.line
                ownKeyMap = keyMap.binding(key, to: try Self.command(pair.value))
            } catch {
                let name = SafeText(pair.table + "." + pair.name)
                throw UsageError(
                    SettingsFile.Refusal(file.name, line: pair.line, name + " " + SafeText(error.reason))
                        .description
                )
            }
        }
    }

    private struct Refusal: Error {
        var reason: String
    }

    private mutating func take(color pair: SettingsFile.Pair) throws(Refusal) {
        guard let style = Style(named: pair.name) else {
            let names = Style.allCases.map(\.name).joined(separator: ", ")
            throw Refusal(reason: "is no part of the screen; there are \(names)")
        }
        guard let color = ColorChoice(parsing: pair.value) else {
            throw Refusal(
                reason: "takes a colour: default, a name as red or bright-red, or a number, 0 to 255"
            )
        }
        colors[style] = color
    }

    private static func key(_ name: String) throws(Refusal) -> Key {
        do {
            return try Key(named: name)
        } catch {
            throw Refusal(reason: error.reason.string)
        }
    }

    /// nil for an empty line, which takes the key's command away.
    private static func command(_ line: String) throws(Refusal) -> UICommand? {
        guard !line.allSatisfy(\.isWhitespace) else { return nil }
        do {
            return try UICommand(parsing: line)
        } catch {
            throw Refusal(reason: "is refused: " + error.message.string)
        }
    }

    /// What holds of every key and of every colour that was chosen: name, value, line of the file.
    func rows(_ file: SettingsFile) -> [(name: String, value: String, line: Int?)] {
        let lines = Dictionary(file.pairs.map { ($0.table + "." + Self.canonical($0), $0.line) }) { $1 }
        var rows: [(name: String, value: String, line: Int?)] = []
        for binding in keyMap.bindings {
            for key in binding.keys {
                let name = Self.keyTable + "." + key.name.string
                rows.append((name, binding.command.line, lines[name]))
            }
        }
        for pair in file.pairs where pair.table == Self.keyTable && pair.value.allSatisfy(\.isWhitespace) {
            rows.append((Self.keyTable + "." + Self.canonical(pair), "", pair.line))
        }
        for style in Style.allCases {
            let name = Self.colorTable + "." + style.name
            let chosen = file.pairs.first { $0.table == Self.colorTable && $0.name == style.name }
            rows.append((name, chosen?.value ?? "by the terminal's colours", chosen?.line))
        }
        return rows
    }

    /// A key's name as the help has it, however the file spells it.
    private static func canonical(_ pair: SettingsFile.Pair) -> String {
        guard pair.table == keyTable else { return pair.name }
        return (try? Key(named: pair.name))?.name.string ?? pair.name
    }
}
