import Foundation
import Glibc
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// What happens when someone else changed what stands in the folder.
@Suite struct IntegrityTests {
    private let folder: TemporaryFolder
    private let notices = Notices()

    init() throws { folder = try TemporaryFolder() }

    private func makeOpener() -> CacheFolder {
        folder.opener(onNotice: notices.note)
    }

    /// Fills the entry `a.mp3` and returns the path of its object.
    private func fill(_ range: ByteRange) async throws -> String {
        do {
            let store = try await makeOpener().open(url("a.mp3"))
            try await store.write(pattern(range), at: range.lowerBound)
            await store.close()
        }
        try await folder.waitUntilClosed()
        return try folder.firstObject
    }

    @Test func `a flipped bit drops its extent and no other`() async throws {
        let object = try await fill(0..<200_000)
        try flipBit(0, ofByteAt: 70_000, in: object)
        let store = try await makeOpener().open(url("a.mp3"))
        #expect(store.stored == ByteRangeSet(0..<200_000))
        #expect(try await store.all(of: 0..<200_000) == pattern(0..<65_536))
        #expect(try await store.read(at: 100_000, count: 10) == [])
        #expect(try await store.all(of: 131_072..<200_000) == pattern(131_072..<200_000))
        #expect(store.stored == ByteRangeSet([0..<65_536, 131_072..<200_000] as [ByteRange]))
        #expect(notices.texts == ["http://radio.example/a.mp3: stored bytes 65536–131071 were damaged"])
        // Fetched again, it is whole again, for the next process too.
        try await store.write(pattern(60_000..<140_000), at: 60_000)
        await store.close()
        let next = try await makeOpener().open(url("a.mp3"))
        #expect(try await next.all(of: 0..<200_000) == pattern(0..<200_000))
        #expect(notices.all.count == 1)
        await next.close()
    }

    @Test func `a file that was cut is known to be short at once`() async throws {
        let object = try await fill(0..<200_000)
        #expect(truncate(object, 140_000) == 0)
        let store = try await makeOpener().open(url("a.mp3"))
        #expect(store.stored == ByteRangeSet(0..<131_072))
        #expect(notices.all.count == 1)
        await store.close()
    }

    @Test func `what is cut away while it plays is missing, told, and fetched again`() async throws {
        let store = try await makeOpener().open(url("a.mp3"))
        try await store.write(pattern(0..<200_000), at: 0)
        try await store.commit()
        try await store.write(pattern(200_000..<300_000), at: 200_000)
        let object = try folder.firstObject
        #expect(truncate(object, 140_000) == 0)
        try await store.commit()
        #expect(truncate(object, 140_000) == 0)
        // A reader that requests all bytes in `stored` reaches the end.
        while let next = store.stored.ranges.last(where: { $0.upperBound > 140_000 }) {
            let start = max(140_000, next.lowerBound)
            #expect(try await store.read(at: start, count: 1_000) == [])
            try #require(!store.stored.contains(start))
        }
        #expect(store.stored == ByteRangeSet(0..<131_072))
        #expect(notices.texts.first == "http://radio.example/a.mp3: stored bytes 131072–196607 were damaged")
        try await store.write(pattern(100_000..<300_000), at: 100_000)
        await store.close()
        let next = try await makeOpener().open(url("a.mp3"))
        #expect(try await next.all(of: 0..<300_000) == pattern(0..<300_000))
        await next.close()
    }

    @Test func `committed bytes that the disk cannot read any more are missing`() async throws {
        _ = try await fill(0..<100_000)
        let store = try #require(try await makeOpener().open(url("a.mp3")) as? PersistentStore)
        // For the time of one read, the descriptor is that of a folder, from which `pread` fails.
        let descriptor = store.guarded.withLock { $0.place.file.descriptor }
        let (saved, unreadable) = (dup(descriptor), Glibc.open(folder.path, O_RDONLY | O_DIRECTORY))
        #expect(dup2(unreadable, descriptor) == descriptor)
        #expect(try await store.read(at: 70_000, count: 10) == [])
        #expect(dup2(saved, descriptor) == descriptor)
        for opened in [saved, unreadable] { Glibc.close(opened) }
        #expect(store.stored == ByteRangeSet(0..<65_536))
        #expect(notices.all.count == 1)
        await store.close()
        #expect(try await makeOpener().info(for: url("a.mp3"))?.stored == ByteRangeSet(0..<65_536))
    }

