import Foundation
import TestSupport

/// The player in a terminal of any size, even of one cell, which tmux does not make.
///
/// Only its standard error is apart from the terminal.
struct PlayerTerminal: Sendable {
    let process: RunningProcess

    /// Starts the player with these arguments; `type` is `TERM`, which `nil` leaves unset.
    init(
        _ stage: Stage,
        _ arguments: [String],
        type: String? = "xterm",
        size: RunningProcess.TerminalSize = (80, 24),
        environment: [String: String?] = [:]
    ) throws {
        var variables = stage.environment.merging(environment) { $1 }
        variables.updateValue(type, forKey: "TERM")
        process = try RunningProcess(
            BuiltProducts.reprise,
            arguments,
            environment: variables,
            folder: stage.folder.path,
            terminal: size
        )
    }

    /// All that was written to the terminal.
    var shown: String { String(decoding: process.output, as: UTF8.self).replacing("\r\n", with: "\n") }

    /// The same without the titles that it gave the window.
    var drawn: String { shown.replacing(/\u{1B}\]2;[^\u{07}]*\u{07}/, with: "") }

    func wait(for text: String) async throws {
        try await TestSupport.wait(for: "\(text) on the terminal") {
            shown.contains(text)
        } seeing: {
            "\(shown.suffix(3_000).debugDescription); \(process.errorText)"
        }
    }
}
