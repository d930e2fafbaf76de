internal import Glibc
import Synchronization
import System

/// Passes signals on to the screen's thread, and gives the screen up if a signal ends the program while that
/// thread waits for a terminal that takes no output.
///
/// A terminal takes none after Ctrl-S, or if its window does not respond. The guard's own thread waits in
/// `poll`, with a timer only between such a signal and the end of the screen.
final class ScreenGuard: Sendable {
    /// The time that the screen has to end, after a signal, before the terminal is checked; also the time
    /// between checks.
    private static let patience = Duration.milliseconds(300)
    private static let ending = [SIGINT, SIGTERM, SIGHUP]

    /// Written by the signal handler.
    let caught: WakePipe
    /// Read by the screen.
    private let signals: WakePipe
    private let terminal: Int32
    private let modes: termios
    private let giveUp: @Sendable (Int32) -> Void
    private let isOver = Atomic(false)
    private let hasEnded = Monitor(false)

    /// Starts the thread. `modes` are those that the terminal gets back. `giveUp` is called with the signal,
    /// at most once.
    init?(
        passingTo signals: WakePipe,
        terminal: Int32,
        modes: termios,
        giveUp: @escaping @Sendable (Int32) -> Void
    ) {
        guard let caught = WakePipe() else { return nil }
        self.caught = caught
        self.signals = signals
        self.terminal = terminal
        self.modes = modes
        self.giveUp = giveUp
        NamedThread.start("screen-guard") { [self] in
            serve()
            hasEnded.withLock { $0 = true }
        }
    }

    /// Ends the thread; returns when it has ended. Signals that the screen did not take are in `caught`
    /// again.
    func end() {
        isOver.store(true, ordering: .releasing)
        caught.wake()
        hasEnded.withLock(when: { $0 }) { _ in }
        for signal in signals.drain() { caught.wake(signal) }
    }

    private func serve() {
        while !isOver.load(ordering: .acquiring) {
            Poll.wait(reading: [caught.readEnd])
            guard let signal = passOn() else { continue }
            awaitEnd(after: signal)
            return
        }
    }

    /// Waits until the screen has ended, or gives it up.
    private func awaitEnd(after signal: Int32) {
        var isResumed = false
        while true {
            passOn(until: .now + Self.patience)
            guard !isOver.load(ordering: .acquiring) else { return }
            // A terminal that takes output delays nothing: the screen waits for the player.
            guard Poll.wait(writing: [terminal], atMost: .zero) == [0] else { continue }
            guard isResumed else {
                TerminalFlow.resume(terminal)
                isResumed = true
                continue
            }
            var modes = modes
            tcsetattr(terminal, TCSANOW, &modes)
            giveUp(signal)
            return passOn(until: nil)
        }
    }

    /// Passes the caught signals on; returns one that ends the program, if there is any.
    @discardableResult
    private func passOn() -> Int32? {
        let bytes = caught.drain().filter { $0 != 0 }
        for byte in bytes { signals.wake(byte) }
        return bytes.map { Int32($0) }.first { Self.ending.contains($0) }
    }

    /// Passes signals on until `deadline`, or until the screen has ended.
    private func passOn(until deadline: ContinuousClock.Instant?) {
        while !isOver.load(ordering: .acquiring) {
            let left = deadline.map { $0 - .now }
            if let left, left <= .zero { return }
            Poll.wait(reading: [caught.readEnd], atMost: left)
            passOn()
        }
    }
}

/// The flow control of a terminal: Ctrl-S stops its output, Ctrl-Q resumes it.
package enum TerminalFlow {
    /// Resumes the output to `descriptor`, if that is a terminal. A program that ends must not wait for a
    /// key.
    package static func resume(_ descriptor: Int32) {
        guard isatty(descriptor) == 1 else { return }
        // `TCOON` alone ends only what `TCOOFF` began, not what a key did (Linux, tty_ioctl(4)).
        tcflow(descriptor, TCOOFF)
        tcflow(descriptor, TCOON)
    }
}
