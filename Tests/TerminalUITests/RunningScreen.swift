import Glibc
import Media
import System
@testable import TerminalUI
import TestSupport
import Testing

/// A screen on a thread of its own, with a pseudo-terminal and a player that the test controls.
final class RunningScreen: Sendable {
    let terminal: PseudoTerminal
    let player: FakePlayer
    private let outcome = Outcome()

    private final class Outcome: Sendable {
        let exit = Locked<TerminalExit?>(nil)
    }

    /// Starts the screen and waits until it has drawn `text`.
    init(
        drawing text: String? = "vol 80%",
        rows: Int = 12,
        player: FakePlayer = FakePlayer(sampleSnapshot()),
        environment: [String: String] = ["TERM": "xterm-256color"],
        colors: ColorTable = ColorTable(),
        theme: Theme = .auto,
        locale: String = "C.UTF-8",
        quitWait: Duration = .seconds(60),
        clock: any MonotonicClock = SystemClock()
    ) async throws {
        let terminal = try #require(PseudoTerminal(columns: 80, rows: rows))
        self.terminal = terminal
        self.player = player
        // Standard error stays where it is: other tests write there at the same time.
        var configuration = TerminalConfiguration({ environment[$0] }, stderrPath: "/proc/self/fd/2")
        configuration.input = terminal.slave
        configuration.output = terminal.slave
        configuration.locale = locale
        configuration.colors = colors
        configuration.theme = theme
        configuration.quitWait = quitWait
        configuration.clock = clock
        NamedThread.start("screen") { [configuration, outcome] in
            let exit = TerminalScreen(configuration: configuration).run(player: player)
            outcome.exit.withLock { $0 = exit }
        }
        if let text { try await drawn(text) }
    }

    /// Waits for the end, and for all that was drawn until then, and returns the reason of the end.
    func exit() async throws -> TerminalExit? {
        try await wait(for: "the screen's end") { self.outcome.exit.withLock { $0 != nil } }
        try await terminal.drain()
        return outcome.exit.withLock { $0 }
    }

    /// Quits by key and waits for the end.
    func quit() async throws {
        terminal.type("q")
        #expect(try await exit() == .quit)
    }

    /// Waits until `text` was drawn.
    func drawn(_ text: String) async throws {
        try await wait(for: "\(text) on the screen") { self.terminal.text.contains(text) }
    }

    /// Presses `key`, which is the player's command number `count`.
    func press(_ key: String, sending count: Int) async throws {
        terminal.type(key)
        try await sent(count)
    }

    func sent(_ count: Int) async throws {
        try await wait(for: "\(count) commands") { self.player.commands.count >= count }
    }

    /// Replaces the message by hints and forgets all that was written until then.
    ///
    /// A key's frame follows its command, so after the second command the first frame is complete, and the
    /// hints are in it to the last byte.
    func replaceMessage() async throws {
        try await drawn("reconnected to music.example")
        for count in 1...2 { try await press("m", sending: count) }
        try await drawn("quit\u{1B}[39m\u{1B}(B\u{1B}[m")
        terminal.clear()
    }
}
