import ArgumentParser

/// The options that say what servers are told.
struct NetworkArguments: ParsableArguments {
    @Option(
        name: .customLong("header"),
        help: "'Name: value' to send to the servers named as SOURCE, or @FILE with one a line."
    )
    var headers: [String] = []

    @Option(help: "What to call ourselves to servers.")
    var userAgent: String?

    @Option(help: "A file of certificates to trust, in place of the system's.", completion: .file())
    var cacert: String?

    /// What was typed.
    var text: NetworkText { NetworkText(headers: headers, userAgent: userAgent, cacert: cacert) }
}
