import Glibc
import Media

/// The file of a secret that seals a cache.
enum SecretFile {
    /// Makes the file at `path` with `text` in it, for its owner alone (0600).
    ///
    /// Never overwrites. Throws `MediaError`; a file that could not be made
    /// durable is removed again.
    static func make(at path: String, text: String) throws(MediaError) {
        let subject = SafeText(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            guard errno != EEXIST else {
                throw MediaError(.unreadable, subject, "is there already, and a secret is never overwritten")
            }
            throw failure(subject, errno)
        }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        // A secret that a power cut takes away would take all with it that was sealed meanwhile.
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0,
            flushFolder(of: path)
        else {
            let code = errno
            unlink(path)
            throw failure(subject, code)
        }
    }

    /// Brings the file's name to the disk: the flush of a file does not.
    private static func flushFolder(of path: String) -> Bool {
        let name = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        let folder = open(String(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return fsync(folder) == 0
    }

    private static func failure(_ subject: SafeText, _ code: Int32) -> MediaError {
        MediaError(.unreadable, subject, SafeText("cannot be made (\(String(cString: strerror(code))))"))
    }
}
