import Glibc
import Synchronization

/// A folder whose files the origin serves, and nothing outside of it.
final class OriginFolder: Sendable {
    /// Names one version of a file's content.
    private struct Version: Hashable {
        var device: UInt64
        var inode: UInt64
        var length: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    private let root: String
    // Guards the entity tags computed so far: hashing a large file for every request would be slow.
    private let tags = Mutex<[Version: String]>([:])

    /// nil when there is no folder at `path`.
    init?(path: String) {
        guard let root = Self.resolved(path), let folder = opendir(root) else { return nil }
        closedir(folder)
        self.root = root
    }

    /// The file at `path`, which is decoded and begins with `/`; nil when there is no regular file,
    /// or when it lies outside the folder, also by a symbolic link.
    func representation(of path: String) -> Representation? {
        guard !path.split(separator: "/").contains(".."), !path.utf8.contains(0),
            let target = Self.resolved(root + path),
            root == "/" || target.hasPrefix(root + "/")
        else { return nil }
        // Without O_NONBLOCK a named pipe would hold this thread until somebody writes into it.
        let descriptor = open(target, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let file = OpenFile(takingOver: descriptor)
        guard let status = file.status, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let length = Int64(status.st_size)
        return Representation(
            source: .file(file),
            length: length,
            contentType: ContentType.of(path),
            etag: etag(of: file, status),
            lastModified: HTTPDate.string(status.st_mtim.tv_sec)
        )
    }

    private func etag(of file: OpenFile, _ status: stat) -> String {
        let version = Version(
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            length: Int64(status.st_size),
            seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: Int64(status.st_mtim.tv_nsec)
        )
        if let known = tags.withLock({ $0[version] }) { return known }
        let tag = ContentTag.etag(of: file, length: version.length)
        tags.withLock { $0[version] = tag }
        return tag
    }

    private static func resolved(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
