/// What may stand behind a setting's name in the configuration file.
package enum SettingKind: Sendable, Equatable {
    /// `true` or `false`; true is the option without a value.
    case flag
    /// Text or a number, handed to the option as it stands.
    case value
    /// An array of texts, each of which is one use of the option.
    case list
}
