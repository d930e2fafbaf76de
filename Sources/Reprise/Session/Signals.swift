import Glibc
import Media
import System

/// The signals that end a session.
///
/// They are blocked in every thread and taken by `sigwait` on one of their own, so what they start is
/// ordinary code and not a signal handler, which may call next to nothing. While there is a screen, its thread takes
/// them instead.
enum Signals {
    static let terminating: [Int32] = [SIGINT, SIGTERM, SIGHUP]

    /// Blocks the terminating signals and ignores SIGPIPE. To be called first of all, on the main
    /// thread: threads inherit the mask of the one that starts them.
    static func prepare() {
        // A closed pipe is an error of `write`, which ends the session in order.
        signal(SIGPIPE, SIG_IGN)
        var set = makeSet()
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `handler` for the first terminating signal, from the signal thread; it must not wait.
    ///
    /// A later one says that waiting is over, and the process ends at once. In a session that `isEnding`
    /// already, the first signal is a later one.
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
                // EINTR, the one failure it can have here, leaves nothing to do but wait on.
                guard sigwait(&set, &number) == 0 else { continue }
                switch state.received(number, at: clock.now) {
                case .end(let signal): handler(signal)
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
