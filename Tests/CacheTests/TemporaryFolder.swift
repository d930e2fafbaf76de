import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// A folder that is removed together with the object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The cache folder itself, which the cache creates.
    var cache: String { path + "/cache" }

    /// The path of a file in the cache folder.
    func file(_ name: String) -> String { cache + "/" + name }

    /// The names in `objects`.
    var objects: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: file("objects")).sorted() }
    }

    /// The bytes that the files in `objects` take on the disk.
    var allocated: Int64 {
        ((try? objects) ?? []).reduce(0) { sum, name in
            var status = stat()
            return stat(file("objects/\(name)"), &status) == 0 ? sum + Int64(status.st_blocks) * 512 : sum
        }
    }

    /// The path of the first file in `objects`: of the only entry, in most tests.
    var firstObject: String {
        get throws { file("objects/\(try #require(objects.first))") }
    }

    /// How long a file in the cache folder is.
    func length(of name: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file(name))[.size] as? Int ?? -1
    }

    /// The permission bits of a file.
    func permissions(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }
}

extension TemporaryFolder {
    /// An opener of its own, as another process has it.
    func opener(
        secret: CacheSecret? = nil,
        files: any FileLayer = SystemFiles(),
        onNotice: @escaping @Sendable (MediaError) -> Void = { _ in }
    ) -> CacheFolder {
        CacheFolder(path: cache, secret: secret, clock: TestClock(), files: files, onNotice: onNotice)
    }

    /// A connection of another program to the index.
    func index() throws -> SQLiteConnection { try SQLiteConnection(path: file("index.sqlite")) }

    /// Waits until the index is closed everywhere: then SQLite has moved its log into its main file.
    func waitUntilClosed() async throws {
        try await wait(for: "the index to be closed") {
            access(self.file("index.sqlite-wal"), F_OK) != 0
                && access(self.file("index.sqlite-shm"), F_OK) != 0
        }
    }
}

/// A time of day that advances by a second with each reading.
final class TickingWallClock: Sendable {
    private let seconds = Locked<Int64>(1_000)

    func tick() -> Int64 {
        seconds.withLock {
            $0 += 1
            return $0
        }
    }
}

/// A URL that stands for a resource of its own.
func url(_ name: String) throws -> WebURL {
    try #require(WebURL("http://radio.example/\(name)"))
}

/// Bytes that differ everywhere and are the same every time.
func pattern(_ range: ByteRange, salt: UInt64 = 0) -> [UInt8] {
    range.map { offset in
        let mixed = (UInt64(offset) &+ salt &* 977 &+ 1) &* 0x9E37_79B9_7F4A_7C15
        return UInt8(truncatingIfNeeded: mixed >> 40)
    }
}

extension ByteStore {
    /// Everything stored of `range`, with the read's pieces put together.
    func all(of range: ByteRange) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < range.count {
            let piece = try await read(
                at: range.lowerBound + Int64(bytes.count),
                count: range.count - bytes.count
            )
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }
}

extension ByteStore {
    /// Describes only the length, and the entity tag if one is given.
    func describe(length: Int64, etag: String? = nil) {
        var description = EntryDescription()
        description.length = length
        description.validators.etag = etag
        describe(description)
    }
}

extension CacheFolder {
    /// Caches the first `count` bytes of the resource `name`, which is no longer than that.
    func cache(_ name: String, _ count: Int64 = 100_000, isLengthKnown: Bool = true) async throws {
        let store = try await open(url(name))
        if isLengthKnown { store.describe(length: count) }
        try await store.write(pattern(0..<count), at: 0)
        await store.close()
    }

    /// The last letters of the cached URLs, the most recently played first.
    var names: [String] {
        get async throws { try await list().map { String($0.url.string.suffix(1)) } }
    }
}

/// The notices that were reported.
final class Notices: Sendable {
    private let errors = Locked<[MediaError]>([])

    var all: [MediaError] { errors.withLock { $0 } }

    var texts: [String] { all.map(\.description) }

    func count(_ code: MediaError.Code) -> Int { all.filter { $0.code == code }.count }

    func note(_ error: MediaError) { errors.withLock { $0.append(error) } }
}

/// Changes one bit of a file.
func flipBit(_ bit: Int, ofByteAt offset: Int64, in path: String) throws {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError("open a file to damage it") }
    defer { close(descriptor) }
    var byte: UInt8 = 0
    guard pread(descriptor, &byte, 1, off_t(offset)) == 1 else { throw SystemError("read a byte") }
    byte ^= 1 << UInt8(bit)
    guard pwrite(descriptor, &byte, 1, off_t(offset)) == 1 else { throw SystemError("change a byte") }
}
