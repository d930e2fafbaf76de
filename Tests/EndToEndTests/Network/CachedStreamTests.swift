import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Recorded HLS streams in the cache, as ffmpeg makes them, from nginx.
@Suite(.serialized) struct CachedStreamTests {
    typealias Form = SegmentedStreamTests.Form

    /// A stream of five segments and the same music in one file, from one server.
    struct Recording {
        let stage: Stage
        let server: NginxServer
        let url: String
        /// The samples of the file.
        let whole: Data

        init(_ form: Form = .transport, extra: String = "") async throws {
            stage = try await Stage()
            let file = try await SegmentedStreamTests().make(form, on: stage)
            server = try await NginxServer(serving: stage.folder.path("web"), extra: extra)
            url = server.url("/list.m3u8")
            whole = try await stage.session([server.url("/" + file)], options: ["--no-cache"]).finish()
            try await server.settle()
        }

        /// The paths that were requested since `before` requests.
        func requests(since before: Int) async throws -> [String] {
            try await server.settle()
            return server.accesses.dropFirst(before).map(\.target)
        }

        var info: [String: Any] {
            get async throws {
                try #require(try await stage.cache("info", "--json", url).objects.first)
            }
        }

        /// Removes the files of the server whose names have one of these ends.
        func remove(_ ends: String...) throws {
            let folder = stage.folder.path("web")
            for name in try FileManager.default.contentsOfDirectory(atPath: folder)
            where ends.contains(where: { name.hasSuffix($0) }) {
                try FileManager.default.removeItem(atPath: folder + "/" + name)
            }
        }
    }

    @Test(arguments: Form.allCases)
    func `a recording that was heard is played again without a request, with its key and map gone`(form: Form)
        async throws
    {
        let recording = try await Recording(form)
        expectSame(try await recording.stage.session([recording.url]).finish(), as: recording.whole)
        let before = recording.server.accesses.count
        try recording.remove(".bin", ".mp4", ".ts", ".m4s", ".m3u8")
        let again = try recording.stage.session([recording.url])
        expectSame(try await again.finish(), as: recording.whole)
        #expect(try again.notices.isEmpty)
        let ended = try #require(try again.ends.first?.bytes)
        #expect(ended.fetched == 0 && ended.cached > 100_000)
        let offline = try recording.stage.session([recording.url], options: ["--offline", "--seek", "14.5"])
        #expect(try await offline.event("playing").exact == true)
        try await offline.finish()
        let wrapper = PrivateMounts.readOnly(recording.stage.cachePath)
        let fixed = try recording.stage.session([recording.url], wrapper: wrapper)
        expectSame(try await fixed.finish(), as: recording.whole)
        #expect(try await recording.requests(since: before) == [])
    }

    @Test func `what is cached of a recording plays offline, and the rest says so`() async throws {
        let recording = try await Recording()
        let options = ["--read-ahead", "1s"]
        let first = try recording.stage.session([recording.url], sink: "null", options: options)
        try await first.event("playing")
        try await wait(for: "the second segment") {
            recording.server.accesses.contains { $0.target == "/list1.ts" }
        }
        try await first.quit()
        let info = try await recording.info
        #expect(info["complete"] as? Bool == false && info["size"] is NSNull)
        let segments = try #require(info["segments"] as? [[Int]])
        #expect(segments.first?.first == 0 && (segments.first?.last ?? 9) < 5)
        let before = recording.server.accesses.count
        let offline = try await recording.stage.session([recording.url], options: ["--offline"]).ending()
        #expect(offline.status == 2 || offline.status == 3)
        #expect(offline.failureCodes == ["offline"], "\(offline.output)")
        #expect(!offline.samples.isEmpty && recording.whole.starts(with: offline.samples))
        #expect(try await recording.requests(since: before) == [])
        // Back online, only what is missing is fetched.
        expectSame(try await recording.stage.session([recording.url]).finish(), as: recording.whole)
        let asked = try await recording.requests(since: before)
        #expect(!asked.contains("/list.m3u8") && !asked.contains("/list0.ts") && asked.contains("/list4.ts"))
    }

