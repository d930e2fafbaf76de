/// What holds of one setting, and who says so.
package struct EffectiveSetting: Sendable, Equatable {
    package enum Origin: Sendable, Equatable {
        case fallback
        case file(name: String, line: Int)
        case commandLine
    }

    package var name: String
    /// As it is shown.
    package var text: String
    package var origin: Origin

    /// Every setting of `schema`, in its order: the command line wins over the file, the file over what holds
    /// where nobody says anything. A list is the file's and the command line's together.
    ///
    /// `arguments` are those of the command line; an option is given there as `--name`, `--name=value` or
    /// `--name value`.
    package static func all(
        of schema: SettingsSchema,
        file: SettingsFile,
        arguments: [String]
    ) -> [EffectiveSetting] {
        schema.settings.map { setting in
            let given = values(of: setting, in: arguments)
            let entry = file.entries.first { $0.setting == setting }
            if let last = given.last {
                let lists = [entry?.text ?? ""] + given
                let text = setting.kind == .list ? lists.filter { !$0.isEmpty }.joined(separator: ", ") : last
                return EffectiveSetting(name: setting.name, text: text, origin: .commandLine)
            }
            guard let entry else {
                return EffectiveSetting(name: setting.name, text: setting.fallback, origin: .fallback)
            }
            return EffectiveSetting(
                name: setting.name,
                text: entry.text,
                origin: .file(name: file.name, line: entry.line)
            )
        }
    }

    private static func values(of setting: SettingsSchema.Setting, in arguments: [String]) -> [String] {
        var values: [String] = []
        var place = 0
        while place < arguments.count, arguments[place] != "--" {
            let argument = arguments[place]
            place += 1
            if argument == setting.option {
                guard setting.kind != .flag else {
                    values.append("true")
                    continue
                }
                if place < arguments.count { values.append(arguments[place]) }
                place += 1
            } else if setting.kind != .flag, argument.hasPrefix(setting.option + "=") {
                values.append(String(argument.dropFirst(setting.option.count + 1)))
            }
        }
        return values
    }
}
