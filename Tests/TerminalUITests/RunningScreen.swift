import Glibc
import Media
import System
import TerminalUI
import TestSupport
import Testing

/// A screen on a thread of its own, with a pseudo-terminal and a player that the test controls.
final class RunningScreen: Sendable {
    struct NoTerminal: Error {}

    let terminal: PseudoTerminal
    let player: FakePlayer
    private let outcome: Outcome

    private final class Outcome: Sendable {
        let exit = Locked<TerminalExit?>(nil)
    }

    init(
        columns: Int = 80,
        rows: Int = 12,
        player: FakePlayer = FakePlayer(sampleSnapshot()),
        environment: [String: String] = ["TERM": "xterm-256color"],
        locale: String = "C.UTF-8",
        quitWait: Duration = .seconds(60),
        clock: any MonotonicClock = SystemClock()
    ) throws {
        guard let terminal = PseudoTerminal(columns: columns, rows: rows) else { throw NoTerminal() }
        (self.terminal, self.player, outcome) = (terminal, player, Outcome())
        // Standard error stays where it is: other tests write there at the same time.
        var configuration = TerminalConfiguration(environment: environment, stderrPath: "/proc/self/fd/2")
        configuration.locale = locale
        configuration.input = terminal.slave
        configuration.output = terminal.slave
        configuration.quitWait = quitWait
        configuration.clock = clock
        let outcome = outcome
        NamedThread.start("screen") { [configuration] in
            let exit = TerminalScreen(configuration: configuration).run(player: player)
            outcome.exit.withLock { $0 = exit }
        }
    }

    /// Waits for the end and returns its reason.
    func exit() async throws -> TerminalExit? {
        try await wait(for: "the screen's end") { self.outcome.exit.withLock { $0 != nil } }
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

    func sent(_ count: Int) async throws {
        try await wait(for: "\(count) commands") { self.player.commands.count >= count }
    }

    /// Replaces the message by hints and forgets all that was written until then.
    ///
    /// A key's frame follows its command, so after the second command the first frame is complete, and the hints are
    /// in it to the last byte.
    func replaceMessage() async throws {
        try await drawn("reconnected to music.example")
        for count in 1...2 {
            terminal.type("m")
            try await sent(count)
        }
        try await drawn("views\u{1B}(B\u{1B}[m")
        terminal.clear()
    }
}
