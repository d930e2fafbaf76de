internal import CTerminal
internal import Glibc

/// Turns signals into bytes in a pipe, and lets a fault restore the terminal.
///
/// Installed before ncurses, which leaves signals alone that have a handler: its own ones clean up
/// inside the handler, where that is not safe, and exit. One at a time, on the screen's thread: that one takes them
/// meanwhile, also where the program blocks them in all of its threads to wait for them elsewhere.
package struct SignalRelay: ~Copyable {
    /// What ends the program in an orderly way, resizes the window or suspends.
    package static let relayed = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT]
    /// About the screen alone: without one they mean nothing more.
    private static let aboutScreen = [SIGWINCH, SIGTSTP, SIGCONT]
    /// What ends the program on the spot: a fault, a trap of Swift's, and SIGQUIT, which asks for just that.
    static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSYS, SIGQUIT]

    private let pipe: WakePipe
    private var previous: [(signal: Int32, action: sigaction)] = []
    /// What the thread blocked before.
    private var mask = sigset_t()
    private var armed: Watch?

    /// What a fault must bring back.
    struct Watch {
        var descriptor: Int32
        var modes: termios
        /// -1 for none.
        var standardError: Int32
        /// What the terminal is sent.
        var reset: String
        /// What standard error is told behind the name of the signal.
        var message: String
    }

    /// Starts to relay `signals` into `pipe`, which must outlive this value.
    package init(_ signals: [Int32] = Self.relayed, into pipe: WakePipe) {
        self.pipe = pipe
        for signal in signals {
            var action = sigaction()
            if cterminal_relay_signal(signal, pipe.writeEnd, &action) == 0 {
                previous.append((signal, action))
            }
        }
        for signal in Self.faults {
            var action = sigaction()
            if cterminal_catch_fault(signal, &action) == 0 { previous.append((signal, action)) }
        }
        // Not before all have a handler: what came until now comes here.
        var relayed = sigset_t()
        sigemptyset(&relayed)
        for signal in signals + Self.faults { sigaddset(&relayed, signal) }
        pthread_sigmask(SIG_UNBLOCK, &relayed, &mask)
    }

    deinit {
        cterminal_disarm_reset()
        // First of all: a signal that comes from here on waits for whom the program lets wait for it.
        var mask = mask
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        for (signal, action) in previous {
            var action = action
            sigaction(signal, &action, nil)
        }
        cterminal_end_relay()
        // Such a one takes also what nobody has read here.
        for signal in pipe.drain().map(Int32.init) {
            guard sigismember(&mask, signal) == 1, !Self.aboutScreen.contains(signal) else { continue }
            kill(getpid(), signal)
        }
    }

    /// From now on a fault brings back what `watch` names.
    mutating func arm(_ watch: Watch) {
        armed = watch
        arm()
    }

    /// Watches over the same terminal again, after `disarm`.
    func arm() {
        guard var armed else { return }
        cterminal_arm_reset(
            armed.descriptor,
            &armed.modes,
            armed.standardError,
            armed.reset,
            armed.message
        )
    }

    /// From now on a fault touches no terminal.
    func disarm() { cterminal_disarm_reset() }

    /// Stops the process as Ctrl-Z would have, and returns when it goes on.
    func suspend() {
        var action = sigaction()
        cterminal_default_signal(SIGTSTP, &action)
        raise(SIGTSTP)
        cterminal_relay_signal(SIGTSTP, pipe.writeEnd, &action)
    }
}
