import Glibc
import Synchronization

/// A folder whose files the origin serves. Paths that lead outside of it are refused.
final class OriginFolder: Sendable {
    /// Identifies one version of a file's content.
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

    /// `nil` if there is no folder at `path`.
    init?(path: String) {
        guard let root = Self.resolved(path), let folder = opendir(root) else { return nil }
        closedir(folder)
        self.root = root
    }

    /// The file at `path`, which is decoded and begins with `/`; `nil` if it is not a regular file,
    /// or lies outside the folder, for example behind a symbolic link.
    func representation(of path: String) -> Representation? {
        guard !path.split(separator: "/").contains(".."), !path.utf8.contains(0),
            let target = Self.resolved(root + path),
            root == "/" || target.hasPrefix(root + "/")
        else { return nil }
        // Without O_NONBLOCK, opening a named pipe would block until a writer opens it.
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

/// Computes strong entity tags from content.
///
/// The hash is fast and distinguishes versions of a file; it is not cryptographic and does not
/// withstand deliberate collisions.
struct ContentTag {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The entity tag of `bytes`, with its quotes.
    static func etag(of bytes: [UInt8]) -> String {
        var tag = ContentTag()
        tag.update(bytes)
        return tag.etag(length: Int64(bytes.count))
    }

    /// The entity tag of the first `length` bytes of `file`, with its quotes.
    static func etag(of file: OpenFile, length: Int64) -> String {
        var tag = ContentTag()
        var offset: Int64 = 0
        while offset < length {
            let bytes = file.bytes(at: offset, count: Int(min(length - offset, 1 << 20)))
            if bytes.isEmpty { break }
            tag.update(bytes)
            offset += Int64(bytes.count)
        }
        return tag.etag(length: length)
    }

    private mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            // Words of eight bytes keep this fast in debug builds, where tests hash megabytes.
            let words = buffer.count / 8
            for index in 0..<words {
                mix(buffer.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
            }
            for index in words * 8..<buffer.count { mix(UInt64(buffer[index])) }
        }
    }

    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0xFF51_AFD7_ED55_8CCD
        state ^= state >> 32
    }

    private func etag(length: Int64) -> String {
        "\"" + String(length, radix: 16) + "-" + String(state, radix: 16) + "\""
    }
}

/// Content types by file name.
enum ContentType {
    /// The type for a file called `name`; `application/octet-stream` if its extension is unknown.
    static func of(_ name: some StringProtocol) -> String {
        guard let dot = name.lastIndex(of: ".") else { return fallback }
        return byEnding[name[name.index(after: dot)...].lowercased()] ?? fallback
    }

    private static let fallback = "application/octet-stream"

    private static let byEnding = [
        "mp3": "audio/mpeg", "flac": "audio/flac", "ogg": "audio/ogg", "wav": "audio/wav",
        "m3u": "audio/x-mpegurl", "m3u8": "application/vnd.apple.mpegurl", "pls": "audio/x-scpls",
        "xspf": "application/xspf+xml", "html": "text/html", "htm": "text/html",
        "txt": "text/plain", "json": "application/json", "jpg": "image/jpeg", "png": "image/png",
    ]
}

/// Dates as HTTP writes them (RFC 9110 §5.6.7).
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The date of `time`, in seconds since 1970; `nil` if `gmtime_r` cannot represent it.
    static func string(_ time: time_t) -> String? {
        var time = time
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return nil }
        let two = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
        return "\(day) \(1900 + Int(parts.tm_year)) "
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }
}
