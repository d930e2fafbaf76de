import Foundation
import Glibc
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// A cache folder that another program has changed.
@Suite struct IntegrityTests {
    private let scene = CacheScene()

    @Test func `bytes that are cut off while they are played are missing, reported, and cached again`()
        async throws
    {
        let store = try await scene.opener().opened("a", 0..<200_000)
        try await store.write(200_000..<300_000)
        let object = try scene.firstObject
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
        #expect(
            scene.notices.texts.first
                == "http://radio.example/a: cached bytes 131072–196607 were damaged; downloading them again"
        )
        try await store.write(100_000..<300_000)
        await store.close()
        #expect(try await scene.opener().open(url("a")).holds(0..<300_000))
    }

    @Test func `committed bytes that the disk can no longer read are missing`() async throws {
        try await scene.fill(0..<100_000)
        let store = try await scene.opener().opened("a")
        // For the time of one read, the descriptor is that of a folder, from which `pread` fails.
        let descriptor = store.guarded.withLock { $0.file.descriptor }
        let saved = dup(descriptor)
        let unreadable = Glibc.open(scene.path, O_RDONLY | O_DIRECTORY)
        #expect(dup2(unreadable, descriptor) == descriptor)
        #expect(try await store.read(at: 70_000, count: 10) == [])
        #expect(dup2(saved, descriptor) == descriptor)
        for opened in [saved, unreadable] { Glibc.close(opened) }
        #expect(store.stored == ByteRangeSet(0..<65_536))
        #expect(scene.notices.all.count == 1)
        await store.close()
        #expect(try await scene.stored() == ByteRangeSet(0..<65_536))
    }

    @Test func `an invalid row of an extent is replaced, and other extents stay`() async throws {
        try await scene.fill(0..<100_000)
        try scene.alterIndex("UPDATE extents SET stop = start WHERE start = 65536")
        let store = try await scene.opener().open(url("a"))
        #expect(store.stored == ByteRangeSet(0..<65_536))
        try await store.write(65_536..<100_000)
        try await store.commit()
        #expect(try await store.holds(0..<100_000))
        #expect(try await scene.stored() == ByteRangeSet(0..<100_000))
        #expect(scene.notices.texts == [])
    }

    @Test(arguments: [true, false])
    func `bytes that a file has lost are missing, from when it is opened or the folder is swept`(
        isOpened: Bool
    ) async throws {
        #expect(truncate(try await scene.fill(0..<200_000), 140_000) == 0)
        let store = try await scene.opener().open(url(isOpened ? "a" : "b"))
        if isOpened { #expect(store.stored == ByteRangeSet(0..<131_072)) }
        #expect(scene.notices.codes == (isOpened ? [.damagedExtent] : []))
        await store.close()
        try await wait(for: "the sweep") { try await self.scene.stored() == ByteRangeSet(0..<131_072) }
    }

    @Test(arguments: [true, false])
    func `a store whose entry is gone claims nothing more, and reports that unless it was replaced`(
        isReplaced: Bool
    ) async throws {
        let opener = scene.opener()
        let store = try await opener.opened("a", 0..<1_000)
        if isReplaced {
            // The new entry is closed empty, as when a change is found while a track plays.
            try await opener.replace(url("a")).close()
        } else {
            unlink(try scene.firstObject)
        }
        try await store.write(1_000..<2_000)
        try await store.commit()
        #expect(!store.isPersistent)
        let report = "http://radio.example/a: its entry in the cache folder was removed"
        #expect(scene.notices.texts == (isReplaced ? [] : [report]))
        #expect(try await store.holds(0..<2_000))
        #expect(try await scene.stored() == nil)
    }

    @Test func `an entry without its object is empty`() async throws {
        unlink(try await scene.fill(0..<1_000))
        let store = try await scene.opener().open(url("a"))
        #expect(store.stored.isEmpty)
        try await store.write(0..<500)
        await store.close()
        #expect(try await scene.stored() == ByteRangeSet(0..<500))
    }

    @Test(arguments: ["objects", "index.sqlite", "lock"])
    func `a symlink in the folder is refused`(name: String) async throws {
        try await scene.fill(0..<1_000)
        let path = scene.file(name)
        let elsewhere = scene.path + "/elsewhere"
        #expect(rename(path, elsewhere) == 0)
        try scene.link(path, to: elsewhere)
        #expect(try await scene.opener().refusedOpening()?.code == .notCached)
        unlink(path)
        #expect(rename(elsewhere, path) == 0)
        #expect(try await scene.opener().open(url("a")).holds(0..<1_000))
    }

    @Test(arguments: ["-wal", "-shm"], [true, false])
    func `a symlink in the place of the index's log is not followed`(suffix: String, isDangling: Bool)
        async throws
    {
        try await scene.fill(0..<1_000)
        let elsewhere = scene.path + "/elsewhere"
        let words = Data("somebody's own".utf8)
        if !isDangling { try scene.put(words, at: elsewhere) }
        let log = scene.index + suffix
        try scene.link(log, to: elsewhere)
        #expect(try await scene.opener().refusedOpening()?.code == .notCached)
        // Queries, which use another connection, do not follow it either.
        await #expect(throws: MediaError.self) { _ = try await scene.opener().list() }
        #expect(FileManager.default.contents(atPath: elsewhere) == (isDangling ? nil : words))
        unlink(log)
        #expect(try await scene.stored() == ByteRangeSet(0..<1_000))
        try await scene.waitUntilClosed()
        // A new index does not adopt an older log, and the target of the symlink is left unchanged.
        unlink(scene.index)
        try scene.link(log, to: elsewhere)
        try await scene.opener().open(url("a")).close()
        #expect(FileManager.default.contents(atPath: elsewhere) == (isDangling ? nil : words))
    }

    @Test func `damaged indexes are set aside one by one, and the oldest are emptied, but no symlink is`()
        async throws
    {
        let elsewhere = scene.path + "/elsewhere"
        let words = Data("somebody's own".utf8)
        try scene.put(words, at: elsewhere)
        try await scene.fill(0..<1_000)
        for name in [".damaged-1", ".damaged-1-wal"] { try scene.link(scene.index + name, to: elsewhere) }
        for _ in 0..<5 {
            try await scene.fill(0..<1_000)
            try scene.put(Data(pattern(0..<5_000)), at: scene.index)
            try await scene.opener().open(url("a")).close()
        }
        #expect(scene.notices.codes == [MediaError.Code](repeating: .damagedIndex, count: 5))
        let sizes = (2...6).map { scene.content("index.sqlite.damaged-\($0)")?.count }
        #expect(sizes == [0, 0, 5_000, 5_000, 5_000])
        #expect(FileManager.default.contents(atPath: elsewhere) == words)
    }

    @Test func `objects without an entry are removed, but no other files and no open objects`() async throws {
        try await scene.fill(0..<1_000)
        let held = try await scene.opener().open(url("b"))
        let kept = try scene.objects
        for name in ["12345", "012", "note.txt"] { try scene.put(at: scene.file("objects/\(name)")) }
        let store = try await scene.opener().open(url("a"))
        try await wait(for: "the clean-up") { try !self.scene.objects.contains("12345") }
        #expect(try scene.objects == (kept + ["012", "note.txt"]).sorted())
        await store.close()
        await held.close()
    }

    @Test func `a changed record of the index counts as empty, and tags, facts and bytes stay`() async throws
    {
        let opener = scene.opener()
        let store = try await opener.opened("a", 0..<1_000)
        store.describe(.example)
        await store.close()
        let connection = try SQLiteConnection(path: scene.index)
        let about = try #require(
            try connection.statement("SELECT about FROM entries").first { $0.blob(0) }
        )
        for place in about.indices {
            var changed = about
            changed[place] ^= 1
            try connection.statement("UPDATE entries SET about = ?").run(changed)
            #expect(try await opener.info(for: url("a"))?.length == nil)
        }
        let next = try await opener.open(url("a"))
        var expected = EntryDescription()
        expected.tags = EntryDescription.example.tags
        expected.facts = EntryDescription.example.facts
        #expect(next.description == expected)
        #expect(try await next.holds(0..<1_000))
        // Facts that a new response states are stored again.
        next.describe(.example)
        await next.close()
        #expect(try await opener.info(for: url("a"))?.length == EntryDescription.example.length)
    }

    @Test func `stored bytes are read even if the index cannot record that they are played`() async throws {
        try await scene.fill(0..<200_000)
        let opener = scene.opener()
        try await opener.open(url("a")).close()
        // As a full disk does, the index refuses to be written to.
        try scene.alterIndex(
            "CREATE TRIGGER full BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        #expect(try await opener.open(url("a")).holds(0..<200_000))
    }

    private func setFormat(_ format: Int64) throws { try scene.alterIndex("PRAGMA user_version = \(format)") }

    private static let otherFormats: [Int64] =
        Array(1..<CacheIndex.formerVersion) + [CacheIndex.version + 1, 99, -1]

    @Test(arguments: otherFormats, [false, true])
    func `a folder of another format is left untouched, music plays without it, and that is said once`(
        format: Int64,
        hasLog: Bool
    ) async throws {
        try await scene.fill(0..<1_000)
        var path = scene.cache
        if hasLog {
            // A process that is killed leaves the format in the log.
            let other = try SQLiteConnection(path: scene.index)
            try other.execute("PRAGMA user_version = \(format)")
            path = scene.path + "/killed"
            try FileManager.default.copyItem(atPath: scene.cache, toPath: path)
        } else {
            try setFormat(format)
        }
        let before = try files(in: path)
        #expect(before.keys.contains("index.sqlite-wal") == hasLog)
        do {
            let opener = CacheFolder(path: path, clock: scene.clock, onNotice: scene.notices.note)
            for name in ["a", "b"] {
                let store = try await opener.open(url(name))
                #expect(!store.isPersistent && store.stored.isEmpty)
                try await store.write(0..<500)
                #expect(try await store.holds(0..<500))
                await store.close()
            }
            #expect(await opener.availability(of: [try url("a")]) == [nil])
            await #expect(throws: MediaError.self) { _ = try await opener.list() }
            await #expect(throws: MediaError.self) { try await opener.setPinned(url("a"), true) }
            await #expect(throws: MediaError.self) { _ = try await opener.clear(includingPinned: false) }
            await opener.rest()
        }
        let ways = "(format \(format)); use another --cache-dir, or cache clear --pinned"
        #expect(scene.notices.texts == ["cache folder \(path): another version made it " + ways])
        try await wait(for: "the folder to be as it was") { try self.files(in: path) == before }
    }

    /// The contents of the files in a folder, except an empty log and the file that the readers of a log
    /// share.
    private func files(in path: String) throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: path).filter { !$0.hasSuffix("-shm") }
        let contents = names.map { ($0, FileManager.default.contents(atPath: path + "/" + $0) ?? Data()) }
        return Dictionary(uniqueKeysWithValues: contents.filter { !$0.hasSuffix("-wal") || !$1.isEmpty })
    }

    @Test(arguments: otherFormats)
    func `clearing a folder of another format with its pins removes all that no process has open`(
        format: Int64
    )
        async throws
    {
        try await scene.fill(0..<100_000)
        let holder = scene.opener()
        let held = try await holder.opened("b", 0..<5_000)
        // Its clean-up would remove some of the files itself.
        await holder.rest()
        try setFormat(format)
        let opener = scene.opener()
        let removal = try await opener.clear(includingPinned: true)
        #expect(removal.entriesRemoved == 1 && removal.bytesFreed >= 100_000 && removal.entriesInUse == 1)
        #expect(try await opener.list().isEmpty && scene.objects.count == 1)
        try await opener.cache("c", 2_000)
        #expect(try await opener.list().map(\.storedBytes) == [2_000])
        #expect(try await held.holds(0..<5_000))
        #expect(scene.notices.texts.isEmpty)
        await held.close()
    }

    @Test func `a folder whose format is the present one again has lost nothing`() async throws {
        try await scene.fill(0..<1_000)
        for format in Self.otherFormats {
            try setFormat(format)
            #expect(try await scene.opener().refusedOpening()?.code == .notCached)
            #expect(scene.notices.all.isEmpty)
        }
        try setFormat(CacheIndex.version)
        #expect(try await scene.opener().open(url("a")).holds(0..<1_000))
    }

    @Test func `a folder that another process has locked for long is refused with that reason`() async throws
    {
        #expect(mkdir(scene.cache, 0o700) == 0)
        let holder = open(scene.file("lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(holder, LOCK_EX) == 0)
        defer { close(holder) }
        let error = try await scene.opener().refusedOpening()
        #expect(error?.code == .notCached)
        #expect(error?.description.contains("another process has locked it for too long") == true)
        #expect(flock(holder, LOCK_UN) == 0)
        _ = try await scene.opener().openEntry(ResourceKey(url("a")), isOffline: false)
    }

    @Test func `an object that cannot be opened does not count as missing`() async throws {
        let object = try await scene.fill(0..<1_000)
        unlink(object)
        // A program that runs can't be opened to be changed (ETXTBSY), as without a free descriptor nothing
        // can.
        let program = try #require(RunningProcess.path(of: "cat"))
        try FileManager.default.copyItem(atPath: program, toPath: object)
        let process = try RunningProcess(object)
        #expect(try await scene.opener().clear(includingPinned: true).entriesRemoved == 0)
        try process.closeInput()
        #expect(try await process.waitForExit() == 0)
        #expect(try await scene.opener().clear(includingPinned: true).entriesRemoved == 1)
    }

    @Test func `a file in the place of the folder is refused and stays`() async throws {
        try scene.put(at: scene.cache)
        for path in [scene.cache, scene.cache + "/below"] {
            let error = try await CacheFolder(path: path, clock: TestClock()).refusedOpening()
            #expect(error?.code == .notCached)
            #expect(error?.subject.string == "cache folder \(path)")
        }
        #expect(FileManager.default.contents(atPath: scene.cache) == Data([1, 2]))
    }

    @Test func `a folder that was removed is created again at the next opening`() async throws {
        let opener = scene.opener()
        let store = try await opener.open(url("a"))
        try await store.write(0..<1_000)
        // A clean-up that still runs could create files again while the folder is being removed.
        await opener.rest()
        try FileManager.default.removeItem(atPath: scene.cache)
        try await store.write(1_000..<2_000)
        #expect(try await store.holds(0..<2_000))
        await store.close()
        #expect(!store.isPersistent)
        let next = try await opener.open(url("a"))
        #expect(next.stored.isEmpty)
        try await next.write(0..<500)
        await next.close()
        #expect(try await scene.stored() == ByteRangeSet(0..<500))
    }
}
