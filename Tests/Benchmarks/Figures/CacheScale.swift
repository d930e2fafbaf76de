import CSQLite
import Cache
import Foundation
import Media
import System

/// The cache's index with 100,000 entries and 1,000,000 extents.
///
/// In a memory file system if there is one, to measure the index and not the
/// disk; the flushes of a commit are measured separately, on the disk of the working folder.
enum CacheScale {
    private static let entryCount = 100_000
    private static let extentsOfEach = 10
    private static let runs = 21

    static func measure(into table: inout FigureTable) async throws {
        table.begin("Cache of 100,000 entries")
        let shared = "/dev/shm"
        let memory = access(shared, W_OK) == 0 ? shared : NSTemporaryDirectory()
        let folder = memory + "/reprise-bench-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await prepare(folder)
        let size = try FileManager.default.attributesOfItem(atPath: folder + "/index.sqlite")[.size]
        table.add("size of the index", .megabytes, Double(size as? Int ?? 0) / 1e6)
        try await measureOpening(folder, &table)
        try await measureLookUp(folder, &table)
        try await measureRecording(folder, "in memory", &table)
        try await measureChoice(folder, &table)
        let disk = FileManager.default.currentDirectoryPath + "/.build/bench-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: disk) }
        try FileManager.default.copyItem(atPath: folder, toPath: disk)
        try await measureRecording(disk, "on the disk", &table)
    }

    private static func url(_ name: String) throws -> WebURL {
        guard let url = WebURL("http://bench.example/\(name).mp3") else { throw BenchmarkFailure("no URL") }
        return url
    }

    /// Opens the folder and one entry, as every start does before the first sound.
    private static func measureOpening(_ path: String, _ table: inout FigureTable) async throws {
        var durations: [Duration] = []
        for _ in 0..<runs {
            let folder = CacheFolder(path: path, budget: .max)
            var store: (any ByteStore)?
            durations.append(try await time { store = try await folder.open(url("known")) })
            await store?.close()
            // Waits for the clean-up after opening, so that the next measurement does not include it.
            _ = try await folder.totalBytes
        }
        table.add("open the folder and an entry", durations, atMost: 20)
    }

    private static func measureLookUp(_ path: String, _ table: inout FigureTable) async throws {
        let folder = CacheFolder(path: path, budget: .max)
        let url = try url("known")
        _ = try await folder.info(for: url)
        var durations: [Duration] = []
        for _ in 0..<1_000 { durations.append(try await time { _ = try await folder.info(for: url) }) }
        table.add("look an entry up", durations, atMost: 1)
    }

    private static func measureRecording(
        _ path: String,
        _ place: String,
        _ table: inout FigureTable
    ) async throws {
        let files = TimingFiles()
        let folder = CacheFolder(path: path, budget: .max, files: files)
        let store = try await folder.open(url("new-\(UInt32.random(in: 0 ... .max))"))
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        var whole: [Duration] = []
        for index in 0..<runs {
            try await store.write(bytes, at: Int64(index) << 20)
            whole.append(try await time { try await store.commit() })
        }
        await store.close()
        table.add("record 1 MiB in the index, \(place)", files.records, atMost: 2)
        table.add("flush 1 MiB of music, \(place)", files.flushes)
        table.add("commit 1 MiB, all of it, \(place)", whole)
    }

    /// Chooses the 170 oldest entries; then compares commits that evict as many with commits that
    /// evict none.
    private static func measureChoice(_ path: String, _ table: inout FigureTable) async throws {
        let asking = CacheFolder(path: path, budget: .max)
        let total = try await asking.totalBytes
        var choices: [Duration] = []
        for _ in 0..<runs {
            choices.append(
                try await time {
                    let chosen = try await asking.victims(toBudget: total - 170 * 4_096)
                    guard chosen.count == 170 else { throw BenchmarkFailure("another choice") }
                }
            )
        }
        table.add("choose 170 victims", choices, atMost: 10)
        let bytes = [UInt8](repeating: 9, count: 704 * 1024)
        for (name, budget) in [
            ("with room", Int64.max), ("that 170 entries are removed for", total),
        ] {
            let folder = CacheFolder(path: path, budget: budget)
            let store = try await folder.open(url("room-\(UInt32.random(in: 0 ... .max))"))
            // Earlier writes are committed first, so that the figure does not include them.
            try await store.write([0], at: 0)
            try await store.commit()
            var durations: [Duration] = []
            for index in 1...runs {
                try await store.write(bytes, at: Int64(index) << 20)
                durations.append(try await time { try await store.commit() })
            }
            await store.close()
            let left = try await folder.list().count
            if budget == total, left >= entryCount { throw BenchmarkFailure("no entry had to go") }
            table.add("commit 704 KiB \(name)", durations)
        }
    }

