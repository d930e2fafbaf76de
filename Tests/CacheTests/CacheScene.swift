import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// A cache folder in a temporary folder, and what all its openers share: the clocks and the notices.
final class CacheScene: Sendable {
    let clock = TestClock()
    let wallClock = TickingWallClock()
    let notices = Notices()
    private let folder: TemporaryFolder

    init() {
        guard let folder = try? TemporaryFolder() else { preconditionFailure("no temporary folder") }
        self.folder = folder
    }

    /// A folder of the test's own, in which the cache folder lies.
    var path: String { folder.path }

    /// The cache folder, which the cache creates.
    var cache: String { path + "/cache" }

    /// The path of a file in the cache folder.
    func file(_ name: String) -> String { cache + "/" + name }

    var index: String { file("index.sqlite") }

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

    /// The content of a file in the cache folder; `nil` if there is none.
    func content(_ name: String) -> Data? { FileManager.default.contents(atPath: file(name)) }

    /// The permission bits of a file.
    func permissions(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }

    /// Creates or replaces a file.
    func put(_ bytes: Data = Data([1, 2]), at path: String) throws {
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    /// Creates a symlink from `path` to `target`.
    func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    /// An opener of its own, as another process has it.
    func opener(
        budget: Int64 = .max,
        minimumFree: Int64 = 0,
        maximumAge: Duration? = nil,
        identity: CacheIdentity = CacheIdentity(),
        secret: CacheSecret? = nil,
        files: any FileLayer = SystemFiles()
    ) -> CacheFolder {
        CacheFolder(
            path: cache,
            budget: budget,
            minimumFree: minimumFree,
            maximumAge: maximumAge,
            identity: identity,
            secret: secret,
            clock: clock,
            wallClock: wallClock.tick,
            files: files,
            onNotice: notices.note
        )
    }

    /// The ranges of `name` that another process finds committed.
    func stored(_ name: String = "a") async throws -> ByteRangeSet? {
        try await opener().info(for: url(name))?.stored
    }

    /// Caches `range` of `a` and returns the path of its object, when the folder is closed.
    @discardableResult
    func fill(_ range: ByteRange, secret: CacheSecret? = nil) async throws -> String {
        do { try await opener(secret: secret).opened("a", range).close() }
        try await waitUntilClosed()
        return try firstObject
    }

    /// Runs a statement on the index, as another program might.
    func alterIndex(_ sql: String) throws { try SQLiteConnection(path: index).execute(sql) }

    /// Turns the index back into one of format 5.
    func turnBack() throws {
        let connection = try SQLiteConnection(path: index)
        try connection.transaction {
            try connection.execute(
                """
                UPDATE entries SET seek_points = ifnull((SELECT value FROM facts WHERE entry = id), x'');
                DROP TABLE facts;
                DROP TABLE tags;
                DROP INDEX names_by_episode;
                ALTER TABLE names DROP COLUMN episode;
                PRAGMA user_version = 5
                """
            )
        }
    }

    /// Waits until the index is closed everywhere: then SQLite has moved its log into its main file.
    func waitUntilClosed() async throws { try await CacheTests.waitUntilClosed(index) }
}

/// Waits until nobody has the index at `path` open, and its log is in its main file.
func waitUntilClosed(_ path: String) async throws {
    try await wait(for: "the index to be closed") {
        let isClosed = access(path + "-wal", F_OK) != 0 && access(path + "-shm", F_OK) != 0
        // Two connections that close at the same moment leave the log to each other.
        if !isClosed { try? SQLiteConnection(path: path).execute("PRAGMA wal_checkpoint") }
        return isClosed
    }
}

/// A time of day that advances by a second with each reading, unless it is stopped.
final class TickingWallClock: Sendable {
    private let state = Locked<(seconds: Int64, step: Int64)>((1_000, 1))

    func tick() -> Int64 {
        state.withLock { state in
            state.seconds += state.step
            return state.seconds
        }
    }

    func advance(by seconds: Int64) { state.withLock { $0.seconds += seconds } }

    func stop() { state.withLock { $0.step = 0 } }
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
            let position = range.lowerBound + Int64(bytes.count)
            let piece = try await read(at: position, count: range.count - bytes.count)
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    /// `true` if all bytes of `range` are stored and those of the pattern.
    func holds(_ range: ByteRange, salt: UInt64 = 0) async throws -> Bool {
        try await all(of: range) == pattern(range, salt: salt)
    }

    /// Writes `range` of the pattern.
    func write(_ range: ByteRange, salt: UInt64 = 0) async throws {
        try await write(pattern(range, salt: salt), at: range.lowerBound)
    }

    /// Expects the next commit to fail, and returns the cause that users read.
    func refusedCommit() async throws -> String? {
        let error = await #expect(throws: MediaError.self) { try await commit() }
        #expect(error?.code == .notCached)
        return error?.cause.string
    }

    /// Describes only the length, and the entity tag if one is given.
    func describe(length: Int64, etag: String? = nil) {
        var description = EntryDescription()
        description.length = length
        description.validators.etag = etag
        describe(description)
    }
}

extension CacheFolder {
    /// Opens `name` and commits `ranges` of the pattern.
    func opened(_ name: String, _ ranges: ByteRange...) async throws -> PersistentStore {
        let store = try #require(try await open(url(name)) as? PersistentStore)
        for range in ranges { try await store.write(range) }
        try await store.commit()
        return store
    }

    /// Caches the first `count` bytes of the resource `name`, which is no longer than that.
    func cache(_ name: String, _ count: Int64 = 100_000, isLengthKnown: Bool = true) async throws {
        let store = try await open(url(name))
        if isLengthKnown { store.describe(length: count) }
        try await store.write(0..<count)
        await store.close()
    }

    /// The last letters of the cached URLs, the most recently played first.
    var names: [String] {
        get async throws { try await list().map { String($0.url.string.suffix(1)) } }
    }

    /// The entries of the resources `names`, without those that are not cached.
    func entries(_ names: String...) async throws -> [CachedItem.ID] {
        var entries: [CachedItem.ID] = []
        for name in names { if let entry = try await info(for: url(name)) { entries.append(entry.id) } }
        return entries
    }

    /// Waits for the background jobs that follow an opening: a few in a row.
    func rest() async { for _ in 0..<10 { await engine.committer.run {} } }

    /// Expects `openEntry` to fail, and returns the error.
    func refusedOpening() async throws -> MediaError? {
        await #expect(throws: MediaError.self) {
            try await openEntry(ResourceKey(url("a")), isOffline: false)
        }
    }
}

extension PersistentStore {
    /// Queries the index about the entry.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (CacheIndex, EntryID) throws -> Answer
    ) async throws -> Answer {
        let entry = guarded.withLock { $0.file.entry }
        return try await engine.reader.ask { try question($0, entry) }
    }

    /// Withdraws the claims of `extents` of the entry, as another store may.
    func drop(_ extents: [Extent]) async {
        let entry = guarded.withLock { $0.file.entry }
        await engine.committer.run { _ = self.engine.entries.drop(extents, of: entry) }
    }
}

/// The notices that were reported.
final class Notices: Sendable {
    private let errors = Locked<[MediaError]>([])

    var all: [MediaError] { errors.withLock { $0 } }

    var codes: [MediaError.Code] { all.map(\.code) }

    var texts: [String] { all.map(\.description) }

    func count(_ code: MediaError.Code) -> Int { codes.count { $0 == code } }

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
