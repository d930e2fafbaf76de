import Media
import System
import TestSupport
import Testing

@testable import Playlists

/// URLs whose names do not show what they are.
@Suite
struct OpenedURLTests {
    private func resolver(_ web: FakeWeb, limits: PlaylistLimits = PlaylistLimits()) -> SourceResolver {
        SourceResolver(open: { try await web.open($0, revalidates: $1) }, workingFolder: "/", limits: limits)
    }

    @Test(
        arguments: [
            ("http://h/listen", "1.mp3\n", "audio/x-mpegurl"), ("http://h/listen", "#EXTM3U\n1.mp3", nil),
            ("http://h/get?format=pls", "[playlist]\nFile1=1.mp3", "text/plain"),
            (
                "http://h/x",
                "<playlist><trackList><track><location>1.mp3</location></track></trackList></playlist>", nil
            ),
            ("http://h/", WebFolderTests.nginx("../", "1.mp3", "cover.jpg"), "text/html"),
            ("http://h/", #"[{"name":"1.mp3","type":"file"}]"#, "application/json"),
        ] as [(String, String, String?)]
    )
    func `a list is one by its content, in the first request`(source: String, text: String, type: String?)
        async throws
    {
        let web = FakeWeb([source: text], types: type.map { [source: $0] } ?? [:])
        let found = try await resolver(web).tracks(for: source)
        #expect(found.places == ["http://h/1.mp3"] && found.problems.isEmpty)
        #expect(found.lists.map(\.requestString) == [source])
        #expect(web.opened == [source] && web.closed == [source] && web.revalidated.isEmpty)
    }

    @Test(arguments: [
        "ID3\u{3}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}", "\u{1}\u{0}noise", "some words", "<html>Log in</html>",
    ])
    func `anything else is a track, whose open reader the player takes over`(content: String) async throws {
        let web = FakeWeb(["http://h/stream": content], types: ["http://h/stream": "audio/mpeg"])
        let resolver = resolver(web)
        let track = try #require(try await resolver.tracks(for: "http://h/stream").tracks.first)
        #expect(web.opened.count == 1 && web.closed.isEmpty && web.lowPriority.isEmpty)
        #expect(resolver.takeOpened(.file("/x")) == nil)
        let reader = try #require(resolver.takeOpened(track.location))
        #expect(resolver.takeOpened(track.location) == nil)
        await reader.close()
        await resolver.close()
        #expect(web.closed == ["http://h/stream"])
    }

    // MARK: Lists where music was expected

    /// Resolves the track at `address`, which another list names, as a list.
    private func list(
        _ address: String,
        in web: FakeWeb,
        by resolver: SourceResolver,
        from lists: [String] = []
    ) async throws -> ResolvedTracks? {
        var track = Track(id: TrackIDs.next(), location: .web(try #require(WebURL(address))))
        track.foundLists = lists
        let reader = try await web.open(track.location, revalidates: false)
        return try await resolver.list(at: track, openAs: reader)
    }

    @Test(
        arguments: [
            ("http://h/a.mp3", "1.mp3\nsub.m3u\n", "audio/x-mpegurl"),
            ("http://h/a.mp3", "#EXTM3U\n1.mp3\nsub.m3u", nil),
        ] as [(String, String, String?)]
    )
    func `a list that is named as music is read from its open reader, and so are the lists in it`(
        address: String,
        text: String,
        type: String?
    ) async throws {
        let texts = [address: text, "http://h/sub.m3u": "2.mp3"]
        let web = FakeWeb(texts, types: type.map { [address: $0] } ?? [:])
        let found = try #require(try await list(address, in: web, by: resolver(web)))
        #expect(found.places == ["http://h/1.mp3", "http://h/2.mp3"])
        #expect(found.tracks.allSatisfy { $0.foundLists == [address] })
        #expect(web.opened == [address, "http://h/sub.m3u"])
    }

    @Test(arguments: ["\u{1}\u{0}noise", "some words", "<html>Log in</html>"])
    func `anything else that is not music is no list`(text: String) async throws {
        let web = FakeWeb(["http://h/a.mp3": text], types: ["http://h/a.mp3": "audio/mpeg"])
        #expect(try await list("http://h/a.mp3", in: web, by: resolver(web)) == nil)
        #expect(web.opened.count == 1 && web.rejected.isEmpty)
    }

    @Test(
        arguments: [
            ("#EXTM3U\na.mp3", ["http://h/a.mp3"], "contains itself"), ("#EXTM3U\n", [], "empty"),
            ("#EXTM3U\nb.mp3", (1...8).map { "http://h/\($0)" }, "nested too deeply"),
        ] as [(String, [String], String)]
    )
    func `a list that leads to itself, too deep, or to nothing ends`(
        text: String,
        lists: [String],
        cause: String
    ) async throws {
        let web = FakeWeb(["http://h/a.mp3": text])
        await #expect {
            try await list("http://h/a.mp3", in: web, by: resolver(web), from: lists)
        } throws: { error in
            (error as? MediaError)?.code == .badPlaylist
                && (error as? MediaError)?.safeText.string.contains(cause) == true
        }
    }

    @Test func `all lists that are named as music share one budget`() async throws {
        var limits = PlaylistLimits()
        limits.lists = 3
        let texts = (1...9).map { ("http://h/\($0).mp3", "#EXTM3U\n\($0 + 1).mp3") }
        let web = FakeWeb(Dictionary(uniqueKeysWithValues: texts))
        let resolver = resolver(web, limits: limits)
        for number in 1...3 {
            #expect(try await list("http://h/\(number).mp3", in: web, by: resolver)?.tracks.count == 1)
        }
        await #expect { try await list("http://h/4.mp3", in: web, by: resolver) } throws: {
            ($0 as? MediaError)?.code == .listTooLarge
        }
    }

    @Test func `few readers are held, and the rest is closed with the resolver`() async throws {
        let names = (1...6).map { "http://h/\($0)" }
        let web = FakeWeb(Dictionary(uniqueKeysWithValues: names.map { ($0, "\u{1}") }))
        let resolver = resolver(web)
        for name in names { _ = try await resolver.tracks(for: name) }
        #expect(web.closed == Array(names[..<2]))
        await resolver.close()
        #expect(Set(web.closed) == Set(names))
    }

    @Test func `what can't be read is an error; without a network it is a track that waits`() async throws {
        await #expect { try await resolver(FakeWeb()).tracks(for: "http://h/missing") } throws: { error in
            (error as? MediaError)?.code == .httpStatus
        }
        let away = SourceResolver(
            open: { location, _ in throw MediaError(.offline, location.safeText, "not cached (offline)") },
            workingFolder: "/"
        )
        #expect(try await away.tracks(for: "http://h/a").places == ["http://h/a"])
        await #expect { try await away.tracks(for: "http://h/a.m3u") } throws: { error in
            (error as? MediaError)?.code == .offline
        }
    }

    @Test func `music under the name of a list is music`() async throws {
        let web = FakeWeb(["http://h/listen.m3u": "ID3\u{3}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"])
        let found = try await resolver(web).tracks(for: "http://h/listen.m3u")
        #expect(found.places == ["http://h/listen.m3u"] && web.opened.count == 1)
    }

    @Test func `a list of segments is a track, whose open reader is handed on, also within another list`()
        async throws
    {
        let segments = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n1.ts"
        let web = FakeWeb([
            "http://h/live": segments, "http://h/a.m3u": "live.m3u8", "http://h/live.m3u8": segments,
        ])
        #expect(try await resolver(web).tracks(for: "http://h/live").places == ["http://h/live"])
        #expect(web.opened.count == 1 && web.rejected.isEmpty && web.closed.isEmpty)
        #expect(try await resolver(web).tracks(for: "http://h/a.m3u").places == ["http://h/live.m3u8"])
    }

    @Test func `a page that is no listing is a web page, also where a folder could be`() async {
        let web = FakeWeb(["http://h/": "<html><a href=\"1.mp3\">1</a></html>"])
        await #expect { try await resolver(web).tracks(for: "http://h/") } throws: { error in
            (error as? MediaError)?.cause == ResourceKind.page
        }
        #expect(web.rejected == web.opened)
    }

    @Test func `entries count from the URL that answered`() async throws {
        let web = FakeWeb(
            ["http://h/music": WebFolderTests.nginx("1.mp3"), "http://h/a": "#EXTM3U\n2.mp3"],
            redirects: ["http://h/music": "http://h/music/", "http://h/a": "http://i/b/c.m3u"]
        )
        #expect(try await resolver(web).tracks(for: "http://u:p@h/music").places == ["http://h/music/1.mp3"])
        #expect(try await resolver(web).tracks(for: "http://h/a").places == ["http://i/b/2.mp3"])
    }

    // MARK: Folders

    private static let tree = FakeWeb([
        "http://h/m/": WebFolderTests.nginx("10.mp3", "2.mp3", "B/", "a/", "x.m3u", "c.jpg"),
        "http://h/m/a/": WebFolderTests.nginx("../", "1.mp3", "/m/", "/n/"),
        "http://h/m/B/": WebFolderTests.nginx("1.mp3", "D/"),
        "http://h/m/B/D/": WebFolderTests.nginx(),
    ])

    @Test func `a folder of a web server is read with its subfolders, in natural order`() async throws {
        let web = Self.tree
        let found = try await resolver(web).tracks(for: "http://h/m/")
        #expect(found.places == ["2.mp3", "10.mp3", "a/1.mp3", "B/1.mp3"].map { "http://h/m/" + $0 })
        #expect(found.problems.isEmpty)
        #expect(Set(web.opened) == ["http://h/m/", "http://h/m/a/", "http://h/m/B/", "http://h/m/B/D/"])
        #expect(Set(web.lowPriority) == Set(web.opened) && Set(web.closed) == Set(web.opened))
    }

    @Test func `a folder without music says so`() async {
        let web = FakeWeb(["http://h/": WebFolderTests.nginx("a.jpg")])
        await #expect { try await resolver(web).tracks(for: "http://h/") } throws: { error in
            (error as? MediaError)?.code == .emptyFolder
        }
    }

    @Test func `audio of other formats in a folder and its subfolders is left out, and one notice counts it`()
        async throws
    {
        let web = FakeWeb([
            "http://h/": WebFolderTests.nginx("1.mp3", "x.caf", "cover.jpg", "d/", "list.m3u"),
            "http://h/d/": WebFolderTests.nginx("2.WV", "y.caf"),
        ])
        let found = try await resolver(web).tracks(for: "http://h/")
        #expect(found.places == ["http://h/1.mp3"])
        let cause = AudioKind.refusal(of: "Left out 3 files: 2 CAF, 1 WavPack")
        #expect(found.problems == [MediaError(.leftOut, "http://h/", cause)])
    }

    @Test func `a folder of other formats only says so`() async {
        let web = FakeWeb(["http://h/": WebFolderTests.nginx("a.caf")])
        await #expect(
            throws: MediaError(
                .emptyFolder,
                "http://h/",
                "no music that Reprise plays (left out 1 file: 1 CAF)"
            )
        ) { try await resolver(web).tracks(for: "http://h/") }
    }

    @Test func `web folders are followed eight deep`() async throws {
        var pages: [String: String] = [:]
        for level in 0...11 {
            pages["http://h/" + String(repeating: "d/", count: level)] = WebFolderTests.nginx("1.mp3", "d/")
        }
        let web = FakeWeb(pages)
        let found = try await resolver(web).tracks(for: "http://h/")
        #expect(found.tracks.count == 8 && web.opened.count == 8)
        #expect(found.problems.map(\.cause) == ["folders are nested too deeply (more than 8 levels)"])
    }

    @Test func `four are read at a time, and what is in order is delivered before the rest`() async throws {
        var pages = ["http://h/": WebFolderTests.nginx("1/", "2/", "3/", "4/", "5/", "6/")]
        for folder in 1...6 { pages["http://h/\(folder)/"] = WebFolderTests.nginx("\(folder).mp3") }
        let web = FakeWeb(pages)
        for name in pages.keys where name != "http://h/" { web.hold(name) }
        let delivered = Locked<[[String]]>([])
        let resolver = resolver(web)
        let reading = Task {
            try await resolver.resolve("http://h/") { part in
                let names = part.tracks.map(\.location.name.string)
                delivered.withLock { $0.append(names) }
            }
        }
        try await wait(for: "four folders") { web.opened.count == 5 }
        web.release("http://h/2/")
        try await wait(for: "the fifth folder") { web.opened.count == 6 }
        // The second is read, but the first is not.
        #expect(delivered.withLock { $0 } == [] && web.mostOpen == 4)
        web.release("http://h/1/")
        try await wait(for: "the first two") { delivered.withLock { $0 } == [["1.mp3", "2.mp3"]] }
        for folder in 3...6 { web.release("http://h/\(folder)/") }
        try await reading.value
        #expect(delivered.withLock { $0.flatMap { $0 } } == (1...6).map { "\($0).mp3" })
        #expect(web.mostOpen == 4)
    }

    // MARK: Limits

    @Test(
        arguments: [
            ("entries", 5, "more than 5 tracks; read 5 tracks"),
            ("lists", 3, "more than 3 playlists; read 4 tracks"),
            ("text", 50, "more than 0 MiB of text; read 5 tracks"),
            ("bytes", 60, "more than 0 MiB of playlists; read 2 tracks"),
        ] as [(String, Int, SafeText)]
    )
    func `a source has a budget, and plays what was read within it`(
        limit: String,
        value: Int,
        cause: SafeText
    ) async throws {
        // Two tracks in each of five lists.
        let lists = (1...5).map { ("http://h/\($0).m3u", "\($0)/1.mp3\n\($0)/2.mp3\n") }
        let root = ("http://h/root.m3u", (1...5).map { "\($0).m3u\n" }.joined())
        let web = FakeWeb(Dictionary(uniqueKeysWithValues: lists + [root]))
        var limits = PlaylistLimits()
        switch limit {
        case "entries": limits.entries = value
        case "lists": limits.lists = value
        case "text": limits.text = value
        default: limits.bytes = value
        }
        let found = try await resolver(web, limits: limits).tracks(for: "http://h/root.m3u")
        #expect(found.problems.map(\.code) == [.listTooLarge])
        #expect(found.problems.first?.cause == cause)
        #expect((2...5).contains(found.tracks.count))
    }

    @Test func `a web folder of too many folders ends at the limit`() async throws {
        var limits = PlaylistLimits()
        limits.webFolders = 2
        let web = Self.tree
        let found = try await resolver(web, limits: limits).tracks(for: "http://h/m/")
        #expect(found.problems.map(\.code) == [.listTooLarge])
        #expect(found.problems.first?.cause.string.hasPrefix("more than 2 folders; read ") == true)
        #expect(found.places.starts(with: ["http://h/m/2.mp3", "http://h/m/10.mp3"]))
    }
}
