internal import CTerminal
internal import Glibc
package import System

/// Writes signals as bytes into a pipe, and restores the terminal after a fault.
///
/// Create it before starting ncurses. ncurses installs its own handlers only for signals that have none, and
/// those are not safe: they clean up inside the handler and exit. There is one relay at a time, on the thread
/// that reads the keys. It unblocks the signals on this thread, even if all other threads block them.
package struct SignalRelay: ~Copyable {
    /// The signals that end the program in an orderly way, resize the window or suspend.
    package static let relayed = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT]
    /// The signals that have no meaning without a screen.
    private static let aboutScreen = [SIGWINCH, SIGTSTP, SIGCONT]
    /// The signals that end the program at once: faults, Swift's traps, and SIGQUIT, by which a user requests
    /// that.
    static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSYS, SIGQUIT]

    private let pipe: WakePipe
    private var previous: [(signal: Int32, action: sigaction)] = []
    /// The thread's signal mask before the relay.
    private var mask = sigset_t()
    private var armed: Watch?

    /// The state that a fault must restore.
    struct Watch {
        var descriptor: Int32
        var modes: termios
        /// The original descriptor of standard error; -1 if it need not be restored.
        var standardError: Int32
        /// The sequences that reset the terminal.
        var reset: String
        /// Written to standard error after the name of the signal.
        var message: String
    }

    /// Starts relaying `signals` into `pipe`, which must outlive this value.
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
        // Unblock the signals only now that all have a handler: pending ones arrive at once.
        var relayed = sigset_t()
        sigemptyset(&relayed)
        for signal in signals + Self.faults { sigaddset(&relayed, signal) }
        pthread_sigmask(SIG_UNBLOCK, &relayed, &mask)
    }

    deinit {
        cterminal_disarm_reset()
        // Block the signals first: later ones go to the thread that waits for them with `sigwait`.
        var mask = mask
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        for (signal, action) in previous {
            var action = action
            sigaction(signal, &action, nil)
        }
        cterminal_end_relay()
        // Forward the signals that were not read here to that thread.
        for signal in pipe.drain().map(Int32.init) {
            guard sigismember(&mask, signal) == 1, !Self.aboutScreen.contains(signal) else { continue }
            kill(getpid(), signal)
        }
    }

    /// Arms the fault handler: from now on, a fault restores the state in `watch`.
    mutating func arm(_ watch: Watch) {
        armed = watch
        arm()
    }

    /// Arms the fault handler again, with the same state as before `disarm`.
    func arm() {
        guard var armed else { return }
        cterminal_arm_reset(armed.descriptor, &armed.modes, armed.standardError, armed.reset, armed.message)
    }

    /// Disarms the fault handler: from now on, a fault does not change the terminal.
    func disarm() { cterminal_disarm_reset() }

    /// Stops the process as Ctrl-Z does by default, and returns when it is continued.
    func suspend() {
        var action = sigaction()
        cterminal_default_signal(SIGTSTP, &action)
        raise(SIGTSTP)
        cterminal_relay_signal(SIGTSTP, pipe.writeEnd, &action)
    }
}

/// Job control: a process in the background must leave the terminal to the shell.
enum Foreground {
    /// The interval at which a running background process checks if it is in the foreground again, because no
    /// signal reports that.
    static let checkInterval = Duration.seconds(1)

    /// `true` if this process may change the terminal at `descriptor`, or if that is not its controlling
    /// terminal.
    static func holds(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }
}
