package import Media

/// What a configuration file says, checked against a schema as far as names and kinds go.
package struct SettingsFile: Sendable, Equatable {
    /// One setting of the file.
    package struct Entry: Sendable, Equatable {
        package var setting: SettingsSchema.Setting
        /// As for the command line; empty for a flag that is false, and for an empty list.
        package var arguments: [String]
        /// As it is shown.
        package var text: String
        /// From 1.
        package var line: Int
    }

    /// One line of a table whose names are free.
    package struct Pair: Sendable, Equatable {
        package var table: String
        package var name: String
        package var value: String
        /// From 1.
        package var line: Int
    }

    /// One sentence with the place: `FILE:LINE: what is wrong; what to do`.
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        package var text: SafeText
        package var description: String { text.string }

        package init(_ file: String, line: Int, _ reason: SafeText) {
            text = SafeText(file) + ":" + SafeText("\(line)") + ": " + reason
        }
    }

    /// As it is called in messages.
    package let name: String
    package private(set) var entries: [Entry] = []
    package private(set) var pairs: [Pair] = []

    /// Nothing is set.
    package init(name: String) { self.name = name }

    /// Reads `text`; throws the first thing that is wrong with it.
    package init(parsing text: String, name: String, schema: SettingsSchema) throws(Refusal) {
        self.name = name
        let document: TOMLDocument
        do {
            document = try TOMLDocument(parsing: text)
        } catch {
            throw Refusal(name, line: error.line, error.reason)
        }
        for value in document.values { try take(value, schema) }
    }

    private mutating func take(_ value: TOMLDocument.Value, _ schema: SettingsSchema) throws(Refusal) {
        if let table = value.path.first, schema.openTables.contains(table) {
            // An empty table of the listener's own is no mistake.
            if value.path.count == 1, value.content == .nothing { return }
            guard value.path.count == 2, case .text(let text) = value.content else {
                throw refusal(value, "takes a text in quotes")
            }
            pairs.append(Pair(table: table, name: value.path[1], value: text, line: value.line))
            return
        }
        // A place in an array stands behind the name of the setting.
        guard let setting = schema.setting(at: value.path) ?? schema.setting(at: value.path.dropLast()) else {
            if schema.settings.contains(where: { $0.path.first == value.path.first }), value.path.count == 1,
                value.content == .nothing
            {
                return
            }
            throw refusal(value, "is no setting; reprise config lists them all")
        }
        try take(value, as: setting)
    }

    private mutating func take(_ value: TOMLDocument.Value, as setting: SettingsSchema.Setting)
        throws(Refusal)
    {
        let isInArray = value.path.count > setting.path.count
        switch (setting.kind, value.content) {
        case (.flag, .boolean(let isOn)) where !isInArray:
            add(setting, isOn ? [setting.option] : [], "\(isOn)", value.line)
        case (.value, .text(let text)) where !isInArray, (.value, .number(let text)) where !isInArray:
            add(setting, ["\(setting.option)=\(text)"], text, value.line)
        case (.list, .text(let text)) where isInArray:
            add(setting, ["\(setting.option)=\(text)"], text, value.line)
        case (.list, .nothing) where !isInArray:
            add(setting, [], "", value.line)
        case (.flag, _): throw refusal(value, "takes true or false")
        case (.value, _): throw refusal(value, "takes one value, in quotes unless it is a number")
        case (.list, _): throw refusal(value, "takes a list of texts: [\"…\", \"…\"]")
        }
    }

    /// The places of one array become one entry.
    private mutating func add(
        _ setting: SettingsSchema.Setting,
        _ arguments: [String],
        _ text: String,
        _ line: Int
    ) {
        guard let place = entries.firstIndex(where: { $0.setting == setting }) else {
            entries.append(Entry(setting: setting, arguments: arguments, text: text, line: line))
            return
        }
        entries[place].arguments += arguments
        entries[place].text += ", " + text
    }

    private func refusal(_ value: TOMLDocument.Value, _ reason: SafeText) -> Refusal {
        Refusal(name, line: value.line, SafeText(value.path.joined(separator: ".")) + " " + reason)
    }
}
