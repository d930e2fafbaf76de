import Glibc

/// The wait of a thread that serves descriptors, with poll(2). Only named threads may wait, never a task of
/// Swift's pool.
package enum Poll {
    /// Blocks until a descriptor can be read or written without waiting, or is closed at its other end.
    ///
    /// - Parameters:
    ///   - reading: the descriptors to be read; a negative one is ignored.
    ///   - writing: the descriptors to be written.
    ///   - watching: the descriptors of which only an error or the end of both directions is awaited.
    ///   - limit: the longest wait; `nil` waits without end and without a timer.
    /// - Returns: what poll(2) found on each of them (`revents`), 0 if nothing, in their order; `nil` if a
    ///   signal has interrupted the wait.
    @discardableResult
    package static func wait(
        reading: [Int32] = [],
        writing: [Int32] = [],
        watching: [Int32] = [],
        atMost limit: Duration? = nil
    ) -> [Int16]? {
        var awaited =
            reading.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            + writing.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
            + watching.map { pollfd(fd: $0, events: 0, revents: 0) }
        // Rounded up: a wait that ends too early would only have to be repeated.
        let milliseconds = limit.map { max(0, min(Double(Int32.max), ($0 / .milliseconds(1)).rounded(.up))) }
        guard poll(&awaited, nfds_t(awaited.count), Int32(milliseconds ?? -1)) >= 0 else { return nil }
        return awaited.map(\.revents)
    }
}

/// A pipe with which any thread or signal handler can wake a thread that waits in `Poll`.
package final class WakePipe: Sendable {
    package let readEnd: Int32
    package let writeEnd: Int32

    /// `nil` if the process has no free descriptor.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        readEnd = ends[0]
        writeEnd = ends[1]
        for end in ends {
            // Neither a full nor an empty pipe may block, and no child process inherits it.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    package func wake(_ byte: UInt8 = 0) {
        var byte = byte
        // An error is ignored: a full pipe already wakes its reader.
        _ = write(writeEnd, &byte, 1)
    }

    /// Reads all bytes written so far.
    package func drain() -> [UInt8] {
        var drained: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256)
        while true {
            let count = read(readEnd, &chunk, chunk.count)
            guard count > 0 else { return drained }
            drained.append(contentsOf: chunk[..<count])
        }
    }
}
