import Glibc
import Media
import System

/// Small text files named by the user.
enum TextFile {
    /// The largest file that is read, more than any server accepts as header fields.
    static let largestByteCount = 64 * 1024

    /// Throws if the file at `path` cannot be opened for reading, or is a folder.
    static func check(_ path: String) throws(MediaError) {
        let descriptor = try opened(path, O_NONBLOCK)
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw MediaError(.unreadable, SafeText(path), "a folder, not a file")
        }
    }

    private static func opened(_ path: String, _ flags: Int32 = 0) throws(MediaError) -> Int32 {
        let descriptor = open(FileName.cString(path), O_RDONLY | O_CLOEXEC | flags)
        guard descriptor >= 0 else {
            throw MediaError(.notFound, SafeText(path), SafeText(SystemError.reason()))
        }
        return descriptor
    }

    /// The text of the file at `path`. Throws if it cannot be read, or is too large.
    static func read(_ path: String) throws(MediaError) -> String {
        let subject = SafeText(path)
        let descriptor = try opened(path)
        defer { close(descriptor) }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try WholeFile.read(descriptor, limit: largestByteCount + 1)
        } catch {
            throw MediaError(.unreadable, subject, SafeText(error.reason))
        }
        guard bytes.count <= largestByteCount else {
            throw MediaError(.unreadable, subject, SafeText("larger than \(largestByteCount >> 10) KiB"))
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw MediaError(.unreadable, subject, "not text in UTF-8")
        }
        return text
    }
}
