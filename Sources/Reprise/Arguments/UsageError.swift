import Media

/// Why a command line is refused, worded for who typed it; ends the process with 64.
struct UsageError: Error, Equatable, CustomStringConvertible {
    var message: SafeText
    /// The command that tells more.
    var help: SafeText = "reprise --help"

    init(_ message: String) { self.message = SafeText(message) }

    var description: String { message.string }
}
