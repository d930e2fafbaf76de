import Glibc
import Media
import System

/// The file with the secret of an encrypted cache.
enum SecretFile {
    /// The cause of the error if there is a file already.
    static let taken: SafeText = "exists already, and a secret is never overwritten"

    /// Creates the file at `path` with `text`, private to its owner (0600).
    ///
    /// Never overwrites. Throws `MediaError`; a file that could not be made durable is removed again.
    static func make(at path: String, text: String) throws(MediaError) {
        let subject = SafeText(path)
        let descriptor = open(
            FileName.cString(path),
            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
            0o600
        )
        guard descriptor >= 0 else {
            guard errno != EEXIST else { throw MediaError(.unreadable, subject, taken) }
            throw failure(subject, SystemError("make the file"))
        }
        defer { close(descriptor) }
        do throws(SystemError) {
            // If a power cut lost the secret, everything encrypted with it would be lost too.
            try WholeFile.write(text.utf8, to: descriptor)
            try check("flush the file", fsync(descriptor))
            try WholeFile.flushFolder(of: path)
        } catch {
            unlink(FileName.cString(path))
            throw failure(subject, error)
        }
    }

    private static func failure(_ subject: SafeText, _ error: SystemError) -> MediaError {
        MediaError(.unreadable, subject, SafeText("can't create: \(error.reason)"))
    }
}
