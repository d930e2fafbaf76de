import Glibc

/// Ends a `poll` that waits for a slow reader of our pipe: raised by whoever has a command for the
/// thread that polls, lowered by the thread when it gets to it.
///
/// A pipe of its own holds one byte for each command under way, so nothing can be missed
/// between looking and waiting.
final class Interruption: Sendable {
    /// Readable while raised; -1 when the process has no descriptors left, which `poll` passes over.
    let descriptor: CInt
    private let writer: CInt

    init() {
        var ends: [CInt] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
        (descriptor, writer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    func raise() {
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }

    func lower() {
        var byte: UInt8 = 0
        _ = read(descriptor, &byte, 1)
    }
}