    @Test func `a volatile file that was cut claims nothing behind the cut`() async throws {
        let file = ObjectFile(
            descriptor: open(folder.path + "/file", O_RDWR | O_CREAT | O_CLOEXEC, 0o600),
            files: SystemFiles()
        )
        let stores = VolatileStores(folder: folder.path)
        let store = VolatileStore(file: file, subject: "a", owner: stores)
        for start in [0, 1_000, 3_000] as [Int64] {
            try await store.write(pattern(start..<start + 1_000), at: start)
        }
        #expect(ftruncate(file.descriptor, 1_500) == 0)
        #expect(try await store.all(of: 0..<5_000) == pattern(0..<1_000))
        #expect(try await store.read(at: 3_000, count: 10) == [])
        #expect(store.stored == ByteRangeSet(0..<1_000))
        // The bytes that were written again can be read again.
        try await store.write(pattern(0..<5_000), at: 0)
        #expect(try await store.all(of: 0..<5_000) == pattern(0..<5_000))
        await store.close()
    }

    @Test func `a row that is no extent gives way to one, and costs nothing else`() async throws {
        _ = try await fill(0..<100_000)
        do {
            let connection = try folder.index()
            try connection.execute("UPDATE extents SET stop = start WHERE start = 65536")
        }
        let opener = makeOpener()
        let store = try await opener.open(url("a.mp3"))
        #expect(store.stored == ByteRangeSet(0..<65_536))
        try await store.write(pattern(65_536..<100_000), at: 65_536)
        try await store.commit()
        #expect(try await store.all(of: 0..<100_000) == pattern(0..<100_000))
        await store.close()
        #expect(try await makeOpener().info(for: url("a.mp3"))?.stored == ByteRangeSet(0..<100_000))
        #expect(notices.texts == [])
    }

    @Test
    func `what files are too short for is withdrawn by the next session, also of what it does not open`()
        async throws
    {
        let object = try await fill(0..<100_000)
        #expect(truncate(object, 70_000) == 0)
        let opener = makeOpener()
        try await opener.open(url("b.mp3")).close()
        try await wait(for: "the sweep") {
            try await opener.info(for: url("a.mp3"))?.stored == ByteRangeSet(0..<65_536)
        }
    }

