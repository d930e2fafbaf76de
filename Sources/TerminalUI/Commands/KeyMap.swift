package import Media

/// The commands that keys run, and the help for each.
package struct KeyMap: Sendable {
    package struct Binding: Sendable {
        package var keys: [Key]
        package var command: UICommand
        /// One line for the help, in the imperative.
        package var help: SafeText
    }

    /// The keys of the command table, which most terminal players share (cmus, mpv, rmpc).
    package static let standard = KeyMap(
        CommandTable.rows.flatMap { row in
            row.keyUses.compactMap { use in
                row.command(use.argument).map { Binding(keys: use.keys, command: $0, help: use.help) }
            }
        }
    )

    /// In the order of the help.
    package let bindings: [Binding]
    private let commands: [Key: UICommand]

    private init(_ bindings: [Binding]) {
        self.bindings = bindings
        var commands: [Key: UICommand] = [:]
        for binding in bindings {
            for key in binding.keys { commands[key] = binding.command }
        }
        self.commands = commands
    }

    package func command(for key: Key) -> UICommand? { commands[key] }

    /// The name of the first key of `command`; `nil` if it has none.
    package func name(of command: UICommand) -> SafeText? {
        bindings.first { $0.command == command }?.keys.first?.name
    }

    /// This map with one key rebound; a `nil` command unbinds it.
    ///
    /// The key joins the other keys of its command in the help. A command without other keys has its own line
    /// there.
    package func binding(_ key: Key, to command: UICommand?) -> KeyMap {
        var bindings = bindings
        for place in bindings.indices { bindings[place].keys.removeAll { $0 == key } }
        if let command {
            if let place = bindings.firstIndex(where: { $0.command == command }) {
                bindings[place].keys.append(key)
            } else {
                bindings.append(Binding(keys: [key], command: command, help: SafeText(command.line)))
            }
        }
        return KeyMap(bindings.filter { !$0.keys.isEmpty })
    }
}
