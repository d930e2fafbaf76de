import Glibc
import Media
import Playback
import TerminalUI

/// Shows a playing session to its user, as a screen or as lines, and turns its outcome into an exit code.
final class PlayingSession: Sendable {
    private let presentation: Presentation
    private let options: Options
    private let reporter: EventReporter?
    private let player = LateBound<any PlayerControl>()
    private let signal = LateBound<Int32>()
    /// The last failure of a track that was shown: when it ends the session too, it is said once.
    private let shownFailure = LateBound<MediaError>()

    init(presentation: Presentation, options: Options, clock: any MonotonicClock) {
        self.presentation = presentation
        self.options = options
        let player = player
        reporter =
            presentation == .screen
            ? nil
            : EventReporter(
                style: presentation == .json ? .json : .words,
                clock: clock,
                descriptor: options.writesSamplesToOutput ? STDERR_FILENO : STDOUT_FILENO,
                // Nobody reads any more; what would be played then is wanted by nobody.
                onReaderGone: { player.value?.send(.quit) }
            )
    }

    /// Hears the player's events, from any task.
    func report(_ event: PlayerEvent) {
        guard let reporter else { return }
        reporter.report(event)
        switch event {
        case .ended(let end):
            guard let error = end.error else { return }
            shownFailure.value = error
            Messages.show(error)
        case .notice(let code, let message): if code != CommandReader.noticeCode { Messages.show(message) }
        default: break
        }
    }

    /// Shows what `play` plays; returns when both are over.
    func run(
        _ player: any PlayerControl,
        play: @escaping @Sendable @concurrent () async -> PlayerOutcome
    ) async -> ExitCode {
        self.player.value = player
        let playing = Task(operation: play)
        if presentation == .screen {
            await showScreen(player)
        } else {
            takeLines(player)
        }
        let outcome = await playing.value
        await reporter?.finish()
        let wasSignalled = signal.value != nil
        if let fatal = outcome.fatal {
            if fatal != shownFailure.value { Messages.show(fatal) }
            return .couldNotStart
        }
        if presentation != .json { Messages.showLine(SafeText(SessionSummary.text(outcome.summary))) }
        return ExitCode.afterSession(outcome.summary, isQuit: outcome.isQuit, isSignalled: wasSignalled)
    }

    /// Shows the screen on a thread of its own, which is the only one to call ncurses.
    private func showScreen(_ player: any PlayerControl) async {
        let screen = TerminalScreen(configuration: TerminalConfiguration(environment: BasePaths.environment))
        let end = await withCheckedContinuation { continuation in
            NamedThread.start("screen") {
                // The screen takes its signals itself, and here alone they are its own.
                Signals.unblock()
                continuation.resume(returning: screen.run(player: player))
            }
        }
        switch end {
        case .over, .quit: break
        case .signal(let number):
            signal.value = number
            player.send(.quit)
        case .unusable(let reason):
            Messages.show(reason)
            player.send(.quit)
        }
    }

    private func takeLines(_ player: any PlayerControl) {
        Signals.onTermination { [self] number in
            signal.value = number
            player.send(.quit)
        }
        guard !options.readsListFromInput else { return }
        CommandReader.start(descriptor: STDIN_FILENO, control: player) { [self] in report($0) }
    }
}
