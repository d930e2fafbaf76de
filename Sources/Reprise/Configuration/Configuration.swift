import Glibc
import Media
import System

/// An option that the configuration file may set, as a key of a table.
struct Setting: Sendable, Equatable {
    /// The values that the file may give.
    enum Kind: Sendable, Equatable {
        /// `true` or `false`; `true` means the option without a value.
        case flag
        /// `true` or `false`; `false` means the option with `no-` before its name.
        case toggle
        /// A text or a number, passed to the option as it is.
        case value
        /// An array of texts, each of which is one use of the option.
        case list
    }

    let table: String
    let key: String
    /// The option's name, with its dashes.
    let option: String
    let kind: Kind

    /// `name` is the key. By default it is the name of `option` without the name of the table in front:
    /// `--cache-dir` is `cache.dir`.
    init(_ table: String, _ option: String, _ kind: Kind = .value, name: String? = nil) {
        self.table = table
        self.option = option
        self.kind = kind
        let word = option.dropFirst(2)
        key = name ?? String(word.hasPrefix(table + "-") ? word.dropFirst(table.count + 1) : word)
    }

    var name: String { "\(table).\(key)" }

    /// The option that switches a toggle off.
    var negation: String { "--no-" + option.dropFirst(2) }
}

/// The user's configuration file.
///
/// Its settings become arguments before the typed ones, and are checked like those. Names, kinds of values,
/// keys and colours are checked as soon as the file is read; what is refused sets nothing.
struct Configuration: Sendable {
    /// One setting of the file.
    struct Entry: Sendable, Equatable {
        var setting: Setting
        /// A text, a number, or `true` or `false`; for a list, all of its elements.
        var values: [String]
        /// From 1.
        var line: Int

        var arguments: [String] {
            switch setting.kind {
            case .flag: values == ["true"] ? [setting.option] : []
            case .toggle: [values == ["true"] ? setting.option : setting.negation]
            case .value, .list: values.map { "\(setting.option)=\($0)" }
            }
        }
    }

    /// One line of `[keys]` or `[colors]`: its name is that of a key or of a style, not of an option.
    struct Pair: Sendable, Equatable {
        var table: String
        var name: String
        var value: String
        /// From 1.
        var line: Int

        var path: String { "\(table).\(name)" }
    }

    /// The file's name in messages.
    let name: String
    private(set) var entries: [Entry] = []
    private(set) var pairs: [Pair] = []
    private(set) var screen = ScreenSettings()
    /// The refused lines of the file, as far as they were checked when it was read.
    private var refusals: [(line: Int, error: UsageError)] = []

    init() { name = "" }

    /// Parses the text of a file. `errors` has what is wrong with it.
    init(parsing text: String, name: String) {
        self.name = name
        let (values, errors) = TOMLDocument.valid(in: text)
        refusals = errors.map { ($0.line, Self.refusal(name, $0.line, $0.reason)) }
        for value in values {
            do throws(UsageError) {
                try apply(value)
            } catch {
                refusals.append((value.line, error))
            }
        }
        var refused: [(line: Int, error: UsageError)] = []
        screen = ScreenSettings(pairs) { pair, reason in
            refused.append((pair.line, Self.refusal(name, pair.line, SafeText(pair.path) + " " + reason)))
        }
        refusals += refused
    }

    /// `$XDG_CONFIG_HOME/reprise/config.toml`, by default in `~/.config`; `nil` if there is no home.
    static var path: String? { BasePaths.path(of: .configuration).map { $0 + "/config.toml" } }

    /// Reads the file at `path`; a file that does not exist sets nothing.
    init(file path: String?) throws(UsageError) {
        self.init()
        guard let path, access(FileName.cString(path), F_OK) == 0 else { return }
        let text: String
        do {
            text = try TextFile.read(path)
        } catch {
            throw UsageError(error.description)
        }
        self = Configuration(parsing: text, name: path)
    }

    // MARK: Command lines

    /// Parses `typed`, the arguments after the program's name, with the settings of the file before them.
    ///
    /// Help is shown, and `reprise config` lists the errors of the file, even if the file has errors.
    /// `reprise remote` has no settings.
    func invocation(of typed: [String]) throws(UsageError) -> Invocation {
        guard typed.first != "config", typed.first != "remote" else { return try Invocation.parse(typed) }
        let invocation: Invocation
        do {
            invocation = try Invocation.parse(extending(typed))
        } catch {
            if let help = try? Invocation.parse(typed), case .show = help { return help }
            throw firstError(of: typed) ?? error
        }
        if case .show = invocation { return invocation }
        if !refusals.isEmpty, let error = firstError(of: typed) { throw error }
        return invocation
    }

    /// The first error of the file for the command of `typed`, which leads to the others; `nil` if there is
    /// none.
    private func firstError(of typed: [String]) -> UsageError? {
        let all = errors(of: entries(for: typed))
        var first = all.first
        let others = all.count - 1
        first?.help = SafeText(
            "reprise config" + (others > 0 ? " for \(CountText.of(others, "more error"))" : "")
        )
        return first
    }

