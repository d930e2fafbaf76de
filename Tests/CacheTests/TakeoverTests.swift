import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// A folder of the former format of the index is taken over in place.
///
/// `FormerCacheTests` does this with folders that a former player made; here the folders have many entries,
/// and are turned back into former ones.
@Suite struct TakeoverTests {
    private let scene = CacheScene()

    /// An entry as a folder states it.
    private struct Content: Equatable {
        var item: CachedItem
        var urls: [SafeText]
        var facts: [DerivedFact: [UInt8]]
    }

    private func contents(_ path: String, _ secret: CacheSecret?) async throws -> [Content] {
        let opener = CacheFolder(path: path, secret: secret, clock: TestClock(), onNotice: scene.notices.note)
        return try await opener.engine.ask(orElse: []) { index in
            try index.entries.rows().map { row in
                let facts = try index.facts.all(of: row.entry)
                return Content(
                    item: try index.item(row),
                    urls: try index.names.urls(of: row.entry),
                    facts: facts
                )
            }
        }
    }

    /// Caches `count` tracks, of which some are pinned, cached in part, without facts, or have two names.
    /// Then turns the folder back into one of format 5. Returns what it holds.
    private func fill(_ count: Int, _ secret: CacheSecret?) async throws -> [Content] {
        do {
            let opener = scene.opener(secret: secret)
            for number in 0..<count {
                let store = try await opener.open(url("\(number)"))
                var description = EntryDescription.example
                description.length = 5_000
                description.validators.etag = "\"\(number)\""
                description.tags = TrackTags(title: SafeText("Song \(number)"), artist: "Someone")
                description.facts = number % 5 == 0 ? [:] : [.seekTable: Array("places \(number)".utf8)]
                store.describe(description)
                try await store.write(0..<(number % 4 == 0 ? 2_000 : 5_000), salt: UInt64(number))
                await store.close()
                if number % 3 == 0 { try await opener.setPinned(url("\(number)"), true) }
                guard number % 7 == 0, let entry = try await opener.info(for: url("\(number)")) else {
                    continue
                }
                let name = try url("mirror/\(number)")
                let key = opener.engine.entries.key(of: name)
                _ = try await opener.engine.change(orElse: ()) {
                    try $0.index.names.add(key, url: name.safeText, to: entry.id)
                }
            }
        }
        try await scene.waitUntilClosed()
        let contents = try await contents(scene.cache, secret)
        try await scene.waitUntilClosed()
        try scene.turnBack()
        return contents
    }

    private func format(of path: String) throws -> Int64 {
        try CacheIndex.version(of: SQLiteConnection(path: path + "/index.sqlite"))
    }

    @Test(arguments: [false, true])
    func `a folder of format 5 is taken over with all it holds`(isSealed: Bool) async throws {
        let secret: CacheSecret? = isSealed ? .generate() : nil
        let count = TestCount.of(40, full: 2_000)
        let before = try await fill(count, secret)
        #expect(try before.count == count && format(of: scene.cache) == 5)
        #expect(try await contents(scene.cache, secret) == before)
        #expect(try format(of: scene.cache) == 6)
        let report = try await scene.opener(secret: secret).verify()
        #expect(report.isSound && report.entries == count && report.orphansRemoved == 0)
        #expect(scene.notices.texts.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a kill at any statement of the takeover loses nothing, and the next start goes on`(isSealed: Bool)
        async throws
    {
        let secret: CacheSecret? = isSealed ? .generate() : nil
        let before = try await fill(12, secret)
        let statements =
            CacheIndex.additions.split(separator: ";").map { String($0) } + ["COMMIT"]
        #expect(statements.count == 6)
        for count in 0...statements.count {
            let path = scene.path + "/running-\(count)"
            let killed = scene.path + "/killed-\(count)"
            try FileManager.default.copyItem(atPath: scene.cache, toPath: path)
            do {
                let connection = try SQLiteConnection(path: path + "/index.sqlite")
                // Without room in memory, pages are written before the transaction ends.
                try connection.execute("PRAGMA cache_size = 1; BEGIN IMMEDIATE")
                for statement in statements.prefix(count) { try connection.execute(statement) }
                try FileManager.default.copyItem(atPath: path, toPath: killed)
            }
            #expect(try await contents(killed, secret) == before, "killed after \(count) statements")
            #expect(try format(of: killed) == 6)
        }
        #expect(scene.notices.texts.isEmpty)
    }

    @Test func `without the right secret nothing is taken over`() async throws {
        let secret = CacheSecret.generate()
        let before = try await fill(3, secret)
        for wrong in [CacheSecret.generate(), nil] {
            let error = await #expect(throws: MediaError.self) {
                try await scene.opener(secret: wrong).checkSecret()
            }
            #expect(error?.code == .cacheSecret)
            #expect(try format(of: scene.cache) == 5)
        }
        #expect(try await contents(scene.cache, secret) == before)
    }

