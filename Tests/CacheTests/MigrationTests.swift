import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// An index of the first format is brought to the present one, and nothing in it is lost.
@Suite struct MigrationTests {
    /// The tables as format 1 had them.
    private static let firstFormat = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, url TEXT NOT NULL, length INTEGER,
            content_type TEXT, etag TEXT, last_modified TEXT, accepts_ranges INTEGER, title TEXT, artist TEXT,
            duration REAL, seek_table BLOB NOT NULL DEFAULT x'', created INTEGER NOT NULL,
            last_played INTEGER NOT NULL, pinned INTEGER NOT NULL DEFAULT 0,
            allocated INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX entries_by_play ON entries (last_played, id, pinned, allocated);
        CREATE TABLE extents (
            entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE, start INTEGER NOT NULL,
            stop INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (entry, start)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE folder (allocated INTEGER NOT NULL) STRICT;
        INSERT INTO folder VALUES (0);
        CREATE TRIGGER entry_grows AFTER UPDATE OF allocated ON entries BEGIN
            UPDATE folder SET allocated = allocated + new.allocated - old.allocated;
        END;
        CREATE TRIGGER entry_goes AFTER DELETE ON entries BEGIN
            UPDATE folder SET allocated = allocated - old.allocated;
        END;
        PRAGMA user_version = 1;
        """

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("objects"),
            withIntermediateDirectories: true
        )
        let path = folder.file("index.sqlite")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let connection = try SQLiteConnection(path: path)
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute(Self.firstFormat)
        let insert = """
            INSERT INTO entries VALUES (?, ?, ?, 300000, 'audio/mpeg', '"e"', 'Sat', 1, 'Title', 'Artist', 12.5,
            x'010203', 500, 600, ?, 0)
            """
        for (number, name) in ["a", "b"].enumerated() {
            let entry = Int64(number) + 41
            try connection.statement(insert).run(
                .integer(entry),
                .blob(Digest.name(of: "http://radio.example/\(name)")),
                .text("http://radio.example/\(name)"),
                .integer(Int64(number))
            )
            let bytes = pattern(0..<200_000, salt: UInt64(number))
            #expect(
                FileManager.default.createFile(
                    atPath: folder.file("objects/\(entry)"),
                    contents: Data(bytes),
                    attributes: [.posixPermissions: 0o600]
                )
            )
            for range in Extent.pieces(of: 0..<200_000) where range.lowerBound != 65_536 {
                let piece = Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
                try connection.statement("INSERT INTO extents VALUES (?, ?, ?, ?)").run(
                    .integer(entry),
                    .integer(range.lowerBound),
                    .integer(range.upperBound),
                    .blob(Digest.check(of: piece))
                )
            }
            try connection.statement("UPDATE entries SET allocated = 200704 WHERE id = ?").run(
                .integer(entry)
            )
        }
    }

    @Test func `entries, extents, descriptions, pins and sums come along`() async throws {
        let opener = CacheFolder(path: folder.cache, clock: TestClock())
        let stored = ByteRangeSet([0..<65_536, 131_072..<200_000] as [ByteRange])
        // A question alone migrates, too.
        let entry = try #require(try await opener.info(for: url("b")))
        #expect(entry.stored == stored)
        #expect(entry.isPinned)
        #expect((entry.keptSince, entry.lastPlayed, entry.length) == (500, 600, 300_000))
        #expect((entry.title?.string, entry.artist?.string) == ("Title", "Artist"))
        #expect(entry.duration == .seconds(12.5))
        #expect(entry.validators == Validators(etag: "\"e\"", lastModified: "Sat"))
        #expect(try await opener.totalBytes == 401_408)
        #expect(try await opener.list().count == 2)
        #expect(
            try await opener.availability(of: [url("a")])
                == [
                    Availability(
                        storedBytes: stored.byteCount,
                        length: 300_000,
                        playsTo: .seconds(12.5 * 65_536 / 300_000)
                    )
                ]
        )
        let store = try await opener.open(url("a"))
        #expect(store.stored == stored)
        #expect(store.description.seekTable == [1, 2, 3])
        #expect(try await store.all(of: 131_072..<200_000) == pattern(131_072..<200_000))
        try await store.write(pattern(65_536..<131_072), at: 65_536)
        await store.close()
        #expect(try await opener.verify().isSound)
        #expect(try await opener.info(for: url("a"))?.stored == ByteRangeSet(0..<200_000))
    }

    @Test func `a migration that cannot be finished changes nothing`() async throws {
        let path = folder.file("index.sqlite")
        do {
            // In the way of a table that the migration makes.
            let connection = try SQLiteConnection(path: path)
            try connection.execute("CREATE TABLE aliases (other TEXT)")
        }
        #expect(throws: (any Error).self) { try CacheIndex(path: path, protection: .checked) }
        let connection = try SQLiteConnection(path: path)
        #expect(try CacheIndex.version(of: connection) == 1)
        #expect(try connection.statement("SELECT title FROM entries").first { $0.optionalText(0) } == "Title")
        try connection.execute("DROP TABLE aliases")
        #expect(try CacheIndex(path: path, protection: .checked).entries().count == 2)
    }

    @Test func `a secret does not seal what is there already`() async throws {
        let opener = CacheFolder(path: folder.cache, secret: .generate(), clock: TestClock())
        let error = await #expect(throws: MediaError.self) { try await opener.checkSecret() }
        #expect(error?.code == .cacheSecret)
        let plain = CacheFolder(path: folder.cache, clock: TestClock())
        #expect(try await plain.list().map(\.title?.string) == ["Title", "Title"])
    }
}

/// A sealed index of the second format, whose records were sealed alike for both columns.
@Suite struct SecondFormatTests {
    private let folder: TemporaryFolder
    private let secret = CacheSecret.generate()

    init() throws { folder = try TemporaryFolder() }

    private func makeOpener(_ secret: CacheSecret?) -> CacheFolder {
        CacheFolder(path: folder.cache, secret: secret, clock: TestClock())
    }

    private func prepare(_ secret: CacheSecret?) async throws {
        do {
            let store = try await makeOpener(secret).open(url("a"))
            store.describe(.example)
            try await store.write(pattern(0..<1_000), at: 0)
            await store.close()
        }
        let protection = Protection(secret)
        let index = try CacheIndex(path: folder.file("index.sqlite"), protection: protection)
        let row = try #require(try index.entries().first?.row)
        let record = EntryRecord(url: row.url, description: row.description)
        let sql = "UPDATE entries SET about = ?, seek_points = ?"
        try index.connection.statement(sql).run(
            .blob(protection.keep(record.bytes, in: .anyOfSecondFormat, of: row.entry)),
            .blob(protection.keep([1, 2, 3], in: .anyOfSecondFormat, of: row.entry))
        )
        try index.connection.execute("DROP INDEX entries_pinned")
        try index.connection.makeThirdFormat()
        try index.connection.execute("PRAGMA user_version = 2")
    }

    @Test(arguments: [true, false])
    func `what is known of the music comes along, sealed for its own column`(isSealed: Bool) async throws {
        let secret = isSealed ? secret : nil
        try await prepare(secret)
        let store = try await makeOpener(secret).open(url("a"))
        #expect(store.description.title == EntryDescription.example.title)
        #expect(store.description.seekTable == [1, 2, 3])
        #expect(try await store.all(of: 0..<1_000) == pattern(0..<1_000))
        await store.close()
        guard isSealed else { return }
        // One column's record in the other's place tells nothing.
        let connection = try SQLiteConnection(path: folder.file("index.sqlite"))
        #expect(try CacheIndex.version(of: connection) == CacheIndex.version)
        try connection.execute("UPDATE entries SET seek_points = about")
        let next = try await makeOpener(secret).open(url("a"))
        #expect(next.description.title == EntryDescription.example.title)
        #expect(next.description.seekTable == [])
        await next.close()
    }

    @Test func `with another secret, or none, nothing is migrated and nothing is lost`() async throws {
        try await prepare(secret)
        for wrong in [nil, CacheSecret.generate()] {
            let error = await #expect(throws: MediaError.self) {
                try await makeOpener(wrong).checkSecret()
            }
            #expect(error?.code == .cacheSecret)
            let connection = try SQLiteConnection(path: folder.file("index.sqlite"))
            #expect(try CacheIndex.version(of: connection) == 2)
        }
        let entry = try #require(try await makeOpener(secret).info(for: url("a")))
        #expect(entry.title?.string == EntryDescription.example.title)
    }
}

/// An index of the third format, which kept no order of what was played within one second.
@Suite struct ThirdFormatTests {
    @Test(arguments: [true, false])
    func `what is kept comes along, and turns are counted from then on`(isSealed: Bool) async throws {
        let folder = try TemporaryFolder()
        let secret = isSealed ? CacheSecret.generate() : nil
        let opener = CacheFolder(path: folder.cache, secret: secret, clock: TestClock(), wallClock: { 1_000 })
        for name in ["a", "b", "c"] {
            let store = try await opener.open(url(name))
            store.describe(.example)
            try await store.write(pattern(0..<1_000), at: 0)
            await store.close()
        }
        let index = try CacheIndex(path: folder.file("index.sqlite"), protection: Protection(secret))
        try index.connection.makeThirdFormat()
        let next = CacheFolder(path: folder.cache, secret: secret, clock: TestClock(), wallClock: { 1_000 })
        for name in ["c", "a", "b"] {
            let store = try await next.open(url(name))
            #expect(try await store.all(of: 0..<1_000) == pattern(0..<1_000))
            await store.close()
        }
        let urls = try await next.list().map { String($0.url.string.suffix(1)) }
        #expect(urls == ["b", "a", "c"])
        #expect(try await next.verify().isSound)
    }

    @Test func `with another secret, or none, nothing is migrated`() async throws {
        let folder = try TemporaryFolder()
        let secret = CacheSecret.generate()
        let opener = CacheFolder(path: folder.cache, secret: secret, clock: TestClock())
        try await opener.open(url("a")).close()
        let connection = try SQLiteConnection(path: folder.file("index.sqlite"))
        try connection.makeThirdFormat()
        for wrong in [nil, CacheSecret.generate()] {
            let other = CacheFolder(path: folder.cache, secret: wrong, clock: TestClock())
            let error = await #expect(throws: MediaError.self) { try await other.checkSecret() }
            #expect(error?.code == .cacheSecret)
            #expect(try CacheIndex.version(of: connection) == 3)
        }
    }
}

extension SQLiteConnection {
    /// Makes the tables what they were in format 3.
    fileprivate func makeThirdFormat() throws {
        try execute(
            """
            DROP INDEX entries_by_play;
            ALTER TABLE entries DROP COLUMN turn;
            CREATE INDEX entries_by_play ON entries (last_played, id, allocated) WHERE pinned = 0;
            PRAGMA user_version = 3;
            """
        )
    }
}
