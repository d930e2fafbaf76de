import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// A folder that accepts no writes can be read. `LostFolderTests` and `FullDiskSessionTests` test the causes
/// with the built player; here the folder is opened as after such a failure.
@Suite struct UnwritableTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeOpener(_ secret: CacheSecret? = nil) -> CacheFolder {
        folder.opener(secret: secret)
    }

    private func fill(_ secret: CacheSecret? = nil) async throws {
        do {
            let store = try await makeOpener(secret).open(url("a.mp3"))
            store.describe(.example)
            try await store.write(pattern(0..<100_000), at: 0)
            await store.close()
        }
        try await folder.waitUntilClosed()
    }

    /// The store of `a.mp3` as it is opened when nothing can be written.
    private func open(_ opener: CacheFolder, after failure: any Error & Sendable) async throws
        -> PersistentStore?
    {
        let engine = opener.engine
        let place = try url("a.mp3")
        let opening = try await engine.committer.run {
            try engine.entries.openUnwritable(engine.entries.key(of: place), after: failure)
        }
        return opening.map { PersistentStore($0, of: place, engine: engine) }
    }

    private static let readOnly = SystemError("open the lock file", number: EROFS)

    @Test(arguments: [false, true])
    func `what is cached is read and checked, and new bytes last until the close`(isSealed: Bool) async throws
    {
        let secret: CacheSecret? = isSealed ? .generate() : nil
        try await fill(secret)
        let object = try folder.firstObject
        try flipBit(0, ofByteAt: 70_000, in: object)
        let notices = Notices()
        let opener = folder.opener(secret: secret, onNotice: notices.note)
        let store = try #require(try await open(opener, after: Self.readOnly))
        #expect(!store.isPersistent)
        #expect(store.description.title == EntryDescription.example.title)
        #expect(try await store.all(of: 0..<100_000) == pattern(0..<65_536))
        #expect(store.stored == ByteRangeSet(0..<65_536))
        try await store.write(pattern(65_536..<70_000), at: 65_536)
        #expect(try await store.all(of: 65_536..<70_000) == pattern(65_536..<70_000))
        #expect(notices.all.map(\.code) == [.damagedExtent, .notCached])
        #expect(notices.all.last?.cause.string.contains("Read-only file system") == true)
        try await store.commit()
        let next = try #require(try await open(opener, after: Self.readOnly))
        #expect(!next.stored.contains(65_536))
    }

    @Test func `what is still in the index's log is found too, and the log is left as it is`() async throws {
        let store = try await makeOpener().open(url("a.mp3"))
        store.describe(.example)
        try await store.write(pattern(0..<100_000), at: 0)
        try await store.commit()
        // As a process leaves it that is killed now: all of it is in the log yet.
        let killed = folder.path + "/killed"
        try FileManager.default.copyItem(atPath: folder.cache, toPath: killed)
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
                let found = try #require(try await open(opener, after: Self.readOnly))
                #expect(found.description.title == EntryDescription.example.title)
                #expect(try await found.all(of: 0..<100_000) == pattern(0..<100_000))
            }
            #expect(try index() == before)
            try? FileManager.default.removeItem(atPath: killed + "/index.sqlite-shm")
        }
    }

    @Test func `a log that is none keeps nobody from the index`() async throws {
        try await fill()
        let words = Data(repeating: 0x41, count: 10_000)
        try words.write(to: URL(fileURLWithPath: folder.file("index.sqlite-wal")))
        let store = try #require(try await open(makeOpener(), after: Self.readOnly))
        #expect(try await store.all(of: 0..<100_000) == pattern(0..<100_000))
        #expect(FileManager.default.contents(atPath: folder.file("index.sqlite-wal")) == words)
    }

    @Test func `only a folder that takes nothing is read so`() async throws {
        try await fill()
        let opener = makeOpener()
        let failures: [any Error & Sendable] = [
            FolderHeldError(), ForeignOwnerError(name: "lock"), SealError.wrongSecret,
            IndexFormatError.newer(9), SystemError("open the lock file", number: EMFILE),
            IndexError(code: .corrupt, message: "damaged"),
        ]
        for failure in failures { #expect(try await open(opener, after: failure) == nil) }
        for code in [ResultCode.full, .inputOutput, .cannotOpen, .readOnly] {
            #expect(try await open(opener, after: IndexError(code: code, message: "no")) != nil)
        }
    }

    @Test func `a wrong secret opens nothing, and symlinks are not followed`() async throws {
        try await fill(.generate())
        await #expect(throws: SealError.self) {
            try await open(makeOpener(.generate()), after: Self.readOnly)
        }
        let other = folder.path + "/elsewhere"
        try FileManager.default.removeItem(atPath: folder.cache)
        try await fill()
        for name in ["objects/\(try #require(folder.objects.first))", "objects", "index.sqlite"] {
            try FileManager.default.moveItem(atPath: folder.file(name), toPath: other)
            try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: other)
            await #expect(throws: SystemError.self, "\(name)") {
                try await open(makeOpener(), after: Self.readOnly)
            }
            try FileManager.default.removeItem(atPath: folder.file(name))
            try FileManager.default.moveItem(atPath: other, toPath: folder.file(name))
        }
        #expect(try await open(makeOpener(), after: Self.readOnly) != nil)
    }

    @Test func `what was to be replaced, and could not be, is not what is played`() async throws {
        try await fill()
        let opener = makeOpener()
        // No other process gets the folder's lock as long as it is held.
        let holder = Glibc.open(folder.file("lock"), O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        await #expect(throws: MediaError.self) { try await opener.replace(url("a.mp3")) }
        #expect(flock(holder, LOCK_UN) == 0)
        let store = try await opener.open(url("a.mp3"))
        #expect(store.stored.isEmpty)
        #expect(store.isPersistent)
        await store.close()
    }
}
