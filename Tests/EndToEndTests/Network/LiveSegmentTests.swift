import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// What streams of segments do besides playing: they end, have titles, and lead to other servers.
@Suite(.serialized) struct LiveSegmentTests {
    private static let names = (0..<5).map { "s\($0).ts" }

    /// Makes five segments of two seconds below `web`, and the key of those that are `encrypted`.
    private func make(on stage: Stage, encrypted: Bool = false) async throws {
        try stage.folder.makeFolder("web")
        try stage.folder.write([UInt8](1...16), to: "web/key.bin")
        try stage.folder.write("key.bin\n\(stage.folder.path("web/key.bin"))\n", to: "web/key.info")
        let sound = ["-f", "lavfi", "-i", "sine=frequency=440:duration=10", "-c:a", "aac", "-b:a", "128k"]
        let list = ["-f", "hls", "-hls_time", "2", "-hls_playlist_type", "vod"]
        let key = encrypted ? ["-hls_key_info_file", "key.info"] : []
        let words = ["-loglevel", "error", "-y"] + sound + list + key
        let names = ["-hls_segment_filename", "s%d.ts", "made.m3u8"]
        _ = try await RunningProcess.run("ffmpeg", words + names, folder: stage.folder.path("web"))
    }

    /// A list of segments of two seconds, each with its title.
    private func list(_ segments: [(title: String, reference: String)], tags: String = "", isEnded: Bool)
        -> String
    {
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:2
        \(tags)
        \(segments.map { "#EXTINF:2,\($0.title)\n\($0.reference)" }.joined(separator: "\n"))
        \(isEnded ? "#EXT-X-ENDLIST" : "")

        """
    }

    @Test func `a live stream that ends while it plays is finished, and the next track follows`() async throws
    {
        let stage = try await Stage()
        try await make(on: stage)
        func publish(_ count: Int, isEnded: Bool) throws {
            let text = list(Self.names.prefix(count).map { ("", $0) }, isEnded: isEnded)
            try stage.folder.write(text, to: "web/live.m3u8")
        }
        try publish(3, isEnded: false)
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let run = try stage.session([server.url("/live.m3u8"), stage.music], sink: "null:fast")
        try await run.event("playing")
        try publish(5, isEnded: true)
        let ending = try await run.ending()
        #expect(ending.status == 0, "\(ending.errors)")
        let ends = ending.events.filter { $0.event == "ended" }
        #expect(ends.map(\.reason) == ["finished", "finished"])
        // Ten seconds, and what the encoder adds.
        #expect((435_000...450_000).contains(ends.first?.frames ?? 0), "\(ends.first?.frames ?? 0) frames")
        // Opened again, it is a recording.
        let again = try await stage.play([server.url("/live.m3u8")])
        #expect(abs((again.events.last { $0.event == "track" }?.duration ?? 0) - 10) < 0.3)
    }

    @Test func `titles are shown when they are heard, the first one too`() async throws {
        let stage = try await Stage()
        try await make(on: stage)
        let titles = ["", "One", "Two", "Two", "Three"]
        let text = list(Array(zip(titles, Self.names)), tags: "#EXT-X-START:TIME-OFFSET=0", isEnded: false)
        try stage.folder.write(text, to: "web/live.m3u8")
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let run = try stage.session([server.url("/live.m3u8")], sink: "null:fast")
        // The live window begins with the third segment, so with the second title.
        try await wait(for: "the last title") {
            try run.events.contains { $0.event == "track" && $0.title == "Three" }
        }
        var heard = try run.events.filter { $0.event == "track" }.compactMap(\.title)
        heard = heard.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
        #expect(heard.suffix(3) == ["One", "Two", "Three"], "\(heard)")
        try await run.quit()
    }

    @Test func `titles of a recording are shown at the moments at which they are heard`() async throws {
        let stage = try await Stage()
        try await make(on: stage)
        let web = stage.folder.path("web")
        let words = ["-loglevel", "error", "-i", "s3.ts", "-c", "copy", "s3.aac"]
        _ = try await RunningProcess.run("ffmpeg", words, folder: web)
        let packed = try #require(FileManager.default.contents(atPath: web + "/s3.aac"))
        let tag = MP3Fixtures.tag(title: "Four", artist: "Band")
        try stage.folder.write(tag + [UInt8](packed), to: "web/tagged.aac")
        let tags = """
            #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
            #EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T00:00:03Z",X-TITLE="Two",X-ARTIST="Band"
            """
        let segments = [
            ("One", "s0.ts"), ("", "s1.ts"), ("Three", "s2.ts"), ("", "#EXT-X-DISCONTINUITY\ntagged.aac"),
        ]
        try stage.folder.write(list(segments, tags: tags, isEnded: true), to: "web/list.m3u8")
        let server = try await NginxServer(serving: web)
        let run = try stage.session([server.url("/list.m3u8")], sink: "null")
        let events = try await run.ending().events
        var heard: [String] = []
        let starts = ["One": 0.0, "Band - Two": 3, "Three": 4, "Band - Four": 6]
        for (index, event) in events.enumerated() {
            guard event.event == "track", let title = event.title, title != heard.last else { continue }
            heard.append(title)
            let start = try #require(starts[title], "\(title)")
            let before = events[..<index].last { $0.event == "position" }?.position ?? 0
            let after = events[index...].first { $0.event == "position" }?.position ?? .infinity
            #expect(before <= start + 0.1 && after >= start - 0.1, "\(title): \(before) to \(after)")
        }
        #expect(heard == ["One", "Band - Two", "Three", "Band - Four"])
    }

    @Test func `secrets go to the server of the list only, not to segments, keys and redirects elsewhere`()
        async throws
    {
        let stage = try await Stage()
        try await make(on: stage, encrypted: true)
        let stranger = try await NginxServer(serving: stage.folder.path("web"))
        var segments = Self.names.map { ("", stranger.url("/" + $0)) }
        segments[1].1 = "s1.ts"
        segments[2].1 = "moved.ts"
        let key =
            "#EXT-X-KEY:METHOD=AES-128,URI=\"\(stranger.url("/key.bin"))\",IV=0x\(String(repeating: "0", count: 32))"
        // ffmpeg takes the number of the segment as the vector.
        let made = try String(contentsOfFile: stage.folder.path("web/made.m3u8"), encoding: .utf8)
        let isImplied = !made.contains("IV=")
        let tag = isImplied ? key.components(separatedBy: ",IV=")[0] : key
        try stage.folder.write(list(segments, tags: tag, isEnded: true), to: "web/list.m3u8")
        let moved = "location /moved.ts { return 302 \(stranger.url("/s2.ts")); }"
        let named = try await NginxServer(serving: stage.folder.path("web"), extra: moved)
        let words = ["--header", "Authorization: Bearer hush", named.url("/list.m3u8")]
        let ending = try await stage.play(words)
        #expect(ending.status == 0, "\(ending.errors)")
        try await named.settle()
        try await stranger.settle()
        #expect(Set(named.accesses.map(\.target)) == ["/list.m3u8", "/s1.ts", "/moved.ts"])
        #expect(named.accesses.allSatisfy { $0.authorization == "Bearer hush" })
        #expect(Set(stranger.accesses.map(\.target)) == ["/key.bin", "/s0.ts", "/s2.ts", "/s3.ts", "/s4.ts"])
        #expect(stranger.accesses.allSatisfy { $0.authorization.isEmpty })
    }

    @Test(arguments: ["segment", "key", "section", "master"])
    func `a list from the web that names a local file is refused`(part: String) async throws {
        let file = "file:///etc/passwd"
        let tag =
            switch part {
            case "key": "#EXT-X-KEY:METHOD=AES-128,URI=\"\(file)\""
            case "section": "#EXT-X-MAP:URI=\"\(file)\""
            default: ""
            }
        let text =
            part == "master"
            ? "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(file)\n"
            : list([("", part == "segment" ? file : "s0.ts")], tags: tag, isEnded: true)
        let stage = try await Stage(["/list.m3u8": Array(text.utf8)])
        let ending = try await stage.play([stage.url("/list.m3u8")])
        #expect(ending.status == 2 && ending.errors.contains("file:"), "\(ending.errors)")
        #expect(ending.events.contains { $0.event == "ended" && $0.error?.code == "local-file-refused" })
    }

    @Test(arguments: [nil, "high", "low"])
    func `hls-quality chooses the variant`(quality: String?) async throws {
        let stage = try await Stage()
        try await make(on: stage)
        let master = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2"
            high.m3u8

            """
        try stage.folder.write(master, to: "web/master.m3u8")
        let text = list(Self.names.map { ("", $0) }, isEnded: true)
        for name in ["low", "high"] { try stage.folder.write(text, to: "web/\(name).m3u8") }
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let options = quality.map { ["--hls-quality", $0] } ?? []
        let ending = try await stage.play(options + [server.url("/master.m3u8")])
        #expect(ending.status == 0, "\(ending.errors)")
        try await server.settle()
        let lists = server.accesses.map(\.target).filter { $0.hasSuffix("m3u8") }
        #expect(lists == ["/master.m3u8", "/\(quality ?? "high").m3u8"])
    }
}
