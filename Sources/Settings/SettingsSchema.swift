/// The settings that a configuration file may hold, each the name of a command-line option in a table.
///
/// One vocabulary: what is written behind a setting is what is typed behind the option, and is checked by the
/// same code.
package struct SettingsSchema: Sendable, Equatable {
    package struct Setting: Sendable, Equatable {
        /// The table's name and the setting's.
        package var path: [String]
        /// With its dashes.
        package var option: String
        package var kind: SettingKind
        /// What holds where nobody says anything, as it is shown.
        package var fallback: String

        package init(
            _ table: String,
            _ name: String,
            _ option: String,
            _ kind: SettingKind,
            or fallback: String
        ) {
            path = [table, name]
            self.option = option
            self.kind = kind
            self.fallback = fallback
        }

        /// `table.name`.
        package var name: String { path.joined(separator: ".") }
    }

    /// In the order in which they are shown.
    package var settings: [Setting]
    /// Tables whose names and values are the listener's own: keys, colours.
    package var openTables: [String]

    package init(settings: [Setting], openTables: [String] = []) {
        self.settings = settings
        self.openTables = openTables
    }

    func setting(at path: [String]) -> Setting? { settings.first { $0.path == path } }
}
