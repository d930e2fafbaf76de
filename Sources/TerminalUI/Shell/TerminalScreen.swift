// Both include termios.h; the compiler finds `termios` in the one that it loads first.
internal import CCurses
internal import CTerminal
internal import Glibc
package import Media

/// The terminal user interface: shows a player's snapshots and hands it commands.
package struct TerminalScreen: Sendable {
    private let configuration: TerminalConfiguration

    package init(configuration: TerminalConfiguration) { self.configuration = configuration }

    /// Runs the screen on the calling thread, until the player is over, the listener quits or a
    /// signal (SIGINT, SIGTERM, SIGHUP) asks for the end. Then the terminal is as it was before.
    ///
    /// The first frame is drawn before anything is waited for; later ones follow keys at once and
    /// snapshots at most ten times a second. Quitting sends `.quit` and waits for the player, but
    /// no longer than `quitPatience`. While it runs, standard error goes to `stderrPath`. Blocks, so it
    /// wants a thread of its own; not twice at the same time: ncurses and signals are the process's.
    package func run(
        player: any PlayerControl,
        surroundings: ScreenSurroundings = ScreenSurroundings()
    ) -> TerminalExit {
        guard let news = WakePipe(), let signals = WakePipe() else {
            return .unusable("the process has too many files open for a screen")
        }
        guard let terminal = configuration.openInput() else {
            return .unusable("there is no terminal to read keys from")
        }
        defer { if terminal.isOwned { close(terminal.descriptor) } }
        var modes = termios()
        tcgetattr(terminal.descriptor, &modes)

        var relay = SignalRelay(into: signals)
        let redirect = StandardErrorRedirect(to: configuration.stderrPath)
        let place = configuration.stderrPath.map { "; what was said last is in " + SafeText($0).string } ?? ""
        // Before the terminal is taken over: a fault may come at once.
        relay.arm(
            SignalRelay.Watch(
                descriptor: configuration.output,
                modes: modes,
                standardError: redirect.saved,
                reset: configuration.modes.abandon,
                message: place
            )
        )
        let screen = CursesScreen(
            input: terminal.descriptor,
            output: configuration.output,
            configuration: configuration
        )
        guard var screen else {
            return .unusable("the terminal's type is unknown; TERM must name one")
        }
        player.observe { news.wake() }
        surroundings.kept?.observe { news.wake() }
        surroundings.requests?.observe { news.wake() }
        defer {
            surroundings.kept?.observe(nil)
            surroundings.requests?.observe(nil)
        }

        var loop = ScreenLoop(
            player: player,
            surroundings: surroundings,
            view: ScreenView(
                glyphs: screen.isUnicode ? .unicode : .ascii,
                timeOfDay: surroundings.timeOfDay
            ),
            input: terminal.descriptor,
            news: news,
            signals: signals,
            configuration: configuration,
            size: screen.fitWindow()
        )
        let exit = loop.run(on: &screen, relay: relay)
        // In this order: a fault or a late signal never meets a terminal that is half restored.
        _ = consume screen
        relay.disarm()
        _ = consume redirect
        _ = consume relay
        return exit
    }
}
