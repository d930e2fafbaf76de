import Foundation

/// A terminal in a separate tmux server, driven by keys and read back as text.
package final class TmuxSession: Sendable {
    private let home: TemporaryFolder
    private let socket: String

    /// Starts `command` in a terminal of this size.
    ///
    /// `environment` is added to that of the tests. The screen stays when the
    /// command ends, so that its last output can be read.
    package init(
        _ command: [String],
        columns: Int = 80,
        rows: Int = 24,
        environment: [String: String] = [:]
    ) async throws {
        home = try TemporaryFolder()
        socket = home.path("tmux")
        var variables: [String: String?] = [
            "TMUX": nil as String?, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
        ]
        for (name, value) in environment { variables[name] = value }
        // A shell of its own: tmux would give the words to the user's.
        let script = command.map(Self.quoted).joined(separator: " ")
        let exports = environment.map { "-e\($0.key)=\($0.value)" }
        _ = try await RunningProcess.run(
            "tmux",
            [
                "-S", socket, "-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit",
                "on", ";",
            ]
                + ["set-option", "-g", "default-terminal", "tmux-256color", ";"]
                + ["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)"] + exports + [
                    "sh", "-c", script,
                ],
            environment: variables
        )
    }

    deinit {
        // Waiting is not possible here; the owner of the folder removes the socket afterwards.
        let ending = Process()
        ending.executableURL = URL(fileURLWithPath: "/usr/bin/tmux")
        ending.arguments = ["-S", socket, "kill-server"]
        ending.standardError = FileHandle.nullDevice
        try? ending.run()
        ending.waitUntilExit()
    }

    /// Types keys by tmux's names (`Space`, `Enter`, `Right`, `C-c`) or as they are (`q`).
    package func sendKeys(_ keys: String...) async throws { try await sendKeys(keys) }

    package func sendKeys(_ keys: [String]) async throws { _ = try await tmux(["send-keys"] + keys) }

    /// Types text as it is.
    package func type(_ text: String) async throws { _ = try await tmux(["send-keys", "-l", text]) }

    /// Pastes text, bracketed if the program has asked for it.
    package func paste(_ text: String) async throws {
        let file = try home.write(text, to: "paste")
        _ = try await tmux(["load-buffer", file, ";", "paste-buffer", "-p"])
    }

    /// The rows of the screen, without trailing blanks.
    package func capture() async throws -> [String] {
        let text = String(decoding: try await tmux(["capture-pane", "-p"]), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast()
    }

    /// The rows of the screen, with the sequences that set colours and attributes, and with trailing blanks.
    package func captureStyled() async throws -> String {
        String(decoding: try await tmux(["capture-pane", "-p", "-e", "-N"]), as: UTF8.self)
    }

    /// Waits until `text` is somewhere on the screen, and returns the screen.
    @discardableResult
    package func wait(for text: String) async throws -> [String] {
        var screen: [String] = []
        do {
            try await TestSupport.wait(for: text) {
                screen = try await capture()
                return screen.contains { $0.contains(text) }
            }
        } catch is DeadlinePassed {
            throw DeadlinePassed(what: "\(text) on the screen:\n" + screen.joined(separator: "\n"))
        }
        return screen
    }

    /// The value of one of tmux's formats: `#{alternate_on}`, `#{cursor_flag}`, ….
    package func terminal(_ format: String) async throws -> String {
        String(decoding: try await tmux(["display-message", "-p", format]), as: UTF8.self)
            .trimmingCharacters(in: .newlines)
    }

    package func resize(columns: Int, rows: Int) async throws {
        _ = try await tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    private func tmux(_ arguments: [String]) async throws -> [UInt8] {
        try await RunningProcess.run("tmux", ["-S", socket] + arguments)
    }

    private static func quoted(_ word: String) -> String {
        "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
