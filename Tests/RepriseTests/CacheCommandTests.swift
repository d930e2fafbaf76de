@testable import Cache
import Media
import TerminalUI
import TestSupport
import Testing

@testable import Reprise

@Suite
struct CacheCommandTests {
    private static let entries = [
        CachedEntry(
            url: "http://h/a.mp3",
            otherURLs: ["http://mirror/a.mp3", "http://other/a"],
            title: "Étude",
            duration: .seconds(125),
            length: 4_000_000,
            stored: ByteRangeSet([0..<65_536, 131_072..<4_000_000]),
            allocatedBytes: 4_001_792,
            contentType: "audio/mpeg",
            etag: "\"a\"",
            lastModified: "Sat, 21 Nov 2026 03:00:00 GMT",
            acceptsRanges: true,
            isPinned: true,
            created: 3,
            lastPlayed: 5
        ),
        CachedEntry(url: "http://h/b", stored: ByteRangeSet(0..<12), lastPlayed: 6),
    ]

    private func run(
        _ action: CacheRequest.Action,
        cache: FixedCache = FixedCache(entries: entries),
        isJSON: Bool = false,
        answer: String? = nil
    ) async throws -> CommandRun {
        try await CommandRun(action, cache: cache, isJSON: isJSON, answer: answer)
    }