    @Test func `who replaces an entry is not told that the old one is gone`() async throws {
        let opener = makeOpener()
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<1_000), at: 0)
        try await store.commit()
        // The new one is let go of before a byte came into it, as it is when a change is met under way.
        try await opener.replace(url("a.mp3")).close()
        try await store.write(pattern(1_000..<2_000), at: 1_000)
        try await store.commit()
        #expect(!store.isPersistent)
        #expect(notices.texts == [])
        await store.close()
    }

    @Test func `an object that somebody removes while it is open is claimed no longer`() async throws {
        let opener = makeOpener()
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<1_000), at: 0)
        try await store.commit()
        unlink(try folder.firstObject)
        try await store.write(pattern(1_000..<2_000), at: 1_000)
        try await store.commit()
        #expect(!store.isPersistent)
        #expect(
            notices.all.count == 1 && notices.texts[0].contains("its entry in the cache folder was removed")
        )
        #expect(try await store.all(of: 0..<2_000) == pattern(0..<2_000))
        #expect(try await opener.info(for: url("a.mp3")) == nil)
        await store.close()
    }

    @Test func `an object that is gone leaves an empty entry`() async throws {
        try FileManager.default.removeItem(atPath: try await fill(0..<1_000))
        let store = try await makeOpener().open(url("a.mp3"))
        #expect(store.stored.isEmpty)
        try await store.write(pattern(0..<500), at: 0)
        await store.close()
        #expect(try await makeOpener().info(for: url("a.mp3"))?.storedBytes == 500)
    }

    @Test func `an object that became a symlink is refused`() async throws {
        let object = try await fill(0..<1_000)
        let elsewhere = folder.path + "/elsewhere"
        try FileManager.default.moveItem(atPath: object, toPath: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: object, withDestinationPath: elsewhere)
        let error = await #expect(throws: MediaError.self) { try await makeOpener().openEntry(url("a.mp3")) }
        #expect(error?.code == .notCached)
        #expect(FileManager.default.contents(atPath: elsewhere) == Data(pattern(0..<1_000)))
    }

    @Test(arguments: ["objects", "index.sqlite", "lock"])
    func `a symlink in the folder is refused`(name: String) async throws {
        let elsewhere = folder.path + "/elsewhere"
        try FileManager.default.createDirectory(atPath: folder.cache, withIntermediateDirectories: true)
        if name == "objects" {
            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
        } else {
            #expect(FileManager.default.createFile(atPath: elsewhere, contents: nil))
        }
        try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: elsewhere)
        await #expect(throws: MediaError.self) { try await makeOpener().openEntry(url("a.mp3")) }
    }

    @Test(arguments: ["-wal", "-shm"], [true, false])
    func `a symlink in the place of the index's log is not followed`(suffix: String, isDangling: Bool)
        async throws
    {
        _ = try await fill(0..<1_000)
        let elsewhere = folder.path + "/elsewhere"
        let words = Data("somebody's own".utf8)
        if !isDangling { #expect(FileManager.default.createFile(atPath: elsewhere, contents: words)) }
        let log = folder.file("index.sqlite" + suffix)
        try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: elsewhere)
        let error = await #expect(throws: MediaError.self) { try await makeOpener().openEntry(url("a.mp3")) }
        #expect(error?.code == .notCached)
        // Queries, which use another connection, do not follow it either.
        await #expect(throws: MediaError.self) { _ = try await makeOpener().list() }
        #expect(FileManager.default.contents(atPath: elsewhere) == (isDangling ? nil : words))
        try FileManager.default.removeItem(atPath: log)
        #expect(try await makeOpener().info(for: url("a.mp3"))?.storedBytes == 1_000)
        try await folder.waitUntilClosed()
        // A new index does not adopt an older log, and the target of the symlink is left unchanged.
        try FileManager.default.removeItem(atPath: folder.file("index.sqlite"))
        try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: elsewhere)
        try await makeOpener().open(url("a.mp3")).close()
        #expect(FileManager.default.contents(atPath: elsewhere) == (isDangling ? nil : words))
    }

    @Test func `symlinks in the places of damaged indexes are not followed`() async throws {
        let elsewhere = folder.path + "/elsewhere"
        let words = Data("somebody's own".utf8)
        #expect(FileManager.default.createFile(atPath: elsewhere, contents: words))
        _ = try await fill(0..<1_000)
        for name in ["index.sqlite.damaged-1", "index.sqlite.damaged-1-wal"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file(name),
                withDestinationPath: elsewhere
            )
        }
        // So many that the first gives its room back.
        for number in 2...5 {
            _ = try await fill(0..<1_000)
            try Data(pattern(0..<5_000)).write(to: URL(fileURLWithPath: folder.file("index.sqlite")))
            try await makeOpener().open(url("a.mp3")).close()
            #expect(FileManager.default.fileExists(atPath: folder.file("index.sqlite.damaged-\(number)")))
        }
        #expect(FileManager.default.contents(atPath: elsewhere) == words)
    }

    @Test func `objects that no entry has are removed, other files and open ones are not`() async throws {
        _ = try await fill(0..<1_000)
        let held = try await makeOpener().open(url("b.mp3"))
        let kept = try folder.objects
        for name in ["12345", "012", "note.txt"] {
            #expect(
                FileManager.default.createFile(atPath: folder.file("objects/\(name)"), contents: Data([1]))
            )
        }
        let store = try await makeOpener().open(url("a.mp3"))
        try await wait(for: "the clean-up") { try !self.folder.objects.contains("12345") }
        #expect(try folder.objects == (kept + ["012", "note.txt"]).sorted())
        await store.close()
        await held.close()
    }

    @Test(arguments: ["garbage", "header", "middle"])
    func `a damaged index is set aside and an empty one takes its place`(kind: String) async throws {
        _ = try await fill(0..<1_000)
        let path = folder.file("index.sqlite")
        var bytes = try #require(FileManager.default.contents(atPath: path))
        switch kind {
        case "garbage": bytes = Data(pattern(0..<20_000))
        case "header": bytes[3] ^= 0xFF
        default:
            bytes.replaceSubrange(4_096..<bytes.count, with: Data(pattern(0..<Int64(bytes.count - 4_096))))
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        let opener = makeOpener()
        let store = try await opener.open(url("a.mp3"))
        #expect(store.stored.isEmpty)
        #expect(FileManager.default.contents(atPath: path + ".damaged-1") == bytes)
        try await store.write(pattern(0..<2_000), at: 0)
        await store.close()
        #expect(try await opener.list().map(\.storedBytes) == [2_000])
        try await wait(for: "the clean-up") { try self.folder.objects.count == 1 }
    }

    @Test func `damaged indexes are set aside one by one, and the oldest give their room back`() async throws
    {
        let codes = Locked<[MediaError.Code]>([])
        for _ in 0..<5 {
            _ = try await fill(0..<1_000)
            try Data(pattern(0..<5_000)).write(to: URL(fileURLWithPath: folder.file("index.sqlite")))
            let opener = CacheFolder(
                path: folder.cache,
                clock: TestClock(),
                onNotice: { notice in codes.withLock { $0.append(notice.code) } }
            )
            try await opener.open(url("a.mp3")).close()
        }
        #expect(codes.withLock { $0 } == [MediaError.Code](repeating: .damagedIndex, count: 5))
        let sizes = (1...5).map { number in
            FileManager.default.contents(atPath: folder.file("index.sqlite.damaged-\(number)"))?.count
        }
        #expect(sizes == [0, 0, 5_000, 5_000, 5_000])
    }

    @Test func `a record of the index that somebody changed tells nothing, and its bytes stay`() async throws
    {
        let opener = makeOpener()
        let store = try await opener.open(url("a.mp3"))
        store.describe(.example)
        try await store.write(pattern(0..<1_000), at: 0)
        await store.close()
        let connection = try folder.index()
        let about = try #require(
            try connection.statement("SELECT about FROM entries").first { $0.blob(0) }
        )
        for place in about.indices {
            var changed = about
            changed[place] ^= 1
            try connection.statement("UPDATE entries SET about = ?").run(changed)
            #expect(try await opener.info(for: url("a.mp3"))?.length == nil)
        }
        let next = try await opener.open(url("a.mp3"))
        var expected = EntryDescription()
        expected.seekTable = EntryDescription.example.seekTable
        #expect(next.description == expected)
        #expect(try await next.all(of: 0..<1_000) == pattern(0..<1_000))
        // Facts that a new response states are stored again.
        next.describe(.example)
        await next.close()
        #expect(try await opener.info(for: url("a.mp3"))?.length == EntryDescription.example.length)
    }

    @Test func `a disk that takes no line more into the index still gives what is stored`() async throws {
        _ = try await fill(0..<200_000)
        let opener = makeOpener()
        try await opener.open(url("a.mp3")).close()
        // As a full disk does, the index refuses to be written to.
        let connection = try folder.index()
        try connection.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        _ = connection
        let store = try await opener.open(url("a.mp3"))
        #expect(try await store.all(of: 0..<200_000) == pattern(0..<200_000))
        await store.close()
    }

    @Test func `an index of a newer version is left alone`() async throws {
        _ = try await fill(0..<1_000)
        let connection = try folder.index()
        try connection.execute("PRAGMA user_version = \(CacheIndex.version + 1)")
        let error = await #expect(throws: MediaError.self) { try await makeOpener().openEntry(url("a.mp3")) }
        #expect(error?.code == .notCached)
        #expect(error?.description.contains("newer version") == true)
        try connection.execute("PRAGMA user_version = \(CacheIndex.version)")
        #expect(try await makeOpener().info(for: url("a.mp3"))?.storedBytes == 1_000)
    }

    private func setFormat(_ format: Int64) throws {
        let connection = try folder.index()
        try connection.execute("PRAGMA user_version = \(format)")
    }

    @Test(arguments: 1..<CacheIndex.version)
    func `an index of an earlier format is set aside with a notice, and its objects are removed`(
        format: Int64
    ) async throws {
        _ = try await fill(0..<1_000)
        try setFormat(format)
        let opener = makeOpener()
        #expect(try await opener.list().isEmpty)
        #expect(FileManager.default.fileExists(atPath: folder.file("index.sqlite.damaged-1")))
        #expect(notices.all.count == 1)
        #expect(notices.texts.first?.contains("outdated format \(format)") == true)
        let store = try await opener.open(url("b.mp3"))
        #expect(store.stored.isEmpty)
        try await store.write(pattern(0..<2_000), at: 0)
        await store.close()
        try await wait(for: "the clean-up") { try self.folder.objects.count == 1 }
        #expect(try await opener.list().map(\.storedBytes) == [2_000])
        #expect(notices.all.count == 1)
    }

    @Test func `an index of an earlier format is left alone while another process has it open`() async throws
    {
        _ = try await fill(0..<1_000)
        try setFormat(CacheIndex.version - 1)
        do {
            let other = try folder.index()
            #expect(try other.statement("SELECT count(*) FROM entries").first { $0.integer(0) } == 1)
            let error = await #expect(throws: MediaError.self) { _ = try await makeOpener().list() }
            #expect(error?.code == .notCached)
            #expect(error?.description.contains("another process has it open") == true)
        }
        #expect(notices.all.isEmpty)
        #expect(try folder.objects.count == 1)
        try setFormat(CacheIndex.version)
        #expect(try await makeOpener().info(for: url("a.mp3"))?.storedBytes == 1_000)
    }

    @Test func `a folder that another process holds for long cannot be used, and says so`() async throws {
        try FileManager.default.createDirectory(atPath: folder.cache, withIntermediateDirectories: true)
        let holder = open(folder.file("lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(holder, LOCK_EX) == 0)
        defer { close(holder) }
        let error = await #expect(throws: MediaError.self) { try await makeOpener().openEntry(url("a.mp3")) }
        #expect(error?.code == .notCached)
        #expect(error?.description.contains("another process has locked it for too long") == true)
        #expect(flock(holder, LOCK_UN) == 0)
        try await makeOpener().open(url("a.mp3")).close()
    }

    @Test func `an object that cannot be opened is not taken for one that is gone`() async throws {
        let object = try await fill(0..<1_000)
        try FileManager.default.removeItem(atPath: object)
        // Refused with ELOOP, as EMFILE refuses what another process has open.
        try FileManager.default.createSymbolicLink(atPath: object, withDestinationPath: folder.path)
        let opener = makeOpener()
        #expect(try await opener.clear(includingPinned: true).entriesRemoved == 0)
        try FileManager.default.removeItem(atPath: object)
        #expect(try await opener.clear(includingPinned: true).entriesRemoved == 1)
    }

    @Test func `a folder that is a file cannot be used, and says so`() async throws {
        #expect(FileManager.default.createFile(atPath: folder.cache, contents: Data([1, 2])))
        for path in [folder.cache, folder.cache + "/below"] {
            let error = await #expect(throws: MediaError.self) {
                try await CacheFolder(path: path, clock: TestClock()).openEntry(url("a.mp3"))
            }
            #expect(error?.code == .notCached)
            #expect(error?.subject.string == "cache folder \(path)")
        }
        #expect(FileManager.default.contents(atPath: folder.cache) == Data([1, 2]))
    }

    @Test func `a folder that is removed and made anew is used again`() async throws {
        let opener = makeOpener()
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<1_000), at: 0)
        try FileManager.default.removeItem(atPath: folder.cache)
        #expect(try await store.read(at: 0, count: 1_000) == pattern(0..<1_000))
        try await store.write(pattern(1_000..<2_000), at: 1_000)
        await store.close()
        #expect(!store.isPersistent)
        let next = try await opener.open(url("a.mp3"))
        #expect(next.stored.isEmpty)
        try await next.write(pattern(0..<500), at: 0)
        await next.close()
        #expect(try await makeOpener().list().map(\.storedBytes) == [500])
    }
}
