// CCurses and CTerminal both include termios.h; the compiler finds `termios` in the module that it loads
// first.
internal import CCurses
internal import CTerminal
internal import Glibc
package import Media
internal import System

/// The terminal user interface: shows a player's snapshots and sends it commands.
package struct TerminalScreen: Sendable {
    private let configuration: TerminalConfiguration

    package init(configuration: TerminalConfiguration) { self.configuration = configuration }

    /// Runs the screen on the calling thread until the player has ended, the user quits, or a signal (SIGINT,
    /// SIGTERM, SIGHUP) ends the program; then restores the terminal.
    ///
    /// The first frame is drawn before any wait; later ones follow keys at once and snapshots at most ten
    /// times a second. Quitting sends `.quit` and waits for the player, but no longer than `quitWait`. While
    /// the screen is up, standard error goes to `stderrPath`. Blocks its thread. Only one screen can run at a
    /// time, since ncurses and signals belong to the process.
    ///
    /// If a signal ends the program while the terminal takes no output, this may never return: then `giveUp`
    /// is called from another thread, after the terminal's modes were restored.
    package func run(
        player: any PlayerControl,
        surroundings: ScreenSurroundings = ScreenSurroundings(),
        giveUp: @escaping @Sendable (TerminalExit) -> Void = { _ in }
    ) -> TerminalExit {
        guard let updates = WakePipe(), let signals = WakePipe(), let terminal = configuration.openInput()
        else { return .unusable }
        defer { if terminal.isOwned { close(terminal.descriptor) } }
        var modes = termios()
        tcgetattr(terminal.descriptor, &modes)

        let watch = ScreenGuard(passingTo: signals, terminal: configuration.output, modes: modes) {
            giveUp(.signal($0))
        }
        guard let watch else { return .unusable }
        defer { watch.end() }
        var relay = SignalRelay(into: watch.caught)
        let redirect = StandardErrorRedirect(to: configuration.stderrPath)
        let place = configuration.stderrPath.map { "; see " + SafeText($0).string } ?? ""
        // Arm it before the terminal is changed, since a fault can happen at any time.
        relay.arm(
            SignalRelay.Watch(
                descriptor: configuration.output,
                modes: modes,
                standardError: redirect.saved,
                reset: configuration.modes.abandon,
                message: place
            )
        )
        guard let screen = CursesScreen(configuration: configuration) else { return .unusable }
        let wake: @Sendable () -> Void = { updates.wake() }
        let observations = [
            player.observe(wake), surroundings.cache?.observe(wake), surroundings.requests?.observe(wake),
            surroundings.logins?.observe(wake),
        ]
        defer { for observation in observations { observation?.end() } }

        var loop = ScreenLoop(
            player: player,
            surroundings: surroundings,
            configuration: configuration,
            screen: screen,
            input: terminal.descriptor,
            updates: updates,
            signals: signals
        )
        let exit = loop.run(relay: relay)
        // In this order, so that a fault or a late signal never finds the terminal half restored. The loop
        // ends the screen.
        _ = consume loop
        watch.end()
        relay.disarm()
        _ = consume redirect
        _ = consume relay
        return exit
    }
}

/// The sources of the screen's contents other than the player.
package struct ScreenSurroundings: Sendable {
    /// `nil` if there is no cache.
    package var cache: (any CacheControl)?
    /// `nil` if requests are not recorded.
    package var requests: RequestHistory?
    /// `nil` if no log-ins are asked for.
    package var logins: (any LoginControl)?
    /// Formats a time of the player's clock as the time of day, in eight columns.
    package var timeOfDay: @Sendable (Duration) -> SafeText
    /// Looks up the sound devices.
    package var devices: @Sendable () async -> [SoundDevice] = { [] }

    package init(
        cache: (any CacheControl)? = nil,
        requests: RequestHistory? = nil,
        logins: (any LoginControl)? = nil,
        timeOfDay: @escaping @Sendable (Duration) -> SafeText = { SafeText($0.clockTime) }
    ) {
        self.cache = cache
        self.requests = requests
        self.logins = logins
        self.timeOfDay = timeOfDay
    }
}

/// The reason why the screen ended; the caller derives the exit code.
package enum TerminalExit: Sendable, Equatable {
    /// The player ended by itself.
    case over
    case quit
    /// A signal (SIGINT, SIGTERM, SIGHUP), or the loss of the terminal, which counts as SIGHUP.
    case signal(Int32)
    /// No screen is possible; the terminal was not changed. If `TerminalConfiguration.isUsable` was true, too
    /// few descriptors are left: then ncurses can't read the description of the terminal either.
    case unusable
}

/// Redirects standard error while the screen is open, since libraries write warnings there.
package struct StandardErrorRedirect: ~Copyable {
    /// A copy of the original descriptor; -1 if there was none.
    package let saved: Int32

    /// Appends to the file at `path`, which is created if missing; without a usable path to `/dev/null`.
    package init(to path: String?) {
        saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        var target: Int32 = -1
        if let path {
            target = open(FileName.cString(path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        }
        if target < 0 { target = open("/dev/null", O_WRONLY | O_CLOEXEC) }
        guard target >= 0 else { return }
        dup2(target, STDERR_FILENO)
        if target != STDERR_FILENO { close(target) }
    }

    deinit {
        guard saved >= 0 else { return }
        dup2(saved, STDERR_FILENO)
        close(saved)
    }
}
