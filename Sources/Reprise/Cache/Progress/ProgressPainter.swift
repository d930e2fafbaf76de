import Glibc
import Media
import System

/// Draws progress at the foot of a terminal, and lets other lines pass above it.
final class ProgressPainter: Sendable {
    /// Faster than this nobody reads.
    static let rhythm = Duration.milliseconds(100)

    private struct State {
        var frame = ProgressFrame()
        var lines: [String] = []
        var lastDrawn: Duration?
    }

    let style: TextStyle
    private let clock: any MonotonicClock
    private let put: @Sendable (String) -> Void
    // Held while the terminal is written to, so that lines and frames keep their order.
    private let state = Locked(State())

    /// `put` writes text to the terminal as it is.
    init(style: TextStyle, clock: any MonotonicClock, put: @escaping @Sendable (String) -> Void) {
        // A line as wide as the terminal would wrap.
        self.style = TextStyle(columns: style.columns.map { max(1, $0 - 1) }, glyphs: style.glyphs)
        self.clock = clock
        self.put = put
    }

    /// Shows `lines` from now on; what comes sooner than `rhythm` after the last drawing waits for the next
    /// call, unless it `isLast`.
    func show(_ lines: [String], isLast: Bool = false) {
        let now = clock.now
        state.withLock { state in
            state.lines = lines
            if let last = state.lastDrawn, now - last < Self.rhythm, !isLast { return }
            state.lastDrawn = now
            put(state.frame.draw(lines))
        }
    }

    /// Runs `write`, which writes whole lines to the same terminal, above the progress.
    func above(_ write: () -> Void) {
        state.withLock { state in
            let erasing = state.frame.erase()
            if !erasing.isEmpty { put(erasing) }
            write()
            put(state.frame.draw(state.lines))
        }
    }

    /// Takes the progress away.
    func finish() { show([], isLast: true) }
}

extension ProgressPainter {
    /// The painter of this process's standard error; nil where that is no terminal, or one that cannot move
    /// its cursor.
    static func ofStandardError(clock: any MonotonicClock) -> ProgressPainter? {
        let term = getenv("TERM").map { String(cString: $0) } ?? ""
        guard isatty(STDERR_FILENO) == 1, !term.isEmpty, term != "dumb" else { return nil }
        return ProgressPainter(style: TextStyle(descriptor: STDERR_FILENO), clock: clock) { text in
            // What is not written of a progress is no loss.
            _ = Array(text.utf8).withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
    }
}
