import Glibc
import Synchronization
import System

/// Writes lines to a descriptor, one `write` each, so that a line arrives whole or not at all beside
/// those of other writers (up to `PIPE_BUF` on a pipe).
final class LineWriter: Sendable {
    private let descriptor: Int32
    private let onReaderGone: @Sendable () -> Void
    private let isReaderGone = Atomic(false)

    init(descriptor: Int32, onReaderGone: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.onReaderGone = onReaderGone
    }

    /// Writes `line` and a line break; blocks while the reader does not read.
    ///
    /// When nobody can read any more, lines are dropped, and `onReaderGone` is called once. SIGPIPE
    /// has to be ignored.
    func write(_ line: String) {
        guard !isReaderGone.load(ordering: .relaxed) else { return }
        var rest = Array(line.utf8)[...]
        rest.append(UInt8(ascii: "\n"))
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                retryingInterrupted { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // The descriptor is shared with a program that made it non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else {
                // A pipe without a reader, a full disk, a closed descriptor: no later line can fare better.
                let wasGone = isReaderGone.exchange(true, ordering: .relaxed)
                if !wasGone { onReaderGone() }
                return
            }
        }
    }
}
