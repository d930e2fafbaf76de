package import Media

/// One command: its name, its argument, the keys bound to it and the help for each.
package struct CommandRow: Sendable {
    /// The modes in which a command has an effect.
    package enum Reach: Sendable {
        /// Standard input and plain mode. The full screen always shows what the command prints, so on it the
        /// command answers with one line.
        case lines
        case everywhere
        /// Plain mode and the full screen, the modes in which keys run commands.
        case keys
        /// The full screen only.
        case screen
    }

    /// The kind of argument, for completion.
    package enum Argument: Sendable, Equatable {
        case none
        /// One of these words, or something that cannot be completed.
        case words([String])
        /// A file or folder.
        case path
        /// The name of a theme.
        case theme
        /// The name of a sound device.
        case device
        /// A number, a time or free text.
        case other
    }

    /// Keys that run the command with one particular argument.
    package struct KeyUse: Sendable {
        package let keys: [Key]
        /// One line for the help, in the imperative.
        package let help: SafeText
        package let argument: String

        init(_ keys: [Key], _ help: SafeText, _ argument: String = "") {
            self.keys = keys
            self.help = help
            self.argument = argument
        }
    }

    package let name: String
    /// The argument as the help shows it: `N`, `M:SS`; empty if there is none.
    package let syntax: String
    package let help: SafeText
    package let reach: Reach
    package let completion: Argument
    package let keyUses: [KeyUse]
    /// The error for an argument that the command does not accept.
    package let usage: SafeText
    /// The command with an argument; `nil` for a wrong argument.
    let command: @Sendable (_ argument: String) -> UICommand?

    /// A command with an argument, which may be optional.
    init(
        _ name: String,
        _ syntax: String,
        _ help: SafeText,
        reach: Reach = .everywhere,
        completion: Argument = .other,
        usage: String,
        keys: [KeyUse] = [],
        command: @escaping @Sendable (_ argument: String) -> UICommand?
    ) {
        self.name = name
        self.syntax = syntax
        self.help = help
        self.reach = reach
        self.completion = completion
        self.command = command
        keyUses = keys
        self.usage = SafeText("\(name) takes \(usage)")
    }

    /// A command without an argument.
    init(
        _ name: String,
        _ command: UICommand,
        _ help: SafeText,
        reach: Reach = .everywhere,
        keys: [Key] = []
    ) {
        self.init(
            name,
            "",
            help,
            reach: reach,
            completion: .none,
            usage: "no argument",
            keys: keys.isEmpty ? [] : [KeyUse(keys, help)]
        ) { $0.isEmpty ? command : nil }
    }

    /// `true` if the help lists the command among those to type: it takes an argument, or has no key.
    package var isListedAsLine: Bool { reach != .lines && (!syntax.isEmpty || keyUses.isEmpty) }

    /// The error for a command that needs the full screen but was entered in another mode.
    package var needsScreenMessage: SafeText {
        SafeText(name.prefix(1).uppercased() + name.dropFirst() + " needs the full-screen mode")
    }
}
