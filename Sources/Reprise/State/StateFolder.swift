import Glibc
import Media
import System

/// The reason why a saved file can't be used, worded for the user.
struct StateError: Error, Equatable {
    var reason: SafeText

    init(_ reason: SafeText) { self.reason = reason }

    init(_ error: SystemError) { reason = SafeText(error.reason) }
}

/// `$XDG_STATE_HOME/reprise`: the private files that outlive a session.
struct StateFolder: Sendable {
    /// The folder is created with the first file.
    let path: String

    /// The largest file that is read; room for a queue of a few hundred thousand tracks.
    static let largestByteCount = 64 << 20
    /// The limit of the log; a longer one is deleted at the next start.
    static let longestLog: off_t = 1 << 20

    /// The path of the log that receives standard error while a screen is up, since libraries may write
    /// there; `nil` if the folder cannot be created.
    func log() -> String? {
        guard (try? make()) != nil else { return nil }
        let log = path + "/log"
        let file = FileName.cString(log)
        var status = stat()
        if lstat(file, &status) == 0, status.st_size > Self.longestLog { unlink(file) }
        return log
    }

    /// The text of a file; `nil` if the file does not exist.
    func read(_ name: String) throws(StateError) -> String? {
        let file = path + "/" + name
        // Non-blocking, in case there is a pipe in its place.
        let descriptor = open(FileName.cString(file), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw StateError(SystemError("open the file"))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StateError("it is not a file")
        }
        guard status.st_size <= Self.largestByteCount else { throw StateError("it is too large") }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try WholeFile.read(descriptor, limit: Int(status.st_size))
        } catch {
            throw StateError(error)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StateError("it is not text")
        }
        return text
    }

    /// Replaces a file by `text`, whole or not at all, even if other processes write or the power fails.
    ///
    /// Waits for other writers, and for the disk.
    func write(_ text: String, to name: String) throws(StateError) {
        try locked { () throws(StateError) in try replace(name, by: text) }
    }

    /// Replaces the text of a file by the result of `change`; does nothing if the file does not exist. No
    /// other process changes the file meanwhile.
    func rewrite(_ name: String, _ change: (String) -> String) throws(StateError) {
        try locked { () throws(StateError) in
            if let text = try read(name) { try replace(name, by: change(text)) }
        }
    }

    /// Appends a line to a file with one `write`, so that lines of several players are not mixed.
    func append(_ line: String, to name: String) {
        try? locked { () throws(StateError) in
            let descriptor = open(
                FileName.cString(path + "/" + name),
                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                0o600
            )
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            try? WholeFile.write((line + "\n").utf8, to: descriptor)
        }
    }

    /// Calls `body` while this process holds the folder's lock.
    private func locked(_ body: () throws(StateError) -> Void) throws(StateError) {
        try make()
        let lock = open(FileName.cString(path + "/lock"), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw StateError(SystemError("open the lock")) }
        defer { close(lock) }
        guard retryingInterrupted({ flock(lock, LOCK_EX) }) == 0 else {
            throw StateError(SystemError("lock the folder"))
        }
        try body()
    }

    private func replace(_ name: String, by text: String) throws(StateError) {
        let file = path + "/" + name
        do throws(SystemError) {
            // One writer at a time holds the lock, so the draft can always have the same name, and no draft
            // is left over.
            try WholeFile.replace(file, with: text.utf8, mode: 0o600, draft: file + ".new")
        } catch {
            throw StateError(error)
        }
    }

    /// Renames a damaged file, so that the user can still look at it.
    func setAside(_ name: String) {
        let file = path + "/" + name
        rename(FileName.cString(file), FileName.cString(file + ".bad"))
    }

    private func make() throws(StateError) {
        if access(FileName.cString(path), W_OK | X_OK) == 0 { return }
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            // The specification of the base directories requires 0700 for the parents too.
            mkdir(FileName.cString(made), 0o700)
        }
        guard access(FileName.cString(path), W_OK | X_OK) == 0 else {
            throw StateError(SystemError("make the folder"))
        }
    }
}
