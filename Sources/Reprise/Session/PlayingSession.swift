import Glibc
import Media
import Playback
import System
import TerminalUI

/// Settings and state of the user interface, other than the options.
struct InterfaceSettings: Sendable {
    var screen = ScreenSettings()
    /// Restores the last session and saves this one; `nil` if there is no home.
    var memory: SessionMemory?
    /// The file for standard error while a screen is up; `nil` if there is none.
    var logFile: String?
}

/// Shows a session to its user, on a screen or as lines, and turns its outcome into an exit code.
final class PlayingSession: Sendable {
    private let presentation: Presentation
    private let options: Options
    private let interface: InterfaceSettings
    private let surroundings: ScreenSurroundings
    private let clock: any MonotonicClock
    private let reporter: EventReporter?
    private let player = LateBound<any PlayerControl>()
    private let signal = LateBound<Int32>()
    /// `true` if no screen was possible.
    private let lacksScreen = LateBound<Bool>()
    /// Given when the thread that reads keys has ended, or some time after a signal: a terminal that takes no
    /// output may block it.
    private let keysEnded = OneShot<Void>()
    /// The last printed failure of a track: if it also ends the session, it is not printed again.
    private let shownFailure = LateBound<MediaError>()
    /// `true` once a track has ended of which at least one frame was played.
    private let heard = LateBound<Bool>()

    init(
        presentation: Presentation,
        options: Options,
        interface: InterfaceSettings,
        surroundings: ScreenSurroundings,
        clock: any MonotonicClock
    ) {
        self.presentation = presentation
        self.options = options
        self.interface = interface
        self.surroundings = surroundings
        self.clock = clock
        reporter =
            presentation == .screen
            ? nil
            : EventReporter(
                style: presentation,
                clock: clock,
                descriptor: options.writesSamplesToOutput ? STDERR_FILENO : STDOUT_FILENO,
                // The reader closed the pipe: stop playing.
                onReaderGone: { [player] in player.value?.send(.quit) }
            )
    }

    /// Prints an event of the player, unless there is a screen. May be called from any task.
    func report(_ event: PlayerEvent) {
        if case .ended(let end) = event, end.frames > 0 { heard.value = true }
        guard let reporter else { return }
        reporter.report(event)
        switch event {
        case .ended(let end):
            guard let error = end.error else { return }
            shownFailure.value = error
            reporter.inOrder { Messages.show(error) }
        case .notice(let code, let message):
            if code != CommandReader.noticeCode { reporter.inOrder { Messages.show(message) } }
        default: break
        }
    }

    /// Shows the session of `player` while `play` runs; returns when both have ended.
    func run(
        _ player: any PlayerControl,
        play: @escaping @Sendable @concurrent () async -> PlayerOutcome
    ) async -> ExitCode {
        self.player.value = player
        let playing = Task(operation: play)
        if presentation == .screen {
            await showScreen(player)
            // The screen handled the signals until now. The player has ended, or is ending: another signal
            // ends the process at once.
            Signals.onTermination(isEnding: true)
        } else {
            startInput(player)
        }
        let outcome = await playing.value
        // The last lines are printed after the terminal's modes are restored.
        if readsKeys { await keysEnded.wait(ifCancelled: ()) }
        let code = code(of: outcome)
        let last: @Sendable () -> Void = { [self] in showEnd(of: outcome, code) }
        if let reporter {
            reporter.inOrder(last)
            await reporter.finish()
        } else {
            last()
        }
        return code
    }

    private func code(of outcome: PlayerOutcome) -> ExitCode {
        if lacksScreen.value == true { return .couldNotStart }
        if outcome.fatal != nil {
            return ExitCode.afterFatal(outcome.summary, isHeard: heard.value == true)
        }
        return ExitCode.afterSession(
            outcome.summary,
            isHeard: heard.value == true,
            isQuit: outcome.isQuit,
            isSignalled: signal.value != nil
        )
    }

    /// Prints the failure that ended the session, and the summary, on standard error.
    private func showEnd(of outcome: PlayerOutcome, _ code: ExitCode) {
        if let fatal = outcome.fatal, fatal != shownFailure.value { Messages.show(fatal) }
        guard presentation != .json, code != .couldNotStart else { return }
        Messages.showLine(SafeText(SessionSummary.text(outcome.summary)))
    }

    /// Shows the screen on a thread of its own, the only one that calls ncurses.
    private func showScreen(_ player: any PlayerControl) async {
        let screen = TerminalScreen(configuration: screenConfiguration)
        let end = OneShot<TerminalExit>()
        NamedThread.start("screen") { [surroundings] in
            end.give(screen.run(player: player, surroundings: surroundings) { end.give($0) })
        }
        switch await end.wait(ifCancelled: .over) {
        case .over, .quit: break
        case .signal(let number):
            signal.value = number
            player.send(.quit)
        case .unusable:
            Messages.show("Can't open the screen: too many open files")
            lacksScreen.value = true
            player.send(.quit)
        }
    }

    private var screenConfiguration: TerminalConfiguration {
        var configuration = TerminalConfiguration(BasePaths.variable, stderrPath: interface.logFile)
        configuration.usesMouse = !options.noMouse
        configuration.theme = options.theme ?? .auto
        configuration.listThemes = { ThemeFiles.all() }
        configuration.keyMap = interface.screen.keyMap
        configuration.colors = interface.screen.colors
        if let memory = interface.memory {
            configuration.history = memory.last.history
            configuration.remember = { memory.remember($0) }
        }
        return configuration
    }

    /// Starts to read commands from standard input: keys if it is a terminal and sentences are shown, else
    /// lines.
    private func startInput(_ player: any PlayerControl) {
        Signals.onTermination { [self] number in
            signal.value = number
            reporter?.limitWait()
            player.send(.quit)
            Task { [clock, keysEnded] in
                try? await clock.sleep(for: EventReporter.writeLimit)
                keysEnded.give(())
            }
        }
        guard !options.readsListFromInput else { return }
        guard readsKeys else {
            CommandReader.start(
                descriptor: STDIN_FILENO,
                control: player,
                announce: { [self] in reporter?.announce($0) },
                report: { [self] in report($0) }
            )
            return
        }
        let glyphs = TextStyle(descriptor: STDOUT_FILENO).glyphs
        let keys = PlainKeys(configuration: screenConfiguration, glyphs: glyphs)
        NamedThread.start("keys") { [self] in
            keys.run(
                player: player,
                say: { self.reporter?.say($0) },
                prompt: { try? WholeFile.write((":" + $0.string).utf8, to: STDOUT_FILENO) }
            )
            keysEnded.give(())
        }
    }

    /// `true` if standard input is a terminal whose keys are commands.
    private var readsKeys: Bool {
        presentation == .plain && !options.readsListFromInput && isatty(STDIN_FILENO) == 1
    }
}