    @Test(arguments: [false, true])
    func `format 5 in a folder that accepts no writes is read as it is`(isSealed: Bool) async throws {
        let secret: CacheSecret? = isSealed ? .generate() : nil
        let before = try await fill(6, secret)
        let files = scene.content("index.sqlite")
        let engine = scene.opener(secret: secret).engine
        for number in 0..<6 {
            let key = engine.entries.key(of: try url("\(number)"))
            let opening = try await engine.committer.run {
                try engine.entries.openUnwritable(after: SystemError("open the lock file", number: EROFS)) {
                    try $0.entries.row(named: key)
                }
            }
            let entry = try #require(opening)
            #expect(before.contains { $0.item.url == entry.url && $0.facts == entry.description.facts })
            #expect(entry.description.tags.title == SafeText("Song \(number)"))
            let extent = try #require(entry.extents.first)
            #expect(
                engine.entries.bytes(of: extent, in: entry.file)
                    == pattern(extent.range, salt: UInt64(number))
            )
        }
        #expect(scene.content("index.sqlite") == files)
    }

    /// A failing statement would make such a player set the index aside.
    @Test func `players of format 5 that have the folder open can go on`() async throws {
        _ = try await fill(3, nil)
        let other = try SQLiteConnection(path: scene.index)
        try other.execute("PRAGMA foreign_keys = ON")
        let open = try other.statement("SELECT seek_points FROM entries WHERE id = ?")
        let entry = try #require(try other.statement("SELECT id FROM entries").first { $0.integer(0) })
        #expect(try open.first(entry) { $0.blob(0) } != nil)
        #expect(try await contents(scene.cache, nil).count == 3)
        try other.statement("UPDATE entries SET seek_points = ? WHERE id = ?").run(
            [1, 2, 3] as [UInt8],
            entry
        )
        try other.execute(
            """
            INSERT INTO entries (id, url, about, pinned, created, last_played, turn) VALUES (7, '', x'', 0, 1, 1, 1);
            INSERT OR REPLACE INTO names (key, entry, place, display_url) VALUES (x'01', 7, 1, x'');
            UPDATE entries SET url = '', about = x'', identity = NULL WHERE id = 7
            """
        )
        #expect(try await contents(scene.cache, nil).count == 4)
        try other.statement("DELETE FROM entries WHERE id = ?").run(entry)
        #expect(
            try other.statement("SELECT count(*) FROM facts WHERE entry = ?").first(entry) { $0.integer(0) }
                == 0
        )
        #expect(try await contents(scene.cache, nil).count == 3)
        #expect(scene.notices.texts.isEmpty)
    }

    /// Players of format 5 refuse a record with another number of values, and tags stay in folders for ever.
    @Test func `records keep the values of format 5, and tags their order`() throws {
        let record = EntryRecord(url: "http://a/b", description: .example).bytes
        #expect(record.first == 1)
        let values = values(of: record.dropFirst())
        #expect(values.count == 10 && values[6] == "Żółw" && values[7] == "Ὀρφεύς")
        let tags = self.values(of: EntryDescription.example.tags.stored.bytes[...])
        #expect(tags.count == 10 && tags[0] != nil)
        #expect(tags[1...] == ["Żółw", "Ὀρφεύς", "Album", "1999", "3/12", "Ὅμιλος", "1/2", "Folk", "1"])
    }

    /// The values in a list, each after its size in four bytes.
    private func values(of list: ArraySlice<UInt8>) -> [String?] {
        var values: [String?] = []
        var rest = list
        while rest.count >= 4 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            values.append(size == Int(UInt32.max) ? nil : String(decoding: rest.prefix(size), as: UTF8.self))
            if size != Int(UInt32.max) { rest = rest.dropFirst(size) }
        }
        return values
    }

    @Test(arguments: [false, true])
    func `a fact of an unknown kind or version is ignored, and made again`(isSealed: Bool) async throws {
        let secret: CacheSecret? = isSealed ? .generate() : nil
        let facts = EntryDescription.example.facts
        func stored() async throws -> [DerivedFact: [UInt8]] {
            let store = try await scene.opener(secret: secret).open(url("a"))
            let found = store.description.facts
            store.describe(.example)
            await store.close()
            return found
        }
        try await scene.opener(secret: secret).cache("a", 1_000)
        #expect(try await stored().isEmpty)
        #expect(try await stored() == facts)
        try scene.alterIndex(
            "UPDATE facts SET version = 99; INSERT INTO facts SELECT entry, x'010203', 1, value FROM facts"
        )
        #expect(try await stored().isEmpty)
        #expect(try await stored() == facts)
        let connection = try SQLiteConnection(path: scene.index)
        #expect(try connection.statement("SELECT count(*) FROM facts").first { $0.integer(0) } == 2)
    }
}
