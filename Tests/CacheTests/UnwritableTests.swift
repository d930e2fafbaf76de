import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// A folder that accepts no writes can be read. `LostFolderTests` and `FullDiskSessionTests` test the causes
/// with the built player; here the folder is opened as after such a failure.
@Suite struct UnwritableTests {
    private let scene = CacheScene()

    private func fill(_ secret: CacheSecret? = nil) async throws {
        do {
            let store = try await scene.opener(secret: secret).opened("a", 0..<100_000)
            store.describe(.example)
            await store.close()
        }
        try await scene.waitUntilClosed()
    }

    /// The store of `a.mp3` as it is opened when nothing can be written.
    private func open(
        _ opener: CacheFolder,
        after failure: any Error & Sendable = readOnly
    ) async throws -> PersistentStore? {
        let engine = opener.engine
        let place = try url("a")
        let opening = try await engine.committer.run {
            let key = engine.entries.key(of: place)
            return try engine.entries.openUnwritable(after: failure) { try $0.entries.row(named: key) }
        }
        return opening.map { PersistentStore($0, of: place, engine: engine) }
    }

    private static let readOnly = SystemError("open the lock file", number: EROFS)

    @Test(arguments: [false, true])
    func `cached bytes are read and checked, and new ones last until the store is closed`(isSealed: Bool)
        async throws
    {
        let secret: CacheSecret? = isSealed ? .generate() : nil
        try await fill(secret)
        let object = try scene.firstObject
        try flipBit(0, ofByteAt: 70_000, in: object)
        let opener = scene.opener(secret: secret)
        let store = try #require(try await open(opener))
        #expect(!store.isPersistent)
        #expect(store.description.tags == EntryDescription.example.tags)
        #expect(try await store.all(of: 0..<100_000) == pattern(0..<65_536))
        #expect(store.stored == ByteRangeSet(0..<65_536))
        try await store.write(65_536..<70_000)
        #expect(try await store.holds(65_536..<70_000))
        #expect(scene.notices.codes == [.damagedExtent, .notCached])
        #expect(scene.notices.all.last?.cause.string.contains("Read-only file system") == true)
        try await store.commit()
        let next = try #require(try await open(opener))
        #expect(!next.stored.contains(65_536))
    }

    @Test func `entries in the index's log are found, and the log is not changed`() async throws {
        let store = try await scene.opener().opened("a", 0..<100_000)
        store.describe(.example)
        try await store.commit()
        // A process killed now leaves everything in the log.
        let killed = scene.path + "/killed"
        try FileManager.default.copyItem(atPath: scene.cache, toPath: killed)
        await store.close()
        func index() throws -> [String: Data?] {
            let names = try FileManager.default.contentsOfDirectory(atPath: killed)
            return Dictionary(
                uniqueKeysWithValues: names.filter { $0.hasPrefix("index") }.map {
                    ($0, FileManager.default.contents(atPath: killed + "/" + $0))
                }
            )
        }
        // With the file that the log's readers share, and without it.
        for _ in 0..<2 {
            let before = try index()
            do {
                let opener = CacheFolder(path: killed, clock: TestClock())
                let found = try #require(try await open(opener))
                #expect(found.description.tags == EntryDescription.example.tags)
                #expect(try await found.holds(0..<100_000))
            }
            #expect(try index() == before)
            try? FileManager.default.removeItem(atPath: killed + "/index.sqlite-shm")
        }
    }

    @Test func `an invalid log of the index is ignored`() async throws {
        try await fill()
        let words = Data(repeating: 0x41, count: 10_000)
        try words.write(to: URL(fileURLWithPath: scene.file("index.sqlite-wal")))
        let store = try #require(try await open(scene.opener()))
        #expect(try await store.holds(0..<100_000))
        #expect(scene.content("index.sqlite-wal") == words)
    }

    @Test func `only a folder that accepts no writes is opened for reading only`() async throws {
        try await fill()
        let opener = scene.opener()
        let failures: [any Error & Sendable] = [
            FolderHeldError(), ForeignOwnerError(name: "lock"), SealError.wrongSecret,
            IndexFormatError(format: 9), SystemError("open the lock file", number: EMFILE),
            SQLiteError(code: .corrupt, message: "damaged"),
        ]
        for failure in failures {
            await #expect(throws: MediaError.self) { try await open(opener, after: failure) }
        }
        for code in [SQLiteError.Code.full, .inputOutput, .cannotOpen, .readOnly] {
            #expect(try await open(opener, after: SQLiteError(code: code, message: "no")) != nil)
        }
    }

    @Test func `a wrong secret opens nothing, and symlinks are not followed`() async throws {
        try await fill(.generate())
        await #expect(throws: MediaError.self) {
            try await open(scene.opener(secret: .generate()))
        }
        let other = scene.path + "/elsewhere"
        try FileManager.default.removeItem(atPath: scene.cache)
        try await fill()
        for name in ["objects/\(try #require(scene.objects.first))", "objects", "index.sqlite"] {
            try FileManager.default.moveItem(atPath: scene.file(name), toPath: other)
            try FileManager.default.createSymbolicLink(atPath: scene.file(name), withDestinationPath: other)
            await #expect(throws: MediaError.self, "\(name)") {
                try await open(scene.opener())
            }
            try FileManager.default.removeItem(atPath: scene.file(name))
            try FileManager.default.moveItem(atPath: other, toPath: scene.file(name))
        }
        #expect(try await open(scene.opener()) != nil)
    }

    @Test func `an entry that could not be replaced is replaced at the next opening`() async throws {
        try await fill()
        let opener = scene.opener()
        // No other process gets the folder's lock as long as it is held.
        let holder = Glibc.open(scene.file("lock"), O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        await #expect(throws: MediaError.self) { try await opener.replace(url("a")) }
        #expect(flock(holder, LOCK_UN) == 0)
        let store = try await opener.open(url("a"))
        #expect(store.stored.isEmpty)
        #expect(store.isPersistent)
        await store.close()
    }
}
