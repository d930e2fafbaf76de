import Foundation
import TestSupport
import Testing

/// A web folder of forty albums in the queue, beside a feed, a station and music of another server.
@Suite(.serialized) struct AlbumEveningTests {
    private static let corpus = Task {
        let folder = try TemporaryFolder()
        try await AlbumCorpus.write(to: folder, at: "web/albums")
        return folder
    }

    private static func isMusic(_ access: NginxServer.Access) -> Bool {
        access.target.hasPrefix("/albums/") && !access.target.hasSuffix("/")
    }

    @Test(arguments: [(80, 24), (120, 40)])
    func `albums have headings, names and totals, and each tag costs one small request, once`(
        columns: Int,
        rows: Int
    ) async throws {
        let web = try await Self.corpus.value
        let server = try await NginxServer(serving: web.path("web"), extra: "autoindex on;")
        let folder = try TemporaryFolder()
        let foreign = try await NginxServer(serving: web.path("web"))
        let list = """
            #EXTM3U
            #EXTINF:-1,Harbour FM
            \(foreign.url("/albums/91%20Tape%201/01%20-%20Reel%201.1.mp3"))
            \(foreign.url("/albums/91%20Tape%201/02%20-%20Reel%201.2.mp3"))
            """
        try folder.write(list, to: "list.m3u")
        let item = """
            <item><title>How records were cut</title><guid>1</guid>
            <enclosure type="audio/mpeg" url="\(foreign.url("/albums/91%20Tape%201/03%20-%20Reel%201.3.mp3"))"/></item>
            """
        let feed = "<rss version=\"2.0\"><channel><title>The Desk</title>\(item)</channel></rss>"
        try folder.write(feed, to: "feed.rss")
        let sources = [server.url("/albums/"), folder.path("list.m3u"), folder.path("feed.rss")]
        func start() async throws -> ScreenStage {
            let stage = try await ScreenStage.playing(sources, folder: folder, columns: columns, rows: rows)
            try await stage.pause()
            try await stage.terminal.wait(for: "\(AlbumCorpus.trackCount + 3) tracks · ~")
            return stage
        }
        let first = try await start()
        try await first.waitForRow(" Album 01  Artist 1 · 1961 ──", "── 10 tracks · 1:00")
        for number in 1...10 { try await first.waitForRow("Song 1.\(number) ", "0:06") }
        // Two screens are read; then those at the end, of which one folder has no tags.
        try await first.keys("G")
        try await first.waitForRow(" 92 Tape 2 ──", "── 10 tracks")
        try await first.waitForRow("   Reel 2.10 ", "")
        try await first.quit()
        try await server.settle()
        let asked = server.accesses.filter(Self.isMusic)
        let current = asked.first?.target ?? ""
        let heads = asked.filter { $0.target != current }
        #expect(heads.allSatisfy { $0.range == "bytes=0-65535" && $0.bytes <= 65_536 })
        let names = Set(heads.map(\.target))
        #expect(names.count == heads.count, "each track is asked for once")
        #expect(heads.count <= 4 * rows && heads.count >= 10)
        let second = try await start()
        try await second.waitForRow(" Album 01  Artist 1 · 1961 ──", "── 10 tracks · 1:00")
        try await second.quit()
        try await server.settle()
        let later = server.accesses.filter(Self.isMusic).dropFirst(asked.count)
        // Two may have been under way when the first session ended.
        #expect(later.count { names.contains($0.target) } <= 2)
        try await foreign.settle()
        #expect(foreign.accesses.isEmpty, "no SOURCE is on that server")
    }
}

extension AlbumEveningTests {
    @Test func `an album is folded, moved, played next and downloaded by its heading, and the rest ahead`()
        async throws
    {
        let web = try await Self.corpus.value
        let server = try await NginxServer(serving: web.path("web"), extra: "autoindex on;")
        let albums = (1...3).map {
            server.url("/albums/0\($0)%20\(AlbumCorpus.title($0).replacing(" ", with: "%20"))/")
        }
        let folder = try TemporaryFolder()
        let stage = try await ScreenStage.playing(albums, folder: folder, columns: 120, rows: 40)
        try await stage.pause()
        try await stage.waitForRow(" Album 03  Artist 3 · 1963 ──", "── 10 tracks · 1:00")
        // The first row is the heading of the first album, which the current track belongs to.
        try await stage.keys("g", "z")
        try await stage.waitForRows(" ‖ Album 01 ", " Album 02 ")
        try await stage.keys("j", "z")
        try await stage.waitForRows(" ▸ Album 02 ", " Album 03 ")
        try await stage.keys("J")
        try await stage.waitForRows(" Album 03 ", " 11   Song 3.1 ")
        try await stage.keys("E", "z")
        try await stage.waitForRows(" Album 02 ", " 2   Song 2.1 ")
        try await stage.keys("D")
        try await stage.terminal.wait(for: "10 tracks downloaded")
        try await server.settle()
        try await expectDownload(of: 2, from: server, below: web)
        try await stage.command("ahead all")
        try await stage.terminal.wait(for: "offline for 2:5")
        for album in [1, 3] { try await expectDownload(of: album, from: server, below: web) }
        let count = server.accesses.count
        try await server.stop()
        try await stage.keys("Space")
        try await stage.waitForStatus("Playing")
        #expect(server.accesses.count == count)
        try await stage.quit()
    }

    /// Each track of an album was downloaded whole, none of its bytes twice, by at most a request for each
    /// begun MiB and four more.
    private func expectDownload(
        of album: Int,
        from server: NginxServer,
        below web: TemporaryFolder
    ) async throws {
        let name = "0\(album) \(AlbumCorpus.title(album))"
        for file in try FileManager.default.contentsOfDirectory(atPath: web.path("web/albums/" + name)) {
            let path = "/albums/\(name)/\(file)".replacing(" ", with: "%20")
            let length = try Data(contentsOf: URL(filePath: web.path("web/albums/\(name)/\(file)"))).count
            try await wait(for: "all of \(path)") {
                let asked = server.accesses.filter { $0.target == path }
                return asked.map(\.bytes).reduce(0, +) >= length
            }
            let asked = server.accesses.filter { $0.target == path }
            #expect(asked.map(\.bytes).reduce(0, +) == length && asked.count <= (length - 1) >> 20 + 5)
        }
    }
}

extension ScreenStage {
    /// Waits until two neighbouring rows contain these texts, or one row the only one.
    fileprivate func waitForRows(_ texts: String...) async throws {
        try await wait(for: "\(texts)") { stage in
            let rows = try await stage.terminal.capture()
            return rows.indices.contains { place in
                place + texts.count <= rows.count && zip(rows[place...], texts).allSatisfy { $0.contains($1) }
            }
        }
    }

    /// Waits until a row begins with `start`, after the sign and the number of a track, and ends with `end`.
    fileprivate func waitForRow(_ start: String, _ end: String) async throws {
        try await wait(for: "\(start) … \(end)") { stage in
            try await stage.terminal.capture().contains { row in
                let text = row.trimmingCharacters(in: CharacterSet(charactersIn: " │┃"))
                return row.contains(start) && text.hasSuffix(end)
            }
        }
    }
}