    @Test(arguments: [Form.transport, .encrypted, .oneFile])
    func `a fetched recording is one row with the size of its segments, verified, pinned and evicted as one`(
        form: Form
    ) async throws {
        let recording = try await Recording(form)
        let stage = recording.stage
        let fetched = try await stage.cache("fetch", "--json", recording.url)
        #expect(fetched.status == 0, "\(fetched.errors)")
        let before = recording.server.accesses.count
        let files = try FileManager.default.contentsOfDirectory(atPath: stage.folder.path("web"))
        let size = try files.filter { $0.hasSuffix(".ts") || $0.hasSuffix(".m4s") }.reduce(0) { sum, name in
            let path = stage.folder.path("web/" + name)
            return sum + (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
        }
        let rows = try await stage.cache("list", "--json").objects
        #expect(rows.count == 1 && rows.first?["source"] as? String == recording.url)
        let info = try await recording.info
        #expect(info["complete"] as? Bool == true)
        #expect(info["segments"] as? [[Int]] == [[0, 6]] || info["segments"] as? [[Int]] == [[0, 5]])
        // In one file, the initialisation section is no segment.
        let stored = try #require(info["stored"] as? Int)
        #expect(info["size"] as? Int == stored)
        #expect(form == .oneFile ? (size - 2_000..<size).contains(stored) : stored == size)
        #expect(abs((info["duration"] as? Double ?? 0) - 21) < 0.2)
        #expect(try #require(info["etag"] as? String).hasPrefix("\""))
        let ranges = try #require(info["ranges"] as? [[Int]])
        #expect(ranges.reduce(0) { $0 + $1[1] - $1[0] } == stored && ranges.allSatisfy { $0[0] >= 64 << 20 })
        #expect(try await stage.cache("fetch", recording.url).status == 0)
        #expect(try await stage.cache("verify").status == 0)
        #expect(try await recording.requests(since: before) == [])
        #expect(try await stage.cache("pin", recording.url).status == 0)
        _ = try await stage.cache("evict", "--to", "0")
        #expect(try await stage.cachedSources("--pinned") == [recording.url])
        #expect(try await stage.cache("unpin", recording.url).status == 0)
        #expect(try await stage.cache("evict", "--to", "0").status == 0)
        #expect(try await stage.cache("list", "--json").objects.isEmpty)
    }

    @Test(arguments: Form.allCases)
    func `an exported recording is one file that plays the same`(form: Form) async throws {
        let recording = try await Recording(form)
        let stage = recording.stage
        #expect(try await stage.cache("fetch", recording.url).status == 0)
        let path = stage.folder.path("exported")
        let exported = try await stage.cache("export", recording.url, path)
        #expect(exported.status == 0, "\(exported.errors)")
        expectSame(try await stage.session([path]).finish(), as: recording.whole)
        if form == .transportMP3 {
            let song = FileManager.default.contents(atPath: stage.folder.path("web/song.mp3"))
            #expect(FileManager.default.contents(atPath: path) == song)
        }
    }

    @Test func `a recording with gaps is exported only as a part`() async throws {
        let recording = try await Recording()
        let stage = recording.stage
        try recording.remove("list2.ts")
        #expect(try await stage.cache("fetch", recording.url).status != 0)
        let path = stage.folder.path("exported")
        let refused = try await stage.cache("export", recording.url, path)
        #expect(refused.status == 3 && refused.errors.contains("1 of "), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await stage.cache("export", "--partial", recording.url, path).status == 3)
        let heard = try await stage.session([path]).finish()
        #expect(heard.count < recording.whole.count && heard.count > recording.whole.count / 2)
    }

    @Test func `a recording whose codec changes is not exported, and neither is a part of it`() async throws {
        let recording = try await Recording()
        let stage = recording.stage
        let folder = stage.folder.path("web")
        try FileManager.default.copyItem(atPath: folder + "/list0.ts", toPath: folder + "/first.ts")
        _ = try await SegmentedStreamTests().make(.transportMP3, on: stage)
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:4,\nfirst.ts\n#EXT-X-DISCONTINUITY\n"
        try stage.folder.write(
            head + "#EXTINF:4,\nlist1.ts\n#EXTINF:4,\ngone.ts\n#EXT-X-ENDLIST\n",
            to: "web/two.m3u8"
        )
        let url = recording.server.url("/two.m3u8")
        #expect(try await stage.cache("fetch", url).status != 0)
        let path = stage.folder.path("exported")
        let refused = try await stage.cache("export", "--partial", url, path)
        #expect(refused.status == 3 && refused.errors.contains("format changes"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a sealed cache of a recording shows no name, and plays`() async throws {
        let recording = try await Recording(.encrypted)
        let stage = recording.stage
        let secret = stage.folder.path("secret")
        #expect(try await stage.run(["cache", "keygen", secret]).status == 0)
        let options = ["--cache-secret", secret]
        expectSame(
            try await stage.session([recording.url], options: options).finish(),
            as: recording.whole
        )
        let index = try #require(FileManager.default.contents(atPath: stage.cachePath + "/index.sqlite"))
        let log = FileManager.default.contents(atPath: stage.cachePath + "/index.sqlite-wal") ?? Data()
        for name in ["list0.ts", "list.m3u8", "key.bin"] {
            #expect((index + log).range(of: Data(name.utf8)) == nil)
        }
        let before = recording.server.accesses.count
        expectSame(
            try await stage.session([recording.url], options: options + ["--offline"]).finish(),
            as: recording.whole
        )
        #expect(try await recording.requests(since: before) == [])
    }

    @Test func `a refresh asks for the list and the end of one segment, and keeps the others`() async throws {
        let recording = try await Recording()
        try await recording.stage.session([recording.url]).finish()
        let before = recording.server.accesses.count
        let run = try recording.stage.session([recording.url], options: ["--refresh"])
        expectSame(try await run.finish(), as: recording.whole)
        #expect(try await recording.requests(since: before) == ["/list.m3u8", "/list0.ts"])
        #expect(try run.notices.isEmpty)
    }

    @Test func `a recording whose URLs have changed plays on from the new ones`() async throws {
        let recording = try await Recording()
        let stage = recording.stage
        // Only the first two segments are there.
        let folder = stage.folder.path("web")
        let text = try String(contentsOfFile: folder + "/list.m3u8", encoding: .utf8)
        try FileManager.default.createDirectory(atPath: folder + "/new", withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".ts") {
            try FileManager.default.copyItem(atPath: folder + "/" + name, toPath: folder + "/new/" + name)
        }
        try recording.remove("list2.ts", "list3.ts", "list4.ts", "list5.ts")
        #expect(try await stage.cache("fetch", recording.url).status != 0)
        try recording.remove("list0.ts", "list1.ts")
        try stage.folder.write(text.replacing("list", with: "new/list"), to: "web/list.m3u8")
        let before = recording.server.accesses.count
        let run = try stage.session([recording.url])
        expectSame(try await run.finish(), as: recording.whole)
        #expect(try run.notices.isEmpty)
        let asked = try await recording.requests(since: before)
        #expect(asked.count { $0 == "/list.m3u8" } == 1 && !asked.contains("/new/list1.ts"), "\(asked)")
    }

    @Test func `another recording under the same URL is a new entry, and that is said`() async throws {
        let recording = try await Recording()
        let stage = recording.stage
        try await stage.session([recording.url]).finish()
        let folder = stage.folder.path("web")
        let text = try String(contentsOfFile: folder + "/list.m3u8", encoding: .utf8)
        // One segment fewer.
        let lines = text.components(separatedBy: "\n")
        let last = try #require(lines.lastIndex { $0.hasPrefix("#EXTINF") })
        try stage.folder.write(
            (lines[..<last] + lines[(last + 2)...]).joined(separator: "\n"),
            to: "web/list.m3u8"
        )
        let run = try stage.session([recording.url], options: ["--refresh"])
        let heard = try await run.finish()
        #expect(heard.count < recording.whole.count && recording.whole.starts(with: heard.prefix(100_000)))
        #expect(try run.notices.compactMap(\.code) == ["resource-changed"])
    }

    @Test func `reload asks for the list and the end of one segment, and nothing else does`() async throws {
        let recording = try await Recording()
        try await recording.stage.session([recording.url]).finish()
        let before = recording.server.accesses.count
        let run = try recording.stage.session([recording.url], sink: "null")
        try await run.event("playing")
        #expect(try await recording.requests(since: before) == [])
        try run.command("reload")
        try await wait(for: "the list and a segment") { recording.server.accesses.count >= before + 2 }
        try await run.quit()
        #expect(try await recording.requests(since: before) == ["/list.m3u8", "/list0.ts"])
        #expect(try await recording.info["complete"] as? Bool == true)
    }

    @Test(arguments: ["master.m3u8", "list.m3u8", "init.mp4"])
    func `a list or section that must not be stored makes the stream volatile, also below a master playlist`(
        name: String
    ) async throws {
        let extra = "location = /\(name) { add_header Cache-Control no-store; }"
        let recording = try await Recording(.fragments, extra: extra)
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS=\"mp4a.40.2\"\nlist.m3u8\n"
        try recording.stage.folder.write(master, to: "web/master.m3u8")
        let run = try recording.stage.session([recording.server.url("/master.m3u8")])
        expectSame(try await run.finish(), as: recording.whole)
        #expect(try await recording.stage.cache("list", "--json").objects.isEmpty)
        #expect(try run.notices.compactMap(\.code) == ["not-cached"])
    }

    @Test(arguments: ["list.m3u8", "key.bin", "list1.ts"])
    func `what a server forbids to store is not cached: a segment alone, or with list or key the stream`(
        name: String
    ) async throws {
        let extra = "location = /\(name) { add_header Cache-Control no-store; }"
        let recording = try await Recording(.encrypted, extra: extra)
        let run = try recording.stage.session([recording.url])
        expectSame(try await run.finish(), as: recording.whole)
        let rows = try await recording.stage.cache("list", "--json").objects
        if name == "list1.ts" {
            #expect(rows.first?["segments"] as? [[Int]] == [[0, 1], [2, 6]] || rows.count == 1)
            #expect(rows.first?["complete"] as? Bool == false)
            #expect(try run.notices.isEmpty)
        } else {
            #expect(rows.isEmpty)
            #expect(try run.notices.compactMap(\.code) == ["not-cached"])
        }
    }

    @Test func `a killed session loses nothing that was committed, and no segment is fetched twice for it`()
        async throws
    {
        let recording = try await Recording()
        let kills = 20
        for count in 1...kills {
            let before = recording.server.accesses.count
            let run = try recording.stage.session(
                [recording.url],
                sink: "null",
                options: ["--read-ahead", "60s"]
            )
            try await wait(for: "a segment") { recording.server.accesses.count > before || count > 2 }
            try await run.kill()
        }
        expectSame(try await recording.stage.session([recording.url]).finish(), as: recording.whole)
        #expect(try await recording.stage.cache("verify").status == 0)
        let segments = recording.server.accesses.map(\.target).filter { $0.hasSuffix(".ts") }
        // A killed session may leave a part of a segment, whose rest is another request.
        #expect(Set(segments).count <= 6 && segments.count <= 6 + kills, "\(segments)")
    }

    @Test func `a flipped bit in the cache of a recording is fetched again, and is never heard`() async throws
    {
        let recording = try await Recording()
        try await recording.stage.session([recording.url]).finish()
        let path = try #require(recording.stage.objectFiles.first)
        let length = try #require(FileManager.default.contents(atPath: path)?.count)
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            try flipBit(at: Int64.random(in: 0..<Int64(length), using: &random), in: path)
            let run = try recording.stage.session([recording.url])
            expectSame(try await run.finish(), as: recording.whole, "seed \(seed)")
            #expect(try run.notices.filter { $0.code != "damaged-extent" }.isEmpty)
        }
        #expect(try await recording.stage.cache("verify").status == 0)
    }

