import Glibc
import Media

/// `$XDG_STATE_HOME/reprise`: what outlives a session and is nobody else's business.
struct StateFolder: Sendable {
    let path: String

    /// nil where there is no home. The folder is made when something is written.
    init?(environment: (String) -> String?, accountHome: () -> String?) {
        guard
            let path = BasePaths.folder(
                "XDG_STATE_HOME",
                or: ".local/state",
                environment: environment,
                accountHome: accountHome
            )
        else { return nil }
        self.path = path
    }

    init(path: String) { self.path = path }

    /// The largest file that is read: a queue of a few hundred thousand tracks.
    static let largestByteCount = 64 << 20
    /// A log that is longer is begun anew.
    static let longestLog: off_t = 1 << 20

    /// What went wrong with a file; worded for the listener.
    struct Failure: Error, Equatable {
        var reason: SafeText
    }

    /// The log that libraries' words go to while a screen is up, ready for appending; nil where there can be none.
    func log() -> String? {
        guard (try? make()) != nil else { return nil }
        let log = path + "/log"
        var status = stat()
        if lstat(log, &status) == 0, status.st_size > Self.longestLog { unlink(log) }
        return log
    }

    /// The text of a file; nil where there is none. Throws for what is no readable text.
    func read(_ name: String) throws(Failure) -> String? {
        let file = path + "/" + name
        // Not to wait where somebody put a pipe in its place.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Failure(reason: SafeText(String(cString: strerror(errno))))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(reason: "it is no file")
        }
        guard status.st_size <= Self.largestByteCount else { throw Failure(reason: "it is too large") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw Failure(reason: SafeText(String(cString: strerror(errno)))) }
            if got == 0 { break }
            count += got
        }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw Failure(reason: "it is not text")
        }
        return text
    }

    /// Puts `text` in the place of a file, whole or not at all, whoever else writes and whenever the power fails.
    ///
    /// Waits for others that write, and for the disk.
    func write(_ text: String, to name: String) throws(Failure) {
        try make()
        let lock = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw Self.failure() }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 { guard errno == EINTR else { throw Self.failure() } }
        // Held by one writer at a time, so that the name of the new file can be the same each time, and
        // nothing is left over.
        let new = path + "/" + name + ".new"
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure() }
        let isWritten = Self.writeAll(text, to: descriptor) && fsync(descriptor) == 0
        let failure = Self.failure()
        close(descriptor)
        guard isWritten, rename(new, path + "/" + name) == 0 else {
            unlink(new)
            throw failure
        }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Adds a line to a file; one `write`, so that lines of several players stay whole.
    func append(_ line: String, to name: String) {
        guard (try? make()) != nil else { return }
        let descriptor = open(
            path + "/" + name,
            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
            0o600
        )
        guard descriptor >= 0 else { return }
        _ = Self.writeAll(line + "\n", to: descriptor)
        close(descriptor)
    }

    /// Moves a file out of the way, for whoever wants to look at it.
    func setAside(_ name: String) { rename(path + "/" + name, path + "/" + name + ".bad") }

    private func make() throws(Failure) {
        if access(path, W_OK | X_OK) == 0 { return }
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            // 0700 also for those above it, by the specification of the base directories.
            mkdir(made, 0o700)
        }
        guard access(path, W_OK | X_OK) == 0 else { throw Self.failure() }
    }

    private static func writeAll(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let count = Glibc.write(
                    descriptor,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count
                )
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    private static func failure() -> Failure { Failure(reason: SafeText(String(cString: strerror(errno)))) }
}
