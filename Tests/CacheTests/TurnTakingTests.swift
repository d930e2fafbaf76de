import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// Long work in a folder lets other processes lock it in between.
@Suite struct TurnTakingTests {
    private let scene = CacheScene()

    /// Creates `count` entries of one block each, played in the order of their numbers.
    private func fill(_ count: Int) async throws {
        try await scene.opener().cache("first", 10, isLengthKnown: false)
        let connection = try SQLiteConnection(path: scene.index)
        try connection.transaction {
            let sql = """
                INSERT INTO entries (id, created, last_played, allocated, url, about)
                VALUES (?, 1, ?, 4096, '', x'')
                """
            for entry in 1...Int64(count) {
                try connection.statement(sql).run(entry, entry)
                try scene.put(Data(count: 4_096), at: scene.file("objects/\(entry)"))
            }
            try connection.execute("UPDATE folder SET allocated = (SELECT sum(allocated) FROM entries)")
        }
    }

    /// The entries that another process finds, each time it gets the folder while `work` runs.
    private func leftovers(during work: () async throws -> Void) async throws -> [Int64] {
        let root = open(scene.cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(root) }
        let lock = try FolderLock(in: root)
        let path = scene.index
        let isWatching = Locked(false)
        let isOver = Locked(false)
        let seen = Task.detached {
            let connection = try SQLiteConnection(path: path)
            var seen: [Int64] = []
            while !isOver.withLock({ $0 }) {
                try lock.withLock {
                    let count = try connection.statement("SELECT count(*) FROM entries").first {
                        $0.integer(0)
                    }
                    if count != seen.last { seen.append(count ?? -1) }
                }
                isWatching.withLock { $0 = true }
            }
            return seen
        }
        // Otherwise most of the work could be done before the other process begins.
        try await wait(for: "the other process") { isWatching.withLock { $0 } }
        try await work()
        isOver.withLock { $0 = true }
        return try await seen.value
    }

    enum LongWork: CaseIterable {
        case clearing
        case shrinking
        case tidying
        case committing
    }

    /// 1,280 entries are 20 pages.
    @Test(arguments: LongWork.allCases)
    func `while many entries are removed, another process gets the folder's lock in between`(work: LongWork)
        async throws
    {
        try await fill(1_280)
        let seen = try await leftovers {
            switch work {
            case .clearing: _ = try await scene.opener().clear(includingPinned: true)
            case .shrinking: _ = try await scene.opener().evict(toBudget: 0)
            case .tidying:
                let opener = scene.opener(budget: 0)
                let store = try await opener.open(url("first"))
                try await wait(for: "the others to go") { try await opener.list().count == 1 }
                await store.close()
            case .committing:
                // Its block, one more, and two for the map of the file.
                let store = try await scene.opener(budget: 16_384).open(url("first"))
                store.describe(length: 20)
                try await store.write(pattern(0..<10), at: 10)
                try await store.commit()
                await store.close()
            }
        }
        // The other process may miss a page, if it comes late.
        #expect(seen.count > 5, "\(seen)")
    }

    @Test func `the forecast of an eviction over many pages is what it removes`() async throws {
        try await fill(1_280)
        let opener = scene.opener()
        let budget = try await opener.totalBytes - 170 * 4_096
        let chosen = try await opener.victims(toBudget: budget)
        #expect(chosen.count == 170)
        let all = try await opener.list()
        #expect(all.count == 1_281)
        let removal = try await opener.evict(toBudget: budget)
        #expect(removal.entriesRemoved == 170)
        #expect(removal.bytesFreed == chosen.reduce(0) { $0 + $1.allocatedBytes })
        #expect(try await opener.list() == all.filter { !chosen.contains($0) })
        #expect(try await opener.victims(toBudget: budget).isEmpty)
    }
}