    @Test func `a list of 100,000 segments is bounded in memory, and its rows in time`() async throws {
        let stage = try await Stage()
        _ = try await SegmentedStreamTests().make(.transport, on: stage)
        let folder = stage.folder.path("web")
        let name = String(repeating: "n", count: 190)
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n"
        for number in 0..<100_000 { text += "#EXTINF:4,\n\(name)\(number).ts\n" }
        try stage.folder.write(text + "#EXT-X-ENDLIST\n", to: "web/long.m3u8")
        for number in 0..<4 {
            try FileManager.default.copyItem(
                atPath: folder + "/list\(number).ts",
                toPath: folder + "/\(name)\(number).ts"
            )
        }
        let server = try await NginxServer(serving: folder)
        var requests: [Int] = []
        for _ in 0..<2 {
            let run = try stage.session(
                [server.url("/long.m3u8")],
                sink: "null",
                options: ["--read-ahead", "1s"]
            )
            try await run.event("playing")
            let memory = try run.anonymousKilobytes()
            #expect(memory < 14_000, "\(memory) KiB")
            try await run.quit()
            try await server.settle()
            requests.append(server.accesses.count { $0.target == "/long.m3u8" })
        }
        // The second session reads the list from the cache.
        #expect(requests[1] == requests[0])
    }
}