    @Test func `the list in JSON has one object for each entry`() async throws {
        #expect(
            try await run(.list(EntrySelection(order: .source)), isJSON: true).output == [
                #"{"source":"http://h/a.mp3","title":"Étude","artist":null,"duration":125,"type":"audio/mpeg","#
                    + #""size":4000000,"stored":3934464,"lastPlayed":5,"created":3,"allocated":4001792,"#
                    + #""complete":false,"pinned":true}"#,
                #"{"source":"http://h/b","title":null,"artist":null,"duration":null,"type":null,"size":null,"#
                    + #""stored":12,"lastPlayed":6,"created":null,"allocated":0,"complete":false,"pinned":false}"#,
            ]
        )
    }

    @Test func `an empty list is a sentence, and no line in JSON`() async throws {
        let list = CacheRequest.Action.list(EntrySelection())
        #expect(try await run(list, cache: FixedCache()).output == ["The cache is empty"])
        #expect(try await run(list, cache: FixedCache(), isJSON: true).output.isEmpty)
        let words = EntrySelection(words: ["no such"])
        #expect(try await run(.list(words)).output == ["No cached track matches"])
    }

    @Test func `info prints the facts of one entry`() async throws {
        #expect(
            try await run(.info(source: "http://h/a.mp3")).output == [
                "source         http://h/a.mp3",
                "also as        http://mirror/a.mp3",
                "also as        http://other/a",
                "title          Étude",
                "duration       2:05",
                "type           audio/mpeg",
                "size           4.0 MB (4000000 bytes)",
                "cached         3.9 MB (3934464 bytes)",
                "share          98 %",
                "ranges         0-65536 131072-4000000",
                "missing        65536-131072",
                "on disk        4.0 MB (4001792 bytes)",
                "seekable       yes",
                "etag           \"a\"",
                "last modified  Sat, 21 Nov 2026 03:00:00 GMT",
                "pinned         yes",
                "first cached   day 3",
                "last played    day 5",
            ]
        )
        let json = try await run(.info(source: "http://h/a.mp3"), isJSON: true).output
        #expect(
            json.first?.hasSuffix(
                #","ranges":[[0,65536],[131072,4000000]],"etag":"\"a\"","#
                    + #""lastModified":"Sat, 21 Nov 2026 03:00:00 GMT","seekable":true,"#
                    + #""alsoAs":["http://mirror/a.mp3","http://other/a"]}"#
            ) == true
        )
    }

    @Test(arguments: ["http://u:secret@h/", "secret", "http:/u:secret@h/x"])
    func `info of a source that is not cached fails without repeating the source`(source: String) async throws
    {
        let result = try await run(.info(source: source))
        #expect([.nothingPlayed, .couldNotStart].contains(result.code))
        #expect(result.output.isEmpty)
        #expect(result.said.count == 1)
        #expect(result.said.allSatisfy { !$0.contains("secret") })
    }

    @Test(
        arguments: [
            (isConfirmed: true, answer: nil, code: .success, isCleared: true),
            (isConfirmed: false, answer: "y", code: .success, isCleared: true),
            (isConfirmed: false, answer: "YES", code: .success, isCleared: true),
            (isConfirmed: false, answer: "", code: .success, isCleared: false),
            (isConfirmed: false, answer: "no", code: .success, isCleared: false),
            (isConfirmed: false, answer: nil, code: .usage, isCleared: false),
        ] as [(isConfirmed: Bool, answer: String?, code: Reprise.ExitCode, isCleared: Bool)]
    )
    func `clear needs a confirmation`(
        isConfirmed: Bool,
        answer: String?,
        code: Reprise.ExitCode,
        isCleared: Bool
    ) async throws {
        let removal = CacheRemoval(entriesRemoved: 2, bytesFreed: 3_000_000, entriesInUse: 1)
        let cache = FixedCache(report: removal)
        let action = CacheRequest.Action.clear(isConfirmed: isConfirmed, includesPinned: false)
        let result = try await run(action, cache: cache, answer: answer)
        #expect(result.code == code)
        #expect(result.output == (isCleared ? ["freed 3.0 MB (2 tracks); 1 in use left"] : []))
        #expect(result.said.isEmpty == isCleared)
        #expect(cache.calls == (isCleared ? ["clear pinned=false"] : []))
    }

    @Test(
        arguments: [
            (CacheRemoval(entriesRemoved: 2, bytesFreed: 3_000_000), .success, "freed 3.0 MB (2 tracks)"),
            (
                CacheRemoval(entriesRemoved: 1, bytesFreed: 12, entriesPinned: 2, entriesMissing: 1),
                .someFailed,
                "freed 12 B (1 track); 2 pinned left; 1 not cached"
            ),
            (CacheRemoval(entriesInUse: 1), .nothingPlayed, "freed 0 B (0 tracks); 1 in use left"),
        ] as [(report: CacheRemoval, code: Reprise.ExitCode, line: String)]
    )
    func `evict prints what was removed and what stayed`(
        report: CacheRemoval,
        code: Reprise.ExitCode,
        line: String
    ) async throws {
        let cache = FixedCache(report: report)
        let result = try await run(.evict(sources: ["http://h/a"], includesPinned: true), cache: cache)
        #expect(result.code == code)
        #expect(result.output == [line])
        #expect(cache.calls == ["drop http://h/a pinned=true"])
    }

    @Test func `evicting to a size that pins prevent prints the size that is left`() async throws {
        let pinned = CachedEntry(url: "http://h/a", allocatedBytes: 5_000_000, lastPlayed: 1)
        let cache = FixedCache(entries: [pinned], report: CacheRemoval(entriesRemoved: 1, bytesFreed: 9))
        let result = try await run(.shrink(to: 1_000_000, includesPinned: false), cache: cache)
        #expect(result.code == .someFailed)
        #expect(result.said == ["cache evict: 5.0 MB are left; the rest is pinned or in use"])
        #expect(try await run(.shrink(to: 5_000_000, includesPinned: false), cache: cache).code == .success)
    }

    @Test func `a dry run prints what would be freed, and frees nothing`() async throws {
        let cache = FixedCache(report: CacheRemoval(entriesRemoved: 3, bytesFreed: 5_000_000))
        let result = try await run(.forecast(to: 1_000_000), cache: cache)
        #expect(result.output == ["would free 5.0 MB (3 tracks)"])
        #expect(cache.calls == ["forecast 1000000"])
    }

    @Test func `verify prints damage, and its exit code reports it`() async throws {
        let good = FixedCache(check: VerifyReport(entries: 2, bytes: 5_000_000))
        let sound = try await run(.verify, cache: good)
        #expect(sound.code == .success)
        #expect(sound.output == ["checked 2 tracks, 5.0 MB: all OK"])
        #expect(sound.notes.first == "checked 10 % of 100 B")
        #expect(sound.notes.last == "checked 100 % of 100 B")
        #expect(sound.notes.count == 10)

        let bad = FixedCache(
            check: VerifyReport(
                entries: 2,
                bytes: 5_000_000,
                damaged: [VerifyReport.Damage(url: "http://h/a", ranges: ByteRangeSet(131_072..<196_608))],
                orphansRemoved: 1
            )
        )
        let damaged = try await run(.verify, cache: bad)
        #expect(damaged.code == .someFailed)
        #expect(
            damaged.output == [
                "damaged: http://h/a", "removed 1 file that belonged to no track",
                "checked 2 tracks, 5.0 MB: 65 kB in 1 track were damaged; they are downloaded again "
                    + "when played",
            ]
        )
        let json = try await run(.verify, cache: bad, isJSON: true)
        #expect(
            json.output == [
                #"{"source":"http://h/a","damaged":[[131072,196608]]}"#,
                #"{"entries":2,"bytes":5000000,"damagedEntries":1,"damagedBytes":65536,"undroppedBytes":0,"#
                    + #""strayFiles":1,"reclaimedBytes":0,"indexLost":false}"#,
            ]
        )
        #expect(json.notes.isEmpty)
    }

    @Test func `a cache that cannot be read is an error`() async throws {
        let error = MediaError(.unreadable, "/c", "permission denied")
        let result = try await run(.list(EntrySelection()), cache: FixedCache(error: error))
        #expect(result.code == .couldNotStart)
        #expect(result.said == ["/c: permission denied"])
    }
}
