import Glibc
import Media
import System

/// The file that music is written out to: it appears whole or not at all.
///
/// The bytes go to a draft beside it first, which goes with the object unless it was published.
final class ExportFile: Sendable {
    /// Open for reading and writing, and seekable.
    let descriptor: Int32
    private let path: String?
    private let draft: String
    private let replaces: Bool
    private let isPublished = Locked(false)

    /// Opens the draft; nil for `path` is standard output.
    ///
    /// Throws `MediaError` when `path` names something that is there and may not be replaced, or that no file
    /// can be made beside.
    init(path: String?, replaces: Bool) throws(MediaError) {
        self.path = path
        self.replaces = replaces
        if let path { try Self.checkTarget(path, replaces: replaces) }
        let folder = path.map { Self.folder(of: $0) } ?? Self.temporaryFolder
        draft = folder + "/.reprise-export-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        // Music in a shared folder for drafts is nobody else's business; beside its own name it is the umask's.
        let mode: mode_t = path == nil ? 0o600 : 0o666
        descriptor = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Self.failure(SafeText(path ?? folder), errno) }
        // What goes to standard output needs no name.
        if path == nil { unlink(draft) }
    }

    deinit {
        close(descriptor)
        if path != nil, !isPublished.withLock({ $0 }) { unlink(draft) }
    }

    /// Gives the file its name, or copies it to standard output. Throws `MediaError`.
    func publish() throws(MediaError) {
        guard let path else { return try copyToOutput() }
        guard fsync(descriptor) == 0 else { throw Self.failure(SafeText(path), errno) }
        // Unlike a new name, a second one never replaces what came to be there meanwhile.
        if !replaces, link(draft, path) == 0 { return }
        if !replaces, errno == EEXIST { throw Self.taken(SafeText(path)) }
        // Not every file system has second names (those of memory sticks): a look before must do there.
        if !replaces, access(path, F_OK) == 0 { throw Self.taken(SafeText(path)) }
        guard rename(draft, path) == 0 else { throw Self.failure(SafeText(path), errno) }
        isPublished.withLock { $0 = true }
    }

    private func copyToOutput() throws(MediaError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.failure("standard output", errno) }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = retryingInterrupted { read(descriptor, &buffer, buffer.count) }
            guard count >= 0 else { throw Self.failure("standard output", errno) }
            guard count > 0 else { return }
            var rest = buffer[..<count]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { bytes in
                    retryingInterrupted { write(STDOUT_FILENO, bytes.baseAddress, bytes.count) }
                }
                if written >= 0 {
                    rest = rest.dropFirst(written)
                } else if errno == EAGAIN {
                    // The descriptor is shared with a program that made it non-blocking.
                    var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                    poll(&ready, 1, -1)
                } else {
                    throw Self.failure("standard output", errno)
                }
            }
        }
    }

    private static func checkTarget(_ path: String, replaces: Bool) throws(MediaError) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        let subject = SafeText(path)
        switch status.st_mode & S_IFMT {
        case S_IFREG: if !replaces { throw taken(subject) }
        case S_IFDIR: throw MediaError(.unreadable, subject, "is a folder; give the name of a file in it")
        default:
            throw MediaError(
                .unreadable,
                subject,
                "is no plain file; with - the music goes to standard output"
            )
        }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static var temporaryFolder: String {
        let named = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return named.isEmpty ? "/tmp" : named
    }

    private static func taken(_ subject: SafeText) -> MediaError {
        MediaError(.unreadable, subject, "is there already; another name, or --force to replace it")
    }

    private static func failure(_ subject: SafeText, _ code: Int32) -> MediaError {
        MediaError(.unreadable, subject, SafeText("cannot be written (\(SystemError.reason(code)))"))
    }
}
