import Media
import System
import TestSupport
import Testing

@testable import Segments

/// Recordings whose parts are cached, and whose URLs expire.
@Suite struct CachedRecordingTests {
    private let web = FakeWeb()

    private func parts(isOffline: Bool, isKept: Bool, quality: StreamQuality) -> SegmentParts {
        SegmentParts(
            open: { [web] in web.open($0) },
            request: { [web] in try web.request($0, unless: $1) },
            cache: web.cache(isOffline: isOffline, isKept: isKept),
            decrypt: { blocks, _, _ in Array(blocks) },
            clock: TestClock(),
            readAhead: .seconds(30),
            quality: quality,
            onNotice: { _ in }
        )
    }

    private func open(
        _ path: String = "/list.m3u8",
        isOffline: Bool = false,
        isKept: Bool = false,
        quality: StreamQuality = .high,
        refreshes: Bool = false
    ) async throws -> SegmentedReader {
        let location = FakeWeb.location(path)
        return try await SegmentedReader.open(
            web.open(location),
            at: location,
            parts(isOffline: isOffline, isKept: isKept, quality: quality),
            refreshes: refreshes
        )
    }

    /// A list of `count` segments at `/TOKEN-NUMBER`.
    private func list(_ token: String, _ count: Int = 3, seconds: Int = 6, tags: String = "") -> String {
        let segments = (0..<count).map { "#EXTINF:\(seconds),\n/\(token)-\($0)\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(tags)\(segments)#EXT-X-ENDLIST\n"
    }

    private func body(_ number: Int) -> [UInt8] {
        ByteFixtures.bytes(count: 9_000 + number, seed: UInt64(number))
    }

    /// Serves the segments under `token` only.
    private func serve(_ token: String, _ numbers: Range<Int> = 0..<3) {
        web.state.withLock { state in
            state.bodies = state.bodies.filter { !$0.key.contains("-") }
            for number in numbers { state.bodies["/\(token)-\(number)"] = body(number) }
            state.opened = []
        }
    }

    private func bytes(_ number: Int, of reader: SegmentedReader) async throws -> [UInt8]? {
        try await reader.segment(number)?.bytes.allBytes(atMost: 1 << 20, of: "a segment")
    }

    /// Plays all segments of a stream, so that they are cached.
    private func play(_ path: String = "/list.m3u8", _ numbers: Range<Int> = 0..<3) async throws {
        let reader = try await open(path)
        for number in numbers { #expect(try await bytes(number, of: reader) == body(number)) }
        await reader.close()
        web.state.withLock { $0.opened = [] }
    }

    private var changes: Int { web.state.withLock { $0.changes } }

    @Test func `a recording that was played is played again without any of its parts' servers`() async throws
    {
        let tags = "#EXT-X-KEY:METHOD=AES-128,URI=\"/key\",IV=0x00000000000000000000000000000000\n"
        web.set("/list.m3u8", list("a", tags: tags + "#EXT-X-MAP:URI=\"/map\"\n"))
        web.set("/key", [UInt8](repeating: 1, count: 16))
        web.set("/map", [UInt8](repeating: 0, count: 32))
        serve("a")
        var reader = try await open()
        for number in 0..<3 { #expect(try await reader.segment(number) != nil) }
        await reader.close()
        serve("none")
        web.set("/key", nil)
        web.set("/map", nil)
        reader = try await open()
        for number in 0..<3 {
            let segment = try #require(try await reader.segment(number))
            #expect(segment.initialisation != nil)
        }
        await reader.close()
        #expect(web.opened == ["/list.m3u8"])
        #expect(web.openCount == 0)
    }

    private static let twoQualities = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"
        /low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2"
        /high.m3u8

        """

    private func serveTwoQualities() {
        web.set("/master.m3u8", Self.twoQualities)
        web.set("/high.m3u8", list("a"))
        web.set("/low.m3u8", list("b"))
    }

    @Test
    func `another quality is cached beside the one before, and either is played again without its lists`()
        async throws
    {
        serveTwoQualities()
        serve("a", 0..<2)
        try await play("/master.m3u8", 0..<2)
        serve("b")
        // The list is opened for either rendition, but the new one's is its own.
        #expect(
            try await opened(in: .low) == ["/master.m3u8", "/master.m3u8", "/low.m3u8", "/b-0", "/b-1"]
        )
        web.set("/high.m3u8", nil)
        web.set("/low.m3u8", nil)
        serve("none")
        for quality in [StreamQuality.high, .low, .high] {
            #expect(try await opened(in: quality) == ["/master.m3u8", "/master.m3u8"])
        }
        #expect(changes == 0 && web.openCount == 0)
    }

    /// What is opened to read two segments of the master playlist's stream in this quality.
    private func opened(in quality: StreamQuality) async throws -> [String] {
        web.state.withLock { $0.opened = [] }
        let reader = try await open("/master.m3u8", quality: quality)
        for number in 0..<2 { #expect(try await bytes(number, of: reader) == body(number)) }
        await reader.close()
        return web.opened
    }

    @Test
    func `a master playlist leads to the cached rendition offline, and if that is pinned or complete`()
        async throws
    {
        serveTwoQualities()
        serve("a")
        try await play("/master.m3u8")
        for isOffline in [true, false] {
            web.state.withLock { $0.opened = [] }
            let reader = try await open(
                "/master.m3u8",
                isOffline: isOffline,
                isKept: !isOffline,
                quality: .low
            )
            #expect(try await bytes(2, of: reader) == body(2))
            await reader.close()
            #expect(web.opened == ["/master.m3u8"])
        }
        // Else the setting counts.
        serve("b")
        let low = try await open("/master.m3u8", quality: .low)
        #expect(try await bytes(2, of: low) == body(2))
        await low.close()
        #expect(web.opened.contains("/low.m3u8") && !web.opened.contains("/high.m3u8"))
        #expect(changes == 0 && web.openCount == 0)
    }

    @Test(arguments: [401, 403, 404, 410])
    func `a segment that is gone is found under the URL of a new list, and what is cached stays`(status: Int)
        async throws
    {
        web.state.withLock { $0.status = status }
        web.set("/list.m3u8", list("a"))
        serve("a")
        try await play("/list.m3u8", 0..<1)
        web.set("/list.m3u8", list("b"))
        web.state.withLock { $0.kept["/list.m3u8"]?[.list(0)] = Array(list("a").utf8) }
        serve("b")
        let reader = try await open()
        for number in 0..<3 { #expect(try await bytes(number, of: reader) == body(number)) }
        await reader.close()
        // The list once, the end of the cached segment, and the segments that were missing.
        #expect(web.opened == ["/list.m3u8", "/a-1", "/list.m3u8", "/b-0", "/b-1", "/b-2"])
        #expect(changes == 0 && web.openCount == 0)
        // The new list is the one that is replayed.
        web.state.withLock { $0.opened = [] }
        try await play("/list.m3u8", 0..<3)
        #expect(web.openCount == 0)
    }

    @Test(arguments: ["key", "map"], [401, 403, 404, 410, 503])
    func `a key or map that is gone is found under the URL of a new list, and no other error asks for it`(
        name: String,
        status: Int
    ) async throws {
        func tags(_ token: String) -> String {
            name == "map"
                ? "#EXT-X-MAP:URI=\"/\(token)-map\"\n"
                : "#EXT-X-KEY:METHOD=AES-128,URI=\"/\(token)-key\",IV=0x00000000000000000000000000000000\n"
        }
        web.state.withLock { $0.status = status }
        web.set("/list.m3u8", list("a", tags: tags("a")))
        await (try await open()).close()
        web.state.withLock { $0.kept["/list.m3u8"] = [.list(0): Array(list("a", tags: tags("a")).utf8)] }
        let reader = try await open()
        web.set("/list.m3u8", list("b", tags: tags("b")))
        serve("b")
        web.set("/b-\(name)", [UInt8](repeating: 1, count: 16))
        if status == 503 {
            await #expect { _ = try await bytes(0, of: reader) } throws: { error in
                (error as? MediaError)?.status == status
            }
        } else {
            for number in 0..<3 { #expect(try await bytes(number, of: reader) != nil) }
        }
        await reader.close()
        let isAsked = web.opened.contains("/list.m3u8")
        #expect(isAsked == (status != 503))
        #expect(web.opened.count { $0 == "/b-\(name)" } == (isAsked ? 1 : 0))
        #expect(changes == 0 && web.openCount == 0)
    }

    @Test func `if the list is gone too, the master playlist leads to the same rendition elsewhere`()
        async throws
    {
        func master(_ name: String) -> String {
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"mp4a.40.2\"\n/\(name).m3u8\n"
        }
        web.set("/master.m3u8", master("one"))
        web.set("/one.m3u8", list("a"))
        serve("a")
        try await play("/master.m3u8", 0..<1)
        web.state.withLock { $0.kept["/master.m3u8"]?[.list(0)] = Array(master("one").utf8) }
        web.set("/one.m3u8", nil)
        web.set("/master.m3u8", master("two"))
        web.set("/two.m3u8", list("b"))
        serve("b")
        let reader = try await open("/master.m3u8")
        for number in 0..<3 { #expect(try await bytes(number, of: reader) == body(number)) }
        await reader.close()
        let asked = [
            "/master.m3u8", "/a-1", "/one.m3u8", "/master.m3u8", "/two.m3u8", "/b-0", "/b-1", "/b-2",
        ]
        #expect(web.opened == asked)
        #expect(changes == 0 && web.openCount == 0)
    }

    @Test func `lists that bring nothing new are asked for once each, and the error is that of the segment`()
        async throws
    {
        web.set("/list.m3u8", list("a"))
        serve("a", 0..<2)
        let reader = try await open()
        #expect(try await bytes(1, of: reader) == body(1))
        web.state.withLock { $0.opened = [] }
        await #expect { _ = try await bytes(2, of: reader) } throws: { error in
            (error as? MediaError)?.status == 404
        }
        #expect(web.opened == ["/a-2", "/list.m3u8", "/a-1"])
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test(arguments: ["durations", "number", "end of a segment", "rendition"])
    func `a new list that does not agree with what is cached is a changed stream`(difference: String)
        async throws
    {
        let isMaster = difference == "rendition"
        let path = isMaster ? "/master.m3u8" : "/list.m3u8"
        func master(_ codecs: String, _ name: String) -> String {
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"\(codecs)\"\n/\(name).m3u8\n"
        }
        web.set("/master.m3u8", master("mp4a.40.2", "list"))
        web.set("/list.m3u8", list("a"))
        serve("a")
        try await play(path, 0..<1)
        let first = isMaster ? master("mp4a.40.2", "list") : list("a")
        web.state.withLock { $0.kept[path]?[.list(0)] = Array(first.utf8) }
        serve("b")
        switch difference {
        case "durations": web.set("/list.m3u8", list("b", seconds: 5))
        case "number": web.set("/list.m3u8", list("b", 4))
        case "end of a segment":
            web.set("/list.m3u8", list("b"))
            web.set("/b-0", body(0).dropLast() + [body(0).last.map { $0 &+ 1 } ?? 0])
        default:
            web.set("/list.m3u8", nil)
            web.set("/master.m3u8", master("mp4a.40.5", "other"))
            web.set("/other.m3u8", list("b"))
        }
        let reader = try await open(path)
        #expect(try await bytes(0, of: reader) == body(0))
        await #expect { _ = try await bytes(1, of: reader) } throws: { error in
            (error as? MediaError)?.code == .resourceChanged
        }
        await reader.close()
        #expect(changes == 1)
        #expect(web.contents(of: path) == nil)
        #expect(web.openCount == 0)
    }

    @Test func `a refresh asks for the list, and keeps what is cached if it agrees`() async throws {
        web.set("/list.m3u8", list("a"))
        serve("a")
        try await play("/list.m3u8", 0..<2)
        var reader = try await open(refreshes: true)
        #expect(web.opened == ["/list.m3u8", "/list.m3u8", "/a-0"])
        #expect(try await bytes(1, of: reader) == body(1))
        await reader.close()
        #expect(web.contents(of: "/list.m3u8")?.segments == [0..<2] && changes == 0)
        // Another recording under the same URL.
        web.set("/list.m3u8", list("c", 5))
        reader = try await open(refreshes: true)
        #expect(reader.duration == .seconds(30) && changes == 1)
        await reader.close()
        #expect(web.openCount == 0)
    }

    @Test func `a refresh without an answer plays what is cached`() async throws {
        web.set("/list.m3u8", list("a"))
        serve("a")
        try await play()
        web.state.withLock { $0.kept["/list.m3u8"]?[.list(0)] = Array(list("a").utf8) }
        web.set("/list.m3u8", nil)
        let reader = try await open(refreshes: true)
        #expect(try await bytes(2, of: reader) == body(2))
        await reader.close()
        #expect(changes == 0)
    }

    @Test func `a download loads the missing segments in order, and says which one is gone at the end`()
        async throws
    {
        web.set("/list.m3u8", list("a", 5))
        serve("a", 0..<5)
        try await play("/list.m3u8", 1..<2)
        web.set("/a-2", nil)
        var reader = try await open()
        await #expect { try await reader.loadAll {} } throws: { error in
            (error as? MediaError)?.status == 404
        }
        await reader.close()
        #expect(web.contents(of: "/list.m3u8")?.segments == [0..<2, 3..<5])
        web.set("/a-2", body(2))
        web.state.withLock { $0.opened = [] }
        reader = try await open()
        try await reader.loadAll {}
        #expect(reader.report.length == (0..<5).reduce(0) { $0 + Int64(body($1).count) })
        #expect(reader.isStored(segments: 0..<5))
        await reader.close()
        #expect(web.opened == ["/list.m3u8", "/a-2"])
        #expect(web.openCount == 0)
    }

    @Test func `segments of one file are known by their ranges`() async throws {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n"
        for number in 0..<3 { text += "#EXTINF:6,\n#EXT-X-BYTERANGE:1000\(number == 0 ? "@0" : "")\n/all\n" }
        text += "#EXTINF:6,\n#EXT-X-BYTERANGE:10@5\n/other\n#EXTINF:6,\n/whole\n#EXT-X-ENDLIST\n"
        let playlist = try StoredPlaylist(text)
        #expect((0..<5).map { playlist.playlist.resource(of: $0) } == [0, 0, 0, 3, 4])
        let table = playlist.playlist.table(rendition: [])
        #expect(table.slices.map(\.range) == [0..<1_000, 1_000..<2_000, 2_000..<3_000, 5..<15, 0..<0])
        #expect(StreamTable(bytes: table.bytes) == table)
    }
}
