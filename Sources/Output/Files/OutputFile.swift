import Glibc
import Media
import System

/// One file, pipe or device to which samples are written.
///
/// An interruption ends a write that waits. Writes to regular files never wait; everything else is written in
/// pieces of one page, each after `poll` has reported room for it.
struct OutputFile: ~Copyable {
    private let descriptor: CInt
    private let isRegular: Bool
    private let name: SafeText

    /// Creates the file at `path`.
    ///
    /// A file that exists may be the music itself, so it is refused unless it is empty or `replaces` is
    /// `true`.
    init(creating path: String, replaces: Bool) throws(MediaError) {
        let name = SafeText(path)
        // Non-blocking: otherwise a named pipe without a reader would block the player.
        let descriptor = Glibc.open(
            FileName.cString(path),
            O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK,
            0o644
        )
        guard descriptor >= 0 else {
            let reason: SafeText =
                errno == ENXIO ? "no program reads from this pipe yet" : SafeText(SystemError.reason())
            throw MediaError(.sinkFailed, name, "can't create the file: " + reason)
        }
        let isRegular = Self.isRegular(descriptor)
        if isRegular, lseek(descriptor, 0, SEEK_END) != 0,
            !replaces || ftruncate(descriptor, 0) != 0 || lseek(descriptor, 0, SEEK_SET) != 0
        {
            Glibc.close(descriptor)
            throw MediaError(.sinkFailed, name, "exists already; choose another name, or delete it first")
        }
        self.descriptor = descriptor
        self.isRegular = isRegular
        self.name = name
    }

    /// Writes to the file behind `descriptor`, which stays open.
    init(duplicating descriptor: CInt, name: SafeText) {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        self.name = name
        isRegular = Self.isRegular(descriptor)
    }

    deinit { Glibc.close(descriptor) }

    /// Writes a prefix of `bytes` and returns its length: all of them, or fewer if interrupted.
    borrowing func write(
        _ bytes: UnsafeRawBufferPointer,
        until interruption: Interruption?
    ) throws(MediaError) -> Int {
        var written = 0
        while written < bytes.count {
            if !isRegular, try !waitForRoom(until: interruption) { break }
            // POSIX: a pipe that `poll` reports as writable accepts PIPE_BUF bytes without waiting.
            let size = isRegular ? bytes.count - written : min(4096, bytes.count - written)
            let status = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: written), size)
            if status > 0 { written += status }
            if status < 0 && errno != EINTR && errno != EAGAIN { throw failure(errno) }
        }
        return written
    }

    /// Overwrites the start of the file, if it is seekable.
    borrowing func rewriteStart(_ bytes: [UInt8]) { _ = pwrite(descriptor, bytes, bytes.count, 0) }

    /// Waits until a page can be written; returns `false` if interrupted.
    private borrowing func waitForRoom(until interruption: Interruption?) throws(MediaError) -> Bool {
        while true {
            let raised = interruption?.descriptor ?? -1
            if let found = Poll.wait(reading: [raised], writing: [descriptor]) { return found[0] == 0 }
            guard errno == EINTR else { throw failure(errno) }
        }
    }

    private borrowing func failure(_ code: CInt) -> MediaError {
        let cause: SafeText =
            code == EPIPE
            ? "can't write: the program that read the sound has ended"
            : "can't write: " + SafeText(SystemError.reason(code))
        return MediaError(.sinkFailed, name, cause)
    }

    private static func isRegular(_ descriptor: CInt) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}

/// Ends a `poll` that waits for a slow reader of our pipe: a caller with a command for the polling thread
/// raises the interruption, and the thread lowers it when it handles the command.
///
/// Its own pipe holds one byte for each pending command, so that none is missed between a check and the wait.
final class Interruption: Sendable {
    /// `nil` if the process has no descriptors left.
    private let pipe = WakePipe()

    /// Readable while raised; -1 without a pipe, which `poll` ignores.
    var descriptor: CInt { pipe?.readEnd ?? -1 }

    func raise() { pipe?.wake() }

    func lower() {
        var byte: UInt8 = 0
        _ = read(descriptor, &byte, 1)
    }
}
