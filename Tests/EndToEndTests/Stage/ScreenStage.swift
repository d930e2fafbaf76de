import Foundation
import TestSupport
import Testing

/// The built player with its screen, in its own terminal.
///
/// A shell around it records the terminal's settings before and after, the player's process number and its
/// exit code, and then keeps the terminal open.
final class ScreenStage: Sendable {
    let folder: TemporaryFolder
    let terminal: TmuxSession

    /// Starts the player with these arguments on the null sink; `feed` comes through a pipe on standard
    /// input; with `nil` that is the terminal.
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
            cd '\(folder.path)'; unset http_proxy all_proxy; export XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config DBUS_SESSION_BUS_ADDRESS=\(SessionBus.noAddress) DBUS_SYSTEM_BUS_ADDRESS=\(SessionBus.noAddress); \(exports)
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

    /// Starts the player as `init` does, and waits until it plays.
    static func playing(
        _ arguments: [String],
        folder: TemporaryFolder,
        feed: String? = nil,
        environment: [String: String] = [:],
        columns: Int = 80,
        rows: Int = 24
    ) async throws -> ScreenStage {
        let stage = try await ScreenStage(
            arguments,
            folder: folder,
            feed: feed,
            environment: environment,
            columns: columns,
            rows: rows
        )
        try await stage.waitForStatus("Playing")
        return stage
    }

    /// The rows of the screen, counted from below as in the layout: the last shows messages.
    func row(fromBelow count: Int) async throws -> String {
        let screen = try await terminal.capture()
        return screen.count >= count ? screen[screen.count - count] : ""
    }

    /// The line with the current track and the position.
    var nowPlaying: String {
        get async throws {
            let screen = try await terminal.capture()
            // Without the margin.
            return String(screen.dropLast(screen.count >= 16 ? 4 : 3).last?.dropFirst() ?? "")
        }
    }

    /// The progress bar.
    var bar: String { get async throws { String(try await row(fromBelow: 3).dropFirst()) } }

    /// The status line: state, volume and bytes.
    var status: String { get async throws { String(try await row(fromBelow: 2).dropFirst()) } }

    /// `true` if the status line shows that the player waits for bytes.
    var isWaitingForBytes: Bool {
        get async throws {
            let status = try await status
            return ["Opening", "Buffering", "No sound server"].contains { status.hasPrefix($0) }
        }
    }

    /// The position on the screen, in seconds.
    var position: Int? {
        get async throws {
            let words = try await nowPlaying.split(separator: " ")
            guard let slash = words.lastIndex(of: "/"), slash > 0 else { return nil }
            let parts = words[slash - 1].drop { $0 == "~" }.split(separator: ":").compactMap { Int($0) }
            return parts.count == 2 ? parts[0] * 60 + parts[1] : nil
        }
    }

    /// Presses keys by tmux's names.
    func keys(_ keys: String...) async throws { try await terminal.sendKeys(keys) }

    /// Presses Esc and waits until `text` is gone: a key that follows at once would be Alt with that key.
    func escape(from text: String) async throws {
        try await keys("Escape")
        try await wait(for: "the end of \(text)") {
            try await !$0.terminal.capture().contains { $0.contains(text) }
        }
    }

    /// Types a command after `:`.
    func command(_ text: String) async throws {
        try await terminal.type(":" + text)
        try await keys("Enter")
    }

    func pause() async throws {
        try await keys("Space")
        try await waitForStatus("Paused")
    }

    /// Waits until `condition` holds for the screen; fails with the content of the screen.
    func wait(for what: String, until condition: (ScreenStage) async throws -> Bool) async throws {
        do {
            try await TestSupport.wait(for: what, deadline: .seconds(30)) { try await condition(self) }
        } catch is DeadlinePassed {
            let screen = try await terminal.capture().joined(separator: "\n")
            throw RunningProcess.Failure(description: "the screen never showed \(what):\n" + screen)
        }
    }

    /// Waits until the status line begins with `word`.
    func waitForStatus(_ word: String) async throws {
        try await wait(for: "the status \(word)") { try await $0.status.hasPrefix(word) }
    }

    func waitForStatus(containing text: String) async throws {
        try await wait(for: text) { try await $0.status.contains(text) }
    }

    /// Waits for this position, in seconds.
    func waitForPosition(_ position: Int) async throws {
        try await wait(for: "position \(position)") { try await $0.position == position }
    }

    /// Waits until a row of the queue, counted from 1, has the sign of the current track.
    func waitForCurrent(_ number: Int) async throws {
        try await wait(for: "track \(number) being current") { stage in
            try await stage.terminal.capture().dropLast(4)
                .contains { $0.hasPrefix(" ▶ \(number) ") || $0.hasPrefix(" ‖ \(number) ") }
        }
    }

    /// Sends a signal to the player.
    func signal(_ number: Int32) throws {
        let text = try String(contentsOfFile: folder.path("number"), encoding: .utf8)
        guard let identifier = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)), identifier > 1
        else { throw RunningProcess.Failure(description: "no process number: \(text)") }
        kill(identifier, number)
    }

    /// The state in which the terminal was left; by default, as it was before.
    struct Ending: Equatable {
        var exitCode: Int
        /// `true` if `stty -a` prints the same as before.
        var hasSameSettings = true
        /// tmux's flags for the alternate screen, a visible cursor, and mouse reports.
        var isAlternate = false
        var isCursorVisible = true
        var reportsMouse = false
        /// `true` if pasted text still has marks, which the shell would take for typed text.
        var marksPastes = false
        /// `true` if the window has its earlier title again, and the screen its earlier text.
        var hasOldTitle = true
        var hasOldText = true

        static func restored(exitCode: Int) -> Ending { Ending(exitCode: exitCode) }
    }

    /// Ends the player by its key, and expects the terminal as it was before; its earlier text may have
    /// scrolled away.
    func quit(hasOldText: Bool = true, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await keys("q")
        var ending = try await ending()
        if !hasOldText { ending.hasOldText = true }
        #expect(ending == .restored(exitCode: 0), sourceLocation: sourceLocation)
    }

    /// Waits until the shell has the terminal again.
    func ending() async throws -> Ending {
        let screen = try await terminal.wait(for: "the-shell-is-back")
        let flags = try await terminal.terminal("#{alternate_on} #{mouse_any_flag} #{cursor_flag}")
        let title = try await terminal.terminal("#{pane_title}")
        // tmux has no flag for paste marks, so a paste shows them. Its line stays unfinished, so the shell
        // goes on.
        try await terminal.paste("a-paste-behind-it")
        let pasted = try await terminal.wait(for: "a-paste-behind-it")
        let read = { [folder] name in try String(contentsOfFile: folder.path(name), encoding: .utf8) }
        return Ending(
            exitCode: Int(try read("code").trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1,
            hasSameSettings: try read("before") == read("after"),
            isAlternate: flags.hasPrefix("1"),
            isCursorVisible: flags.hasSuffix("1"),
            reportsMouse: flags.split(separator: " ")[1] == "1",
            marksPastes: pasted.contains { $0.contains("[200~") },
            hasOldTitle: !title.contains("Reprise"),
            hasOldText: screen.contains { $0.contains("what-stood-there-before") }
        )
    }
}
