import Glibc
import Media
import System

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

        init(reason: SafeText) { self.reason = reason }

        init(_ error: SystemError) { reason = SafeText(error.reason) }
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
            throw Failure(SystemError("open the file"))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(reason: "it is no file")
        }
        guard status.st_size <= Self.largestByteCount else { throw Failure(reason: "it is too large") }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try WholeFile.read(descriptor, limit: Int(status.st_size))
        } catch {
            throw Failure(error)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(reason: "it is not text")
        }
        return text
    }

    /// Puts `text` in the place of a file, whole or not at all, whoever else writes and whenever the power fails.
    ///
    /// Waits for others that write, and for the disk.
    func write(_ text: String, to name: String) throws(Failure) {
        try make()
        let file = path + "/" + name
        do throws(SystemError) {
            let lock = try check(
                "open the lock",
                open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            )
            defer { close(lock) }
            try check("lock the folder", retryingInterrupted { flock(lock, LOCK_EX) })
            // One writer at a time holds the lock, so the draft can always have the same name, and no draft is left over.
            try WholeFile.replace(file, with: text.utf8, mode: 0o600, draft: file + ".new")
        } catch {
            throw Failure(error)
        }
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
        try? WholeFile.write((line + "\n").utf8, to: descriptor)
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
        guard access(path, W_OK | X_OK) == 0 else { throw Failure(SystemError("make the folder")) }
    }
}
