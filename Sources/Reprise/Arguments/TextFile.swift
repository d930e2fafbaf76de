import Glibc
import Media

/// Small text files that the command line names.
enum TextFile {
    /// More than any server takes as header fields.
    static let largestByteCount = 64 * 1024

    /// Throws `MediaError` when the file at `path` cannot be opened for reading, or is a folder.
    static func check(_ path: String) throws(MediaError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw MediaError(.notFound, SafeText(path), SafeText(String(cString: strerror(errno))))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw MediaError(.unreadable, SafeText(path), "a folder, not a file")
        }
    }

    /// The text of the file at `path`, read whole. Throws `MediaError`, also for more than `largestByteCount`.
    static func read(_ path: String) throws(MediaError) -> String {
        let subject = SafeText(path)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw MediaError(.notFound, subject, SafeText(String(cString: strerror(errno))))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: largestByteCount + 1)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                throw MediaError(.unreadable, subject, SafeText(String(cString: strerror(errno))))
            }
            if got == 0 { break }
            count += got
        }
        guard count <= largestByteCount else {
            throw MediaError(.unreadable, subject, "larger than 64 KiB, so it is no list of header fields")
        }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw MediaError(.unreadable, subject, "not text in UTF-8")
        }
        return text
    }
}
