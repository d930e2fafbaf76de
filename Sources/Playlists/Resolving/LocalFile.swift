import Glibc
import Media
import System

/// The file system as playlists need it. Every call may block.
package enum LocalFile {
    /// What a SOURCE that is a path turns out to be.
    enum Kind: Equatable {
        case music
        case list
        case folder
    }

    /// Extensions of MPEG audio, in lower case.
    static let musicExtensions: Set<String> = ["mp3", "mp2", "mp1", "mpga", "mpa", "mpeg"]

    /// How many bytes of a file with an unknown extension are looked at.
    private static let headLength = 512

    /// What is at `path`. Music is known by its extension, and not opened.
    ///
    /// Throws `.notFound` or `.unreadable`.
    static func kind(of path: String) throws(MediaError) -> Kind {
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(errno, path) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: break
        default: throw MediaError(.unreadable, SafeText(path), "this is neither a file nor a folder")
        }
        if hasMusicExtension(path) { return .music }
        if PlaylistFormat(extensionOf: path) != nil { return .list }
        let head = try read(path, limit: headLength, isWhole: false)
        // Only what is a list beyond doubt is one; the decoder has the say on everything else.
        let format = try? PlaylistFormat(of: head, subject: SafeText(path))
        return format == nil ? .music : .list
    }

    /// Whether `name` ends like MPEG audio.
    static func hasMusicExtension(_ name: String) -> Bool {
        guard let dot = name.utf8.suffix(6).lastIndex(of: UInt8(ascii: ".")) else { return false }
        return musicExtensions.contains(name[name.utf8.index(after: dot)...].lowercased())
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// `path` without symbolic links and dots; `path` itself where there is no such file.
    static func realPath(of path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// The bytes of the file at `path`: all of them, or the first `limit` when it need not be whole.
    ///
    /// Throws `.notFound`, `.unreadable`, `.emptyResource`, and `.badPlaylist` when there are more than `limit`.
    static func read(_ path: String, limit: Int, isWhole: Bool = true) throws(MediaError) -> [UInt8] {
        // Not blocking: a pipe without a writer would hold the thread for ever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(errno, path) }
        defer { close(descriptor) }
        let bytes = try read(descriptor, limit: isWhole ? limit + 1 : limit, subject: SafeText(path))
        guard !isWhole || bytes.count <= limit else { throw tooLarge(SafeText(path)) }
        guard !isWhole || !bytes.isEmpty else {
            throw MediaError(.emptyResource, SafeText(path), "there are no bytes in it")
        }
        return bytes
    }

    /// The start of a list that is long but cannot have too many entries; nil of any other file.
    ///
    /// All of it passes by in a small buffer: to keep it takes the system several times as long, for new memory.
    static func head(of path: String, limits: PlaylistLimits) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        let size = Int(clamping: status.st_size)
        guard size > limits.longList, size <= limits.bytes else { return nil }
        guard let head = try? read(descriptor, limit: limits.beginning, subject: SafeText(path)) else {
            return nil
        }
        // An entry has a letter and the end of its line.
        guard size / 2 >= limits.entries else { return head }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { return nil }
        var most = 1
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64 * 1024) { buffer in
            // Each piece begins with the last byte of the one before.
            buffer[0] = UInt8(ascii: " ")
            let piece = UnsafeMutableBufferPointer(rebasing: buffer[1...])
            while case let found = WholeFile.fill(piece, from: descriptor), found.count > 0 {
                most += M3UParser.lineStarts(in: ByteText(rebasing: buffer[...found.count]))
                buffer[0] = buffer[found.count]
            }
        }
        return most <= limits.entries ? head : nil
    }

    /// Reads standard input to its end; blocks until then.
    package static func readStandardInput() throws -> [UInt8] {
        let limit = PlaylistLimits().bytes
        let bytes = try read(STDIN_FILENO, limit: limit + 1, subject: "standard input")
        guard bytes.count <= limit else { throw tooLarge("standard input") }
        return bytes
    }

    static func tooLarge(_ subject: SafeText) -> MediaError {
        MediaError(.badPlaylist, subject, "this is larger than any playlist")
    }

    /// The error for `code` of errno at `path`.
    static func failure(_ code: Int32, _ path: String) -> MediaError {
        switch code {
        case ENOENT, ENOTDIR: MediaError(.notFound, SafeText(path), "there is no such file or folder")
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
