import Foundation
import TestSupport

/// The built player on its screen, in a terminal of its own.
///
/// A shell around it notes the terminal's settings before and after, the player's number and its exit
/// code, and then holds the terminal so that it can be looked at.
final class ScreenStage: Sendable {
    let folder: TemporaryFolder
    let terminal: TmuxSession

    /// Starts the player with these arguments on the null sink; `feed` is what a pipe gives it on standard
    /// input, nil leaves it the terminal.
    init(
        _ arguments: [String],
        folder: TemporaryFolder,
        feed: String? = nil,
        environment: [String: String] = [:],
        columns: Int = 80,
        rows: Int = 24
    ) async throws {
        self.folder = folder
        let options = ["--sink", "null", "--cache-dir", folder.path("cache")]
        let words = ([BuiltProducts.reprise] + options + arguments).map { "'\($0)'" }.joined(separator: " ")
        let exports = environment.map { "export \($0.key)='\($0.value)'; " }.joined()
        let source = feed == nil ? "" : "cat '\(folder.path("feed"))' | "
        if let feed { try folder.write(feed, to: "feed") }
        let script = """
            cd '\(folder.path)'; unset http_proxy all_proxy; export XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config; \(exports)
            ulimit -c 0
            echo what-stood-there-before
            stty -a > before
            \(source)sh -c 'echo $$ > number; exec "$@"' player \(words)
            echo $? > code.new
            stty -a > after
            mv code.new code
            echo the-shell-is-back
            read line
            """
        terminal = try await TmuxSession(["sh", "-c", script], columns: columns, rows: rows)
    }

    /// The rows of the screen, counted from below as the layout does: the last says messages.
    func row(fromBelow count: Int) async throws -> String {
        let screen = try await terminal.capture()
        return screen.count >= count ? screen[screen.count - count] : ""
    }

    /// The line with the title of what is heard and where in it.
    var nowPlaying: String { get async throws { try await row(fromBelow: 4) } }

    /// The bytes as blocks.
    var bar: String { get async throws { try await row(fromBelow: 3) } }

    /// State, volume and bytes.
    var status: String { get async throws { try await row(fromBelow: 2) } }

    /// Whether the status says that music is awaited, after a start or in its midst.
    var isWaitingForBytes: Bool {
        get async throws {
            let status = try await status
            return status.hasPrefix("Opening") || status.hasPrefix("Buffering")
        }
    }

    /// The seconds of the position that is shown.
    var position: Int? {
        get async throws {
            let words = try await nowPlaying.split(separator: " ")
            guard let slash = words.lastIndex(of: "/"), slash > 0 else { return nil }
            let parts = words[slash - 1].drop { $0 == "~" }.split(separator: ":").compactMap { Int($0) }
            return parts.count == 2 ? parts[0] * 60 + parts[1] : nil
        }
    }

    /// Waits until `condition` holds for the screen; says what was on it when it never did.
    func wait(for what: String, until condition: (ScreenStage) async throws -> Bool) async throws {
        do {
            try await TestSupport.wait(for: what, deadline: .seconds(30)) { try await condition(self) }
        } catch is DeadlinePassed {
            let screen = try await terminal.capture()
            throw ScreenFailure(
                description: what + " never was on the screen:\n" + screen.joined(separator: "\n")
            )
        }
    }

    /// Waits until a status line begins with `word`.
    func waitForStatus(_ word: String) async throws {
        try await wait(for: "the status \(word)") { try await $0.status.hasPrefix(word) }
    }

    /// Waits for the row of the queue that has the sign of what is played: its number, from 1.
    func waitForCurrent(_ number: Int) async throws {
        try await wait(for: "track \(number) being current") { stage in
            try await stage.terminal.capture().dropLast(4)
                .contains { $0.hasPrefix("▶ \(number) ") || $0.hasPrefix("‖ \(number) ") }
        }
    }

    /// Sends a signal to the player.
    func signal(_ number: Int32) throws {
        let text = try String(contentsOfFile: folder.path("number"), encoding: .utf8)
        guard let identifier = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)), identifier > 1
        else { throw ScreenFailure(description: "no number of the player: \(text)") }
        kill(identifier, number)
    }

    /// How the terminal was left.
    struct Ending: Equatable {
        var exitCode: String
        /// Whether `stty -a` says the same as before.
        var hasSameSettings: Bool
        /// tmux's flags: the alternate screen, and the cursor to be seen.
        var isAlternate: Bool
        var isCursorVisible: Bool
        /// Whether the terminal still reports the mouse, by tmux's flags.
        var reportsMouse: Bool
        /// Whether what is pasted still comes between marks, which a shell that asked for none would take as typed.
        var marksPastes: Bool
        /// Whether the window has the title again that it had, and the screen what stood on it.
        var hasOldTitle: Bool
        var hasOldText: Bool

        static func restored(exitCode: Int) -> Ending {
            Ending(
                exitCode: String(exitCode),
                hasSameSettings: true,
                isAlternate: false,
                isCursorVisible: true,
                reportsMouse: false,
                marksPastes: false,
                hasOldTitle: true,
                hasOldText: true
            )
        }
    }

    /// Waits until the shell has its terminal back.
    func ending() async throws -> Ending {
        let screen = try await terminal.wait(for: "the-shell-is-back")
        let flags = try await terminal.terminal("#{alternate_on} #{mouse_any_flag} #{cursor_flag}")
        let title = try await terminal.terminal("#{pane_title}")
        // tmux has no flag for it: it is seen by what it does. The line stays open, and so does the shell.
        try await terminal.paste("a-paste-behind-it")
        let pasted = try await terminal.wait(for: "a-paste-behind-it")
        let read = { [folder] name in try String(contentsOfFile: folder.path(name), encoding: .utf8) }
        return Ending(
            exitCode: try read("code").trimmingCharacters(in: .whitespacesAndNewlines),
            hasSameSettings: try read("before") == read("after"),
            isAlternate: flags.hasPrefix("1"),
            isCursorVisible: flags.hasSuffix("1"),
            reportsMouse: flags.hasPrefix("1 1") || flags.hasPrefix("0 1"),
            marksPastes: pasted.contains { $0.contains("[200~") },
            hasOldTitle: !title.contains("Reprise"),
            hasOldText: screen.contains { $0.contains("what-stood-there-before") }
        )
    }
}
