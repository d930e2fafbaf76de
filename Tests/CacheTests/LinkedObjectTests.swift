import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// Objects that became links or folders: writing through links would change files outside of the cache.
@Suite struct LinkedObjectTests {
    enum Link: CaseIterable, Sendable {
        case symbolic
        /// A second name of the object itself.
        case hard
        /// A second name of another file, in the object's place.
        case foreign
        case pipe
        /// An empty one.
        case folder
    }

    private let scene = CacheScene()

    /// The file outside that must not change.
    private var outside: String { scene.path + "/outside" }

    /// Turns the object at `path` into a link.
    private func damage(_ path: String, _ kind: Link) throws {
        if kind == .hard {
            try FileManager.default.linkItem(atPath: path, toPath: outside)
            return
        }
        try scene.put(Data(pattern(0..<100_000)), at: outside)
        unlink(path)
        switch kind {
        case .symbolic: try scene.link(path, to: outside)
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .folder: #expect(mkdir(path, 0o700) == 0)
        default: try FileManager.default.linkItem(atPath: outside, toPath: path)
        }
    }

    /// Expects that the file outside is as it was, with one name.
    private func expectUntouched() throws {
        #expect(FileManager.default.contents(atPath: outside) == Data(pattern(0..<100_000)))
        var status = stat()
        #expect(stat(outside, &status) == 0 && status.st_nlink == 1)
    }

    @Test(arguments: Link.allCases)
    func `a verification drops a linked object and goes on`(kind: Link) async throws {
        try damage(await scene.fill(0..<100_000), kind)
        try await scene.opener().cache("b")
        let report = try await scene.opener().verify()
        #expect((report.entries, report.bytes, report.damagedBytes) == (2, 200_000, 100_000))
        #expect(report.damaged.map(\.url) == ["http://radio.example/a"])
        try expectUntouched()
        #expect(try await scene.opener().verify().isSound)
        #expect(try await scene.opener().info(for: url("b"))?.isComplete == true)
    }

    @Test(arguments: Link.allCases, [true, false])
    func `linked objects are removed, and what they lead to is not`(kind: Link, isAll: Bool) async throws {
        try damage(await scene.fill(0..<100_000), kind)
        let opener = scene.opener()
        let removal =
            isAll
            ? try await opener.clear(includingPinned: false)
            : try await opener.evict(opener.entries("a"))
        #expect((removal.entriesRemoved, removal.entriesInUse) == (1, 0))
        #expect(try scene.objects == [])
        try expectUntouched()
    }

    @Test(arguments: Link.allCases)
    func `a linked object without an entry is removed as a stray file`(kind: Link) async throws {
        try await scene.opener().cache("b")
        let path = scene.file("objects/12345")
        try scene.put(Data(pattern(0..<100_000)), at: path)
        try damage(path, kind)
        #expect(try await scene.opener().verify().orphansRemoved == 1)
        try expectUntouched()
    }

    @Test(arguments: Link.allCases)
    func `a track with a linked object is fetched again into a file of its own`(kind: Link) async throws {
        try damage(await scene.fill(0..<100_000), kind)
        let store = try await scene.opener().open(url("a"))
        #expect(try await !store.holds(0..<100_000))
        try await store.write(0..<50_000, salt: 1)
        await store.close()
        #expect(try await scene.stored()?.byteCount == 50_000)
        try expectUntouched()
    }

    @Test(arguments: [Link.hard, .symbolic, .folder])
    func `an object that becomes a link while it is open gets no more bytes`(kind: Link) async throws {
        let store = try await scene.opener().opened("a", 0..<100_000)
        try damage(try scene.firstObject, kind)
        try await store.write(100_000..<200_000)
        await store.close()
        #expect(FileManager.default.contents(atPath: outside)?.count == 100_000)
    }

    @Test func `a folder with files in the place of an object is put aside with all that is in it`()
        async throws
    {
        let path = try await scene.fill(0..<100_000)
        #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
        try scene.put(Data(pattern(0..<100)), at: path + "/notes")
        let report = try await scene.opener().verify()
        #expect((report.entries, report.damagedBytes) == (1, 100_000))
        #expect(FileManager.default.contents(atPath: path + ".folder/notes") == Data(pattern(0..<100)))
        #expect(try await scene.opener().verify().isSound)
        // Cached again, the entry has a file.
        try await scene.opener().cache("a")
        #expect(try await scene.opener().info(for: url("a"))?.isComplete == true)
    }
}
