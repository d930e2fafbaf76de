import Glibc
import Media
import System

/// Access to the file system for playlists. Every call may block.
package enum LocalFile {

    /// Determines the kind of the file or folder at `path`; that of a file by its first bytes, then its name.
    ///
    /// Throws `.notFound` or `.unreadable`.
    static func kind(of path: String) throws(MediaError) -> ResourceKind {
        var status = stat()
        guard stat(FileName.cString(path), &status) == 0 else { throw failure(errno, path) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: break
        default: throw MediaError(.unreadable, SafeText(path), "not a file or folder")
        }
        let head = try read(path, limit: ResourceKind.headLength, isWhole: false)
        let kind = ResourceKind.of(firstBytes: head, name: path)
        let named = ResourceKind.of(name: path)
        // If the name is that of a list, it is read as one, whose error states what is wrong with it.
        if case .unknown = kind, named.isList { return named }
        return kind
    }

    static func exists(_ path: String) -> Bool { access(FileName.cString(path), F_OK) == 0 }

    /// Reads the file at `path`: all of it, or only its first `limit` bytes if not `isWhole`.
    ///
    /// Throws `.notFound`, `.unreadable`, `.emptyResource`, and `.listTooLarge` if a whole file is longer
    /// than `limit`.
    static func read(_ path: String, limit: Int, isWhole: Bool = true) throws(MediaError) -> [UInt8] {
        // Non-blocking, since opening a pipe without a writer would block the thread for ever.
        let descriptor = open(FileName.cString(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(errno, path) }
        defer { close(descriptor) }
        let bytes = try read(descriptor, limit: isWhole ? limit + 1 : limit, subject: SafeText(path))
        guard !isWhole || bytes.count <= limit else { throw tooLarge(SafeText(path)) }
        guard !isWhole || !bytes.isEmpty else { throw empty(SafeText(path)) }
        return bytes
    }

    /// Reads standard input to its end; blocks until then.
    package static func readStandardInput() throws -> [UInt8] {
        let limit = PlaylistLimits().bytes
        let bytes = try read(STDIN_FILENO, limit: limit + 1, subject: "standard input")
        guard bytes.count <= limit else { throw tooLarge("standard input") }
        return bytes
    }

    static func tooLarge(_ subject: SafeText) -> MediaError {
        MediaError(.listTooLarge, subject, "too large for a playlist")
    }

    static func empty(_ subject: SafeText) -> MediaError {
        MediaError(.emptyResource, subject, "the file is empty")
    }

    static func failure(_ code: Int32, _ path: String) -> MediaError {
        switch code {
        case ENOENT, ENOTDIR: MediaError(.notFound, SafeText(path), "no such file or folder")
        default: MediaError(.unreadable, SafeText(path), SafeText(SystemError.reason(code)))
        }
    }

    private static func read(
        _ descriptor: Int32,
        limit: Int,
        subject: SafeText
    ) throws(MediaError) -> [UInt8] {
        do throws(SystemError) {
            return try WholeFile.read(descriptor, limit: limit)
        } catch {
            throw MediaError(.unreadable, subject, SafeText(error.reason))
        }
    }
}
