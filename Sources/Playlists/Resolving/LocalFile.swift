import Glibc
import Media
import System

/// Access to the file system for playlists. Every call may block.
package enum LocalFile {
    /// The kind of a SOURCE that is a path.
    enum Kind: Equatable {
        case music
        case list
        case folder
    }

    /// Extensions of MPEG audio, in lower case.
    static let musicExtensions: Set<String> = ["mp3", "mp2", "mp1", "mpga", "mpa", "mpeg"]

    /// How many bytes of a file with an unknown extension to examine.
    private static let headLength = 512

    /// Determines the kind of file at `path`. Music is recognised by its extension and not opened.
    ///
    /// Throws `.notFound` or `.unreadable`.
    static func kind(of path: String) throws(MediaError) -> Kind {
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(errno, path) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: break
        default: throw MediaError(.unreadable, SafeText(path), "not a file or folder")
        }
        if hasMusicExtension(path) { return .music }
        if PlaylistFormat(extensionOf: path) != nil { return .list }
        let head = try read(path, limit: headLength, isWhole: false)
        // A file counts as a list only if its format is certain; everything else is left to the decoder.
        let format = try? PlaylistFormat(of: head, subject: SafeText(path))
        return format == nil ? .music : .list
    }

    /// `true` if `name` has an extension of MPEG audio.
    static func hasMusicExtension(_ name: String) -> Bool {
        guard let dot = name.utf8.suffix(6).lastIndex(of: UInt8(ascii: ".")) else { return false }
        return musicExtensions.contains(name[name.utf8.index(after: dot)...].lowercased())
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// `path` without symbolic links and dots; `path` itself if there is no such file.
    static func realPath(of path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Reads the file at `path`: all of it, or only its first `limit` bytes if not `isWhole`.
    ///
    /// Throws `.notFound`, `.unreadable`, `.emptyResource`, and `.badPlaylist` if a whole file is longer than `limit`.
    static func read(_ path: String, limit: Int, isWhole: Bool = true) throws(MediaError) -> [UInt8] {
        // Non-blocking, since opening a pipe without a writer would block the thread for ever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
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
        MediaError(.badPlaylist, subject, "too large for a playlist")
    }

    static func empty(_ subject: SafeText) -> MediaError {
        MediaError(.emptyResource, subject, "the file is empty")
    }

    /// The error for the errno `code` at `path`.
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
