@testable import Cache
@testable import Media
import TerminalUI
import TestSupport
import Testing

@testable import Reprise

@Suite
struct CacheCommandTests {
    private static let entries = [
        CachedItem(
            url: "http://h/a.mp3",
            otherURLs: ["http://mirror/a.mp3", "http://other/a"],
            tags: TrackTags(title: "Étude"),
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
        CachedItem(url: "http://h/b", stored: ByteRangeSet(0..<12), lastPlayed: 6),
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

    /// Two tracks, and one whose query is not stored.
    private static let named = FixedCache(
        entries: [
            CachedItem(
                id: CachedItem.ID(1),
                url: "http://h/a%20b.mp3",
                tags: TrackTags(title: "River", artist: "Edda"),
                stored: ByteRangeSet(0..<5),
                lastPlayed: 0
            ),
            CachedItem(
                id: CachedItem.ID(2),
                url: "http://h/c.mp3",
                tags: TrackTags(title: "Carrier"),
                stored: ByteRangeSet(0..<5),
                lastPlayed: 0
            ),
            CachedItem(
                id: CachedItem.ID(3),
                url: "http://h/signed?…",
                length: 5,
                stored: ByteRangeSet(0..<5),
                lastPlayed: 0
            ),
        ]
    )

    private static func naming(_ word: String) -> [(name: String, action: CacheRequest.Action)] {
        [
            ("info", .info(source: word)), ("evict", .evict(sources: [word], includesPinned: false)),
            ("pin", .pin(sources: [word], isFetched: false)), ("unpin", .unpin(sources: [word])),
            ("fetch", .fetch(sources: [word])), ("export", .export(.init(source: word, path: nil))),
        ]
    }

    @Test func `a word that one cached track has names it`() async throws {
        let cache = FixedCache(entries: Self.named.entries, report: CacheRemoval(entriesRemoved: 1))
        let found = try await run(.info(source: "river"), cache: cache)
        #expect(found.code == .success && found.output.contains { $0.hasSuffix("http://h/a%20b.mp3") })
        #expect(
            try await run(.evict(sources: ["RIVER"], includesPinned: false), cache: cache).code == .success
        )
        let pinned = try await run(.pin(sources: ["carr"], isFetched: false), cache: cache)
        #expect(pinned.output == ["pinned  Carrier"])
        let unpinned = try await run(.unpin(sources: ["c.mp3"]), cache: cache)
        #expect(unpinned.code == .success && unpinned.output == ["unpinned  Carrier"])
        let calls = ["drop http://h/a%20b.mp3 pinned=false", "pin http://h/c.mp3", "unpin http://h/c.mp3"]
        #expect(cache.calls == calls)
    }

    @Test func `a word that several cached tracks have changes nothing, and lists them`() async throws {
        for (name, action) in Self.naming("mp3") {
            let many = try await run(action, cache: Self.named)
            #expect(many.code == .nothingPlayed && many.output.isEmpty && Self.named.calls.isEmpty)
            #expect(many.said == ["cache \(name): 2 cached tracks match; name one by its URL:"])
            #expect(many.notes == ["  http://h/a%20b.mp3  River – Edda", "  http://h/c.mp3  Carrier"])
        }
    }

    @Test func `a track whose URL had a query is evicted, pinned, unpinned and exported by a word`()
        async throws
    {
        for (name, action) in Self.naming("signed") where name != "fetch" {
            let cache = FixedCache(entries: Self.named.entries, report: CacheRemoval(entriesRemoved: 1))
            let result = try await run(action, cache: cache)
            // The cache of this test has no bytes to export.
            #expect(result.said == (name == "export" ? ["http://h/signed?…: no longer cached"] : []))
            #expect(result.code == (name == "export" ? .nothingPlayed : .success))
            let calls = ["evict": "drop http://h/signed?… pinned=false", "pin": "pin http://h/signed?…"]
            #expect(
                cache.calls == (calls[name] ?? (name == "unpin" ? "unpin http://h/signed?…" : nil)).map {
                    [$0]
                } ?? []
            )
            if name == "pin" { #expect(result.output == ["pinned  signed"]) }
        }
    }

    @Test func `a download needs the query of a URL, which is not stored`() async throws {
        for action in [
            CacheRequest.Action.fetch(sources: ["signed"]), .pin(sources: ["signed"], isFetched: true),
        ] {
            let result = try await run(action, cache: Self.named)
            let name = if case .fetch = action { "fetch" } else { "pin" }
            #expect(result.code == .nothingPlayed && Self.named.calls.isEmpty)
            let refusal = "cache \(name): give all of its URL; its query, a possible secret, is not stored"
            #expect(result.said == [refusal])
        }
    }

    @Test func `a word that names a list stands for its tracks`() async throws {
        let list = CachedItem(id: CachedItem.ID(4), url: "http://h/all.m3u", lastPlayed: 0)
        let cache = FixedCache(entries: Self.named.entries + [list])
        let supply = MusicSupply(music: ["http://h/all.m3u": ["http://h/a%20b.mp3", "http://h/c.mp3"]])
        let result = try await CommandRun(.unpin(sources: ["all.m3u"]), cache: cache, supply: supply)
        #expect(result.output == ["unpinned  River – Edda", "unpinned  Carrier"])
        #expect(cache.calls == ["unpin http://h/a%20b.mp3", "unpin http://h/c.mp3"])
    }

    @Test func `a folder whose index cannot be read is cleared with its pins only`() async throws {
        let error = MediaError(.notCached, "cache folder /c", "another version made it")
        let cache = FixedCache(error: error, report: CacheRemoval(entriesRemoved: 2, bytesFreed: 9))
        let all = try await run(.clear(isConfirmed: false, includesPinned: true), cache: cache, answer: "y")
        #expect(all.asked == ["Delete all music, pinned too, in /c? [y/N] "] && all.code == .success)
        #expect(all.output == ["freed 9 B (2 tracks)"] && cache.calls == ["clear pinned=true"])
        let some = try await run(.clear(isConfirmed: false, includesPinned: false), cache: cache, answer: "y")
        #expect(some.asked.isEmpty && some.said == ["cache folder /c: another version made it"])
    }

    @Test func `a file or folder is no word`() async throws {
        let cache = FixedCache(entries: Self.named.entries)
        let result = try await run(.evict(sources: ["/"], includesPinned: false), cache: cache)
        #expect(result.said.isEmpty && cache.calls == ["drop  pinned=false"])
    }

    @Test(arguments: [(false, "5 kB, 1 track"), (true, "12 kB, 2 tracks")])
    func `clear asks with the amount that would be deleted`(includesPinned: Bool, amount: String) async throws
    {
        var entries = ([5_000, 7_000] as [Int64]).map {
            CachedItem(url: "u", allocatedBytes: $0, lastPlayed: 0)
        }
        entries[1].isPinned = true
        let action = CacheRequest.Action.clear(isConfirmed: false, includesPinned: includesPinned)
        let result = try await run(action, cache: FixedCache(entries: entries), answer: "n")
        #expect(result.asked.count == 1 && result.asked[0].hasSuffix(" in /c (\(amount))? [y/N] "))
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
        let entries = [CachedItem(id: CachedItem.ID(1), url: "http://h/a", lastPlayed: 0)]
        var sources = ["http://h/a"]
        if report.entriesMissing > 0 { sources.append("http://h/b") }
        let cache = FixedCache(entries: entries, report: report)
        let result = try await run(.evict(sources: sources, includesPinned: true), cache: cache)
        #expect(result.code == code)
        #expect(result.output == [line])
        #expect(cache.calls == ["drop http://h/a pinned=true"])
    }

    @Test func `lists are counted apart from tracks`() async throws {
        let song = CachedItem(id: CachedItem.ID(1), url: "http://h/a.mp3", allocatedBytes: 1, lastPlayed: 1)
        let folder = CachedItem(
            id: CachedItem.ID(2),
            url: "http://h/",
            allocatedBytes: 2_999_999,
            contentType: "text/html",
            lastPlayed: 1
        )
        let cache = FixedCache(
            entries: [song, folder],
            left: [],
            report: CacheRemoval(entriesRemoved: 2, bytesFreed: 3_000_000)
        )
        let asked = try await CommandRun(
            .clear(isConfirmed: false, includesPinned: false),
            cache: cache,
            answer: "y"
        )
        #expect(asked.asked == ["Delete all unpinned music in /c (3.0 MB, 1 track, 1 list)? [y/N] "])
        #expect(asked.output == ["freed 3.0 MB (1 track, 1 list)"])
        let forecast = FixedCache(entries: [song, folder], report: cache.report)
        let output = try await run(.forecast(to: 1), cache: forecast).output
        #expect(output.last == "would free 3.0 MB (1 track, 1 list)")
    }

    @Test func `evict first closes the music that was opened to see what it is`() async throws {
        let entry = CachedItem(url: "http://h/a", lastPlayed: 0)
        let cache = FixedCache(entries: [entry], report: CacheRemoval(entriesRemoved: 1))
        let supply = MusicSupply(music: [:], closeOpened: { cache.told.append("close") })
        let evict = CacheRequest.Action.evict(sources: ["http://h/a"], includesPinned: false)
        #expect(try await CommandRun(evict, cache: cache, supply: supply).code == .success)
        #expect(cache.calls == ["close", "drop http://h/a pinned=false"])
    }

    @Test func `files of a folder that were left out are named, and are no failure`() async throws {
        let notice = MediaError(.leftOut, "http://h/", "Left out 1 file")
        let entry = CachedItem(url: "http://h/a.mp3", lastPlayed: 0)
        let cache = FixedCache(entries: [entry], report: CacheRemoval(entriesRemoved: 1))
        let supply = MusicSupply(music: ["http://h/": ["http://h/a.mp3"]], problems: [notice])
        for action in [
            CacheRequest.Action.evict(sources: ["http://h/"], includesPinned: false),
            .pin(sources: ["http://h/"], isFetched: false),
        ] {
            let run = try await CommandRun(action, cache: cache, supply: supply)
            #expect(run.code == .success && run.said == ["http://h/: Left out 1 file"])
        }
    }

    @Test func `evicting to a size that pins prevent prints the size that is left`() async throws {
        let pinned = CachedItem(url: "http://h/a", allocatedBytes: 5_000_000, lastPlayed: 1)
        let cache = FixedCache(entries: [pinned], report: CacheRemoval(entriesRemoved: 1, bytesFreed: 9))
        let result = try await run(.shrink(to: 1_000_000, includesPinned: false), cache: cache)
        #expect(result.code == .someFailed)
        #expect(result.said == ["cache evict: 5.0 MB are left; the rest is pinned or in use"])
        #expect(try await run(.shrink(to: 5_000_000, includesPinned: false), cache: cache).code == .success)
    }

    @Test func `a dry run names what would be freed, in order, and frees nothing`() async throws {
        let cache = FixedCache(
            entries: [
                CachedItem(url: "http://h/b%20c.mp3", allocatedBytes: 2_000_000, lastPlayed: 2),
                CachedItem(
                    url: "u",
                    tags: TrackTags(title: "River", artist: "Edda"),
                    allocatedBytes: 3_000_000,
                    lastPlayed: 1
                ),
            ]
        )
        let result = try await run(.forecast(to: 1_000_000), cache: cache)
        #expect(
            result.output == ["3.0 MB  River – Edda", "2.0 MB  b c.mp3", "would free 5.0 MB (2 tracks)"]
        )
        #expect(cache.calls == ["forecast 1000000"])
    }