    /// Everything that is wrong with the file, in the order of its lines.
    var errors: [UsageError] { errors(of: entries) }

    /// The refused lines, and those of `entries` that, together with the good ones before them, are not a
    /// valid command line.
    private func errors(of entries: [Entry]) -> [UsageError] {
        var errors = refusals
        var arguments: [String] = []
        for entry in entries {
            do {
                _ = try Invocation.parse(arguments + entry.arguments)
                arguments += entry.arguments
            } catch {
                errors.append((entry.line, Self.refusal(name, entry.line, error.message)))
            }
        }
        return errors.sorted { $0.line < $1.line }.map(\.error)
    }

    /// `typed` with those settings of the file for which its command has options. They come first, so that
    /// typed options override them; a typed list replaces that of the file.
    func extending(_ typed: [String]) -> [String] {
        let own = entries(for: typed).flatMap(\.arguments)
        switch typed.first {
        case "cache":
            let command = CacheCommands.nameFirst(Array(typed.dropFirst()))
            guard let name = command.first, !own.isEmpty else { return typed }
            return ["cache", name] + own + command.dropFirst()
        // This option is recognized only as the first argument.
        case let word? where CompletionRoot.isRequested(by: word): return typed
        default: return own + typed
        }
    }

    private func entries(for typed: [String]) -> [Entry] {
        var taken = Options.settings
        if typed.first == "cache" {
            let name = CacheCommands.nameFirst(Array(typed.dropFirst())).first
            taken = name.map { CacheCommands.settings(of: $0) } ?? []
        }
        return entries.filter { entry in
            let isReplaced = entry.setting.kind == .list && !entry.setting.values(in: typed).isEmpty
            return taken.contains(entry.setting) && !isReplaced
        }
    }

    // MARK: The file

    private mutating func apply(_ value: TOMLDocument.Value) throws(UsageError) {
        guard let table = value.path.first else { return }
        let isEmptyTable = value.path.count == 1 && value.content == .nothing
        if ScreenSettings.tables.contains(table) {
            guard !isEmptyTable else { return }
            guard value.path.count == 2, case .text(let text) = value.content else {
                throw refusal(value, "takes a text in quotes")
            }
            pairs.append(Pair(table: table, name: value.path[1], value: text, line: value.line))
            return
        }
        // An element of an array has its index after the name of the setting.
        let setting = Options.settings.first { value.path.starts(with: [$0.table, $0.key]) }
        guard let setting, value.path.count <= 3 else {
            guard isEmptyTable, Options.settings.contains(where: { $0.table == table }) else {
                throw Self.refusal(name, value.line, Self.unknown(value.path.joined(separator: ".")))
            }
            return
        }
        try apply(value, as: setting)
    }

    private mutating func apply(_ value: TOMLDocument.Value, as setting: Setting) throws(UsageError) {
        let isElement = value.path.count == 3
        switch (setting.kind, value.content) {
        case (.flag, .boolean(let isOn)) where !isElement, (.toggle, .boolean(let isOn)) where !isElement:
            add(setting, ["\(isOn)"], value.line)
        case (.value, .text(let text)) where !isElement, (.value, .number(let text)) where !isElement,
            (.list, .text(let text)) where isElement:
            add(setting, [text], value.line)
        case (.list, .nothing) where !isElement: add(setting, [], value.line)
        case (.flag, _), (.toggle, _): throw refusal(value, "takes true or false")
        case (.value, _): throw refusal(value, "takes one value, in quotes unless it is a number")
        case (.list, _): throw refusal(value, "takes a list of texts: [\"…\", \"…\"]")
        }
    }

    /// Adds an entry; all elements of one array share one entry.
    private mutating func add(_ setting: Setting, _ values: [String], _ line: Int) {
        if let index = entries.firstIndex(where: { $0.setting == setting }) {
            entries[index].values += values
        } else {
            entries.append(Entry(setting: setting, values: values, line: line))
        }
    }

    private static func unknown(_ name: String) -> SafeText {
        let hint = Spelling.hint(forPath: name, among: Options.settings.map(\.name))
        return SafeText("Unknown setting \(name)\(hint) (reprise config lists all)")
    }

    private func refusal(_ value: TOMLDocument.Value, _ reason: SafeText) -> UsageError {
        Self.refusal(name, value.line, SafeText(value.path.joined(separator: ".")) + " " + reason)
    }

    /// `FILE:LINE: REASON`.
    private static func refusal(_ file: String, _ line: Int, _ reason: SafeText) -> UsageError {
        UsageError((SafeText("\(file):\(line): ") + reason).string)
    }
}

extension Setting {
    /// The values of the option in `arguments`: `--name`, `--name value` or `--name=value`; for a flag, also
    /// `--no-name`.
    func values(in arguments: [String]) -> [String] {
        var values: [String] = []
        var rest = arguments.prefix { $0 != "--" }[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.map(String.init), [option, negation].contains(name) else { continue }
            if kind == .flag || kind == .toggle {
                values.append("\(name == option)")
            } else if let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() {
                values.append(value)
            }
        }
        return values
    }
}
