import Foundation
import TestSupport

/// The player in a terminal of any size, even of one cell, which tmux does not make.
///
/// `script` holds the terminal: typed text goes to its standard input, and output comes from its standard
/// output. The player's standard error goes to a file.
final class ScriptTerminal: Sendable {
    private let stage: Stage
    private let process: RunningProcess

    /// Starts the player with these arguments; `type` is `TERM`, which `nil` leaves unset.
    init(
        _ stage: Stage,
        _ arguments: [String],
        type: String? = "xterm",
        columns: Int = 80,
        rows: Int = 24,
        environment: [String: String?] = [:]
    ) throws {
        self.stage = stage
        let words =
            ["env"] + (type.map { ["TERM=" + $0] } ?? ["-u", "TERM"]) + [BuiltProducts.reprise] + arguments
        let files = ["tty", "process", "errors"].map { Self.quoted(stage.folder.path($0)) }
        let command =
            "stty rows \(rows) cols \(columns); tty > \(files[0]); echo $$ > \(files[1]); exec "
            + words.map(Self.quoted).joined(separator: " ") + " 2> \(files[2])"
        process = try RunningProcess(
            "script",
            ["-q", "-e", "-c", command, "/dev/null"],
            environment: stage.environment.merging(["SHELL": "/bin/sh"]) { $1 }.merging(environment) { $1 },
            folder: stage.folder.path
        )
    }

    /// All that was written to the terminal, as it left the player.
    var shown: String { String(decoding: process.output, as: UTF8.self).replacing("\r\n", with: "\n") }

    /// The same without the titles that it gave the window.
    var drawn: String { shown.replacing(/\u{1B}\]2;[^\u{07}]*\u{07}/, with: "") }

    /// The same as bytes.
    var bytes: [UInt8] { process.output }

    /// All that was said on standard error.
    var errorText: String {
        String(
            decoding: FileManager.default.contents(atPath: stage.folder.path("errors")) ?? Data(),
            as: UTF8.self
        )
    }

    func type(_ keys: String) throws { try process.send(keys) }

    /// Gives the terminal another size, and notifies the player.
    func resize(columns: Int, rows: Int) async throws {
        let terminal = try String(contentsOfFile: stage.folder.path("tty"), encoding: .utf8)
        _ = try await RunningProcess.run(
            "stty",
            [
                "-F", terminal.trimmingCharacters(in: .whitespacesAndNewlines), "rows", "\(rows)", "cols",
                "\(columns)",
            ]
        )
    }

    /// Sends a signal to the player, which must be running.
    func signal(_ number: Int32) throws {
        let text = try String(contentsOfFile: stage.folder.path("process"), encoding: .utf8)
        guard let identifier = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        kill(identifier, number)
    }

    func wait(for text: String) async throws {
        try await TestSupport.wait(for: "\(text) on the terminal") {
            shown.contains(text)
        } seeing: {
            "\(shown.suffix(3_000).debugDescription); \(errorText)"
        }
    }

    /// The player's exit code.
    func waitForExit() async throws -> Int32 { try await process.waitForExit() }

    private static func quoted(_ word: String) -> String {
        "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
