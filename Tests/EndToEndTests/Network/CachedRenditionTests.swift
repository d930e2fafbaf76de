import Foundation
import TestSupport
import Testing

/// Recorded HLS streams in several qualities in the cache, from nginx.
@Suite(.serialized) struct CachedRenditionTests {
    /// A recording, and at `/master.m3u8` the choice between it and its copy, whose bandwidth is lower.
    private func recording() async throws -> (recording: CachedStreamTests.Recording, url: String) {
        let recording = try await CachedStreamTests.Recording()
        let master = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2"
            list.m3u8

            """
        let folder = recording.stage.folder
        try folder.write(master, to: "web/master.m3u8")
        let list = try String(contentsOfFile: folder.path("web/list.m3u8"), encoding: .utf8)
        try folder.write(list.replacing("list", with: "low"), to: "web/low.m3u8")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path("web"))
        where name.hasSuffix(".ts") {
            try copy(name, to: name.replacing("list", with: "low"), of: recording)
        }
        return (recording, recording.server.url("/master.m3u8"))
    }

    private func copy(_ name: String, to copy: String, of recording: CachedStreamTests.Recording) throws {
        let web = recording.stage.folder.path("web/")
        try FileManager.default.copyItem(atPath: web + name, toPath: web + copy)
    }

    @Test func `fetch takes the quality that is asked for, and what is complete stays`() async throws {
        let (recording, url) = try await recording()
        let fetched = try await recording.stage.cache("fetch", "--hls-quality", "low", url)
        #expect(fetched.status == 0, "\(fetched.errors)")
        let before = recording.server.accesses.count
        for _ in 0..<2 { #expect(try await recording.stage.cache("fetch", url).status == 0) }
        try await recording.stage.session([url]).finish()
        #expect(try await recording.requests(since: before) == [])
    }

    @Test func `two qualities are cached side by side, and offline the one that is complete plays`()
        async throws
    {
        let (recording, url) = try await recording()
        let stage = recording.stage
        try recording.remove("list2.ts", "low3.ts")
        #expect(try await stage.cache("fetch", url).status != 0)
        #expect(try await stage.cache("fetch", "--hls-quality", "low", url).status != 0)
        let rows = try await stage.cache("list", "--json").objects
        #expect(rows.map { $0["source"] as? String } == [url, url])
        #expect(rows.map { $0["segments"] as? [[Int]] } == [[[0, 3], [4, 6]], [[0, 2], [3, 6]]])
        try copy("low2.ts", to: "list2.ts", of: recording)
        var before = recording.server.accesses.count
        #expect(try await stage.cache("fetch", url).status == 0)
        #expect(try await recording.requests(since: before) == ["/list2.ts"])
        // The setting leads to the other one, of which a segment is missing.
        before = recording.server.accesses.count
        let offline = try stage.session([url], options: ["--offline", "--hls-quality", "low"])
        expectSame(try await offline.finish(), as: recording.whole)
        #expect(try await recording.requests(since: before) == [])
        let evicted = try await stage.cache("evict", "--json", url)
        #expect(try evicted.objects.first?["removed"] as? Int == 2, "\(evicted.output)")
        #expect(try await stage.cache("list", "--json").objects.isEmpty)
    }
}
