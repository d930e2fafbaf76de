package import Media

/// The commands that keys run, and the help for each.
package struct KeyMap: Sendable {
    package struct Binding: Sendable {
        package var keys: [Key]
        package var entry: ParsedCommand
        package var help: SafeText
    }

    /// The keys of the command table, which most terminal players share (cmus, mpv, rmpc).
    package static let standard = KeyMap(
        CommandTable.rows.flatMap { row in
            row.keyUses.compactMap { use in
                (try? ParsedCommand(parsing: row.name + " " + use.argument)).map {
                    Binding(keys: use.keys, entry: $0, help: use.help)
                }
            }
        }
    )

    /// In the order of the help.
    package let bindings: [Binding]
    private let entries: [Key: ParsedCommand]
    /// By command, since each drawing of the screen names several.
    private let names: [UICommand: SafeText]

    private init(_ bindings: [Binding]) {
        self.bindings = bindings
        entries = Dictionary(
            uniqueKeysWithValues: bindings.flatMap { binding in binding.keys.map { ($0, binding.entry) } }
        )
        let named = bindings.compactMap { binding in
            binding.keys.first.map { (binding.entry.command, $0.name) }
        }
        names = Dictionary(named) { first, _ in first }
    }

    /// The command that `key` runs, with its row in the table.
    package func entry(for key: Key) -> ParsedCommand? { entries[key] }

    /// The name of the first key of `command`; `nil` if it has none.
    package func name(of command: UICommand) -> SafeText? { names[command] }

    /// This map with one key rebound; a `nil` entry unbinds it.
    ///
    /// The key joins the other keys of its command in the help. A command without other keys has its own line
    /// there.
    package func binding(_ key: Key, to entry: ParsedCommand?) -> KeyMap {
        var bindings = bindings
        for place in bindings.indices { bindings[place].keys.removeAll { $0 == key } }
        if let entry {
            if let place = bindings.firstIndex(where: { $0.entry.command == entry.command }) {
                bindings[place].keys.append(key)
            } else {
                bindings.append(Binding(keys: [key], entry: entry, help: SafeText(entry.line)))
            }
        }
        return KeyMap(bindings.filter { !$0.keys.isEmpty })
    }
}