    @Test func `verify prints damage, and its exit code reports it`() async throws {
        let good = FixedCache(check: VerifyReport(entries: 2, bytes: 5_000_000))
        let sound = try await run(.verify, cache: good)
        #expect(sound.code == .success)
        #expect(sound.output == ["checked 2 tracks, 5.0 MB: all OK"])
        #expect(sound.notes.isEmpty, "there is no terminal to draw the progress on")

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
                "checked 2 tracks, 5.0 MB: 66 kB in 1 track were damaged; they are downloaded again "
                    + "when played",
            ]
        )
        let json = try await run(.verify, cache: bad, isJSON: true)
        #expect(
            json.output == [
                #"{"source":"http://h/a","damaged":[[131072,196608]]}"#,
                #"{"entries":2,"bytes":5000000,"damagedEntries":1,"damagedBytes":65536,"damagedAtServer":0,"#
                    + #""undroppedBytes":0,"strayFiles":1,"reclaimedBytes":0,"indexLost":false}"#,
            ]
        )
        #expect(json.notes.isEmpty)
    }

    @Test func `verify names a file that is damaged at its server, and deletes nothing of it`() async throws {
        let report = VerifyReport(entries: 2, bytes: 5_000_000, damagedAtServer: ["http://h/a"])
        let plain = try await run(.verify, cache: FixedCache(check: report))
        #expect(plain.code == .someFailed)
        #expect(
            plain.output == [
                "damaged at the server (wrong MD5): http://h/a",
                "checked 2 tracks, 5.0 MB: all as downloaded, nothing was deleted",
            ]
        )
        let json = try await run(.verify, cache: FixedCache(check: report), isJSON: true)
        #expect(json.output.first == #"{"source":"http://h/a","damagedAtServer":true}"#)
        #expect(
            json.output.last?.contains(#""damagedEntries":0,"damagedBytes":0,"damagedAtServer":1,"#) == true
        )
    }

    @Test func `a cache that cannot be read is an error`() async throws {
        let error = MediaError(.unreadable, "/c", "permission denied")
        let result = try await run(.list(EntrySelection()), cache: FixedCache(error: error))
        #expect(result.code == .couldNotStart)
        #expect(result.said == ["/c: permission denied"])
    }
}