    /// Lets the cache create the folder, then fills its tables in one transaction.
    private static func prepare(_ path: String) async throws {
        do {
            let folder = CacheFolder(path: path)
            let store = try await folder.open(url("known"))
            var description = EntryDescription()
            description.length = 4_000_000
            description.tags = TrackTags(title: "A title", artist: "An artist")
            description.validators = Validators(etag: "\"an-entity-tag\"", lastModified: nil)
            description.facts[.seekTable] = [UInt8](repeating: 1, count: 1_500)
            store.describe(description)
            try await store.write([UInt8](repeating: 1, count: 640_000), at: 0)
            await store.close()
            _ = try await folder.totalBytes
        }
        let statements = """
            PRAGMA synchronous = OFF;
            BEGIN;
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(entryCount))
            INSERT INTO entries (id, created, last_played, allocated, stored, prefix, url, about)
            SELECT n, n, n, 4096, 640000, 640000, 'http://bench.example/' || n || '.mp3',
                (SELECT about FROM entries LIMIT 1) FROM number;
            INSERT INTO facts (entry, kind, version, value)
            SELECT id, (SELECT kind FROM facts), 1, zeroblob(1500) FROM entries WHERE id <= \(entryCount);
            INSERT INTO names (key, entry, place, display_url)
            SELECT randomblob(32), id, 1, zeroblob(50) FROM entries WHERE id <= \(entryCount);
            WITH RECURSIVE number (n) AS
                (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < \(extentsOfEach) - 1)
            INSERT INTO extents (entry, start, stop, digest)
            SELECT id, n * 65536, (n + 1) * 65536, randomblob(16) FROM entries, number WHERE id <= \(entryCount);
            UPDATE folder SET allocated = (SELECT sum(allocated) FROM entries);
            COMMIT;
            PRAGMA wal_checkpoint(TRUNCATE);
            """
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        // The folder's own connection may still be at its clean-up.
        guard sqlite3_open(path + "/index.sqlite", &database) == SQLITE_OK,
            sqlite3_busy_timeout(database, 5_000) == SQLITE_OK,
            sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK
        else { throw BenchmarkFailure(String(cString: sqlite3_errmsg(database))) }
        // One block each, so that the files take as much space as the index states.
        let block = [UInt8](repeating: 1, count: 4_096)
        for entry in 1...entryCount {
            let descriptor = open("\(path)/objects/\(entry)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0, pwrite(descriptor, block, block.count, 0) == block.count else {
                throw BenchmarkFailure("cannot make object \(entry)")
            }
            close(descriptor)
        }
    }
}

/// The real file layer, which measures flushes and transactions of the index.
private final class TimingFiles: FileLayer {
    private let system = SystemFiles()
    private let times = Locked<(flushes: [Duration], records: [Duration])>(([], []))

    var flushes: [Duration] { times.withLock { $0.flushes } }
    var records: [Duration] { times.withLock { $0.records } }

    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        try system.write(bytes, to: descriptor, at: offset)
    }

    func flush(_ descriptor: CInt) throws {
        let begun = ContinuousClock.now
        try system.flush(descriptor)
        let duration = ContinuousClock.now - begun
        times.withLock { $0.flushes.append(duration) }
    }

    func record(_ transaction: () throws -> Void) throws {
        let begun = ContinuousClock.now
        try system.record(transaction)
        let duration = ContinuousClock.now - begun
        times.withLock { $0.records.append(duration) }
    }
}

/// The time that `body` takes.
private func time(_ body: () async throws -> Void) async rethrows -> Duration {
    let begun = ContinuousClock.now
    try await body()
    return ContinuousClock.now - begun
}
