import Glibc
import Media

/// One file, pipe or device that samples are written to.
///
/// Writing never waits beyond an interruption: a regular file does not wait, and anything else is
/// written in pieces of one page after `poll` said that there is room for one.
struct OutputFile: ~Copyable {
    private let descriptor: CInt
    private let isOurs: Bool
    private let isRegular: Bool
    private let name: SafeText

    /// Makes or empties the file at `path`.
    init(creating path: String) throws(MediaError) {
        name = SafeText(path)
        // Not blocking, or a named pipe that nobody reads would hold the player until someone does.
        descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o644)
        guard descriptor >= 0 else {
            let reason: SafeText = errno == ENXIO ? "nobody reads from this pipe yet" : Self.reason(errno)
            throw MediaError(.sinkFailed, name, "the file for the sound cannot be made: " + reason)
        }
        isOurs = true
        isRegular = Self.isRegular(descriptor)
    }

    /// Writes to a descriptor that belongs to someone else and stays open.
    init(borrowing descriptor: CInt, name: SafeText) {
        self.descriptor = descriptor
        self.name = name
        isOurs = false
        isRegular = Self.isRegular(descriptor)
    }

    deinit {
        if isOurs { Glibc.close(descriptor) }
    }

    /// Writes a prefix of `bytes` and returns its length, which is less than all only when interrupted.
    borrowing func write(
        _ bytes: UnsafeRawBufferPointer,
        until interruption: Interruption
    ) throws(MediaError) -> Int {
        var written = 0
        while written < bytes.count {
            if !isRegular, try !waitForRoom(until: interruption) { break }
            // POSIX: a pipe that polls writable takes PIPE_BUF bytes without waiting.
            let size = isRegular ? bytes.count - written : min(4096, bytes.count - written)
            let status = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: written), size)
            if status > 0 { written += status }
            if status < 0 && errno != EINTR && errno != EAGAIN { throw failure(errno) }
        }
        return written
    }

    /// Overwrites the start of the file, as far as it is one that can be gone back in.
    borrowing func rewriteStart(_ bytes: [UInt8]) {
        _ = pwrite(descriptor, bytes, bytes.count, 0)
    }

    /// Waits until a page can be written; false when interrupted.
    private borrowing func waitForRoom(until interruption: Interruption) throws(MediaError) -> Bool {
        var polled = [
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&polled, 2, -1) < 0 {
            guard errno == EINTR else { throw failure(errno) }
        }
        return polled[1].revents == 0
    }

    private borrowing func failure(_ code: CInt) -> MediaError {
        let cause: SafeText =
            code == EPIPE
            ? "whoever read the sound has gone"
            : "the sound cannot be written: " + Self.reason(code)
        return MediaError(.sinkFailed, name, cause)
    }

    private static func isRegular(_ descriptor: CInt) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    private static func reason(_ code: CInt) -> SafeText {
        SafeText(String(cString: strerror(code)))
    }
}
