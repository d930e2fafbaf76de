import Glibc
import System
import TerminalUI

/// The signals that end a session.
///
/// They are blocked in every thread and taken by `sigwait` on a thread of their own, so that ordinary code
/// handles them rather than a signal handler, which may call only few functions. While there is a screen, its
/// thread receives them instead.
enum Signals {
    static let terminating: [Int32] = [SIGINT, SIGTERM, SIGHUP]

    /// Blocks the terminating signals and ignores SIGPIPE. Must be called first, on the main thread: a thread
    /// inherits the signal mask of the one that starts it.
    static func prepare() {
        // Writing to a closed pipe then returns an error, which ends the session in an orderly way.
        signal(SIGPIPE, SIG_IGN)
        var set = makeSet()
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `handler` for the first terminating signal, on the signal thread; `handler` must not block.
    /// Before that, resumes the output of a terminal that Ctrl-S has stopped.
    ///
    /// A later signal ends the process at once, unless it may be an echo (see `SignalState`). If the session
    /// `isEnding` already, the first signal counts as a later one.
    static func onTermination(
        isEnding: Bool = false,
        _ handler: @escaping @Sendable (Int32) -> Void = { _ in }
    ) {
        let clock = SystemClock()
        NamedThread.start("signals") {
            var state = SignalState(endingSince: isEnding ? clock.now : nil)
            while true {
                var set = makeSet()
                var number: Int32 = 0
                // The only error possible here is EINTR: wait again.
                guard sigwait(&set, &number) == 0 else { continue }
                switch state.received(number, at: clock.now) {
                case .end(let signal):
                    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
                        TerminalFlow.resume(descriptor)
                    }
                    handler(signal)
                case .endAtOnce: _exit(ExitCode.signal.rawValue)
                case .none: break
                }
            }
        }
    }

    private static func makeSet() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in terminating { sigaddset(&set, signal) }
        return set
    }
}

/// The effect of each terminating signal, given those before it.
struct SignalState: Sendable {
    enum Action: Sendable, Equatable {
        case end(signal: Int32)
        case endAtOnce
        case none
    }

    /// Signals within this time may be one request sent twice: `timeout` signals the process and its group,
    /// and when a terminal closes, both it and the shell send SIGHUP.
    static let echo = Duration.seconds(1)

    private var endingSince: Duration?

    /// `endingSince` is the time at which the session began to end for another reason.
    init(endingSince: Duration? = nil) { self.endingSince = endingSince }

    /// The first signal ends the session in an orderly way, a later one at once. A signal that may be an echo
    /// of the first is ignored, except an interrupt, which the user typed.
    mutating func received(_ signal: Int32, at now: Duration) -> Action {
        guard let endingSince else {
            endingSince = now
            return .end(signal: signal)
        }
        return signal == SIGINT || now - endingSince >= Self.echo ? .endAtOnce : .none
    }
}
