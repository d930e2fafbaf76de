package import Media

/// The one table of keys: what each does and what the help says of it.
package struct KeyMap: Sendable {
    package struct Binding: Sendable {
        package var keys: [Key]
        package var command: UICommand
        /// One line for the help, in the imperative.
        package var help: SafeText

        package init(_ keys: [Key], _ command: UICommand, _ help: SafeText) {
            self.keys = keys
            self.command = command
            self.help = help
        }
    }

    /// In the order of the help.
    package let bindings: [Binding]
    private let commands: [Key: UICommand]

    package init(_ bindings: [Binding]) {
        self.bindings = bindings
        var commands: [Key: UICommand] = [:]
        for binding in bindings {
            for key in binding.keys { commands[key] = binding.command }
        }
        self.commands = commands
    }

    package func command(for key: Key) -> UICommand? { commands[key] }

    /// What to call the first key of `command`; nil when none is bound to it.
    package func name(of command: UICommand) -> SafeText? {
        bindings.first { $0.command == command }?.keys.first?.name
    }

    /// This map with one key bound anew; nil leaves it without a command.
    ///
    /// The help says of it what it says of the command's other keys, else the command itself.
    package func binding(_ key: Key, to command: UICommand?) -> KeyMap {
        var bindings = bindings
        for place in bindings.indices { bindings[place].keys.removeAll { $0 == key } }
        if let command {
            if let place = bindings.firstIndex(where: { $0.command == command }) {
                bindings[place].keys.append(key)
            } else {
                bindings.append(Binding([key], command, SafeText(command.line)))
            }
        }
        return KeyMap(bindings.filter { !$0.keys.isEmpty })
    }
}
