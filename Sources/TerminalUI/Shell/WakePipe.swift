internal import Glibc

/// Ends a `poll` from any thread or signal handler; a byte in it says that there is news.
package final class WakePipe: Sendable {
    let readEnd: Int32
    let writeEnd: Int32

    /// nil where the process has no descriptor left.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends {
            // Neither a full pipe nor an empty one may block; no child inherits it.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func wake() {
        var byte: UInt8 = 0
        // A full pipe already wakes its reader.
        _ = write(writeEnd, &byte, 1)
    }

    /// Takes all that was written.
    package func drain() -> [UInt8] {
        var taken: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256)
        while true {
            let count = read(readEnd, &chunk, chunk.count)
            guard count > 0 else { return taken }
            taken.append(contentsOf: chunk[..<count])
        }
    }
}
