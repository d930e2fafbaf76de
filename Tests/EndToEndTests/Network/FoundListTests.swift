import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Lists that are named as music, from a real server, in the built program.
@Suite struct FoundListTests {
    private let stage: Stage
    private let server: NginxServer

    init() async throws {
        stage = try await Stage()
        for name in ["1.mp3", "2.mp3", "3.mp3"] {
            try stage.folder.write(stage.musicBytes, to: "web/" + name)
        }
        try stage.folder.write("#EXTM3U\n1.mp3\ninner.mp3\n3.mp3\n", to: "web/outer.m3u")
        try stage.folder.write("[playlist]\nFile1=2.mp3\nFile2=loop.mp3\n", to: "web/inner.mp3")
        try stage.folder.write("#EXTM3U\n#EXTINF:1,Loop\nloop.mp3\n", to: "web/loop.mp3")
        try stage.folder.write("2.mp3\n3.mp3\n", to: "web/typed.mp3")
        try stage.folder.write("#EXTM3U\n#EXT-X-TARGETDURATION:9\n1.ts\n", to: "web/live.mp3")
        let types = "location = /typed.mp3 { default_type audio/x-mpegurl; types {} }"
        server = try await NginxServer(serving: stage.folder.path("web"), extra: types)
    }

    /// The names of the tracks that were played to their end.
    private func finished(_ run: Ending) -> [String] {
        let sources = run.events("track").reduce(into: [Int: String]()) { sources, event in
            if let index = event.index { sources[index] = event.source }
        }
        return run.events("ended").filter { $0.reason == "finished" }.compactMap { event in
            event.index.flatMap { sources[$0] }?.split(separator: "/").last.map(String.init)
        }
    }

    @Test func `a list in a list is read in its place, in one request, and one that names itself ends`()
        async throws
    {
        let run = try await stage.play([server.url("/outer.m3u")])
        #expect(run.finished.count == 3 && run.failureCodes == ["bad-playlist"], "\(run.errors)")
        #expect(run.errors.contains("the playlist contains itself"))
        #expect(run.events("loaded").map(\.tracks) == [3, 4, 4])
        #expect(server.accesses.count { $0.target == "/inner.mp3" } == 1)
        #expect(server.accesses.count { $0.target == "/2.mp3" } == 1)
    }

    @Test func `a URL that is named as music is a list by its type, and is revalidated and used offline`()
        async throws
    {
        for statuses in [[206], [206, 304]] {
            let run = try await stage.play([server.url("/typed.mp3")])
            #expect(run.status == 0 && run.finished.count == 2, "\(run.errors)")
            #expect(finished(run) == ["2.mp3", "3.mp3"])
            try await server.settle()
            #expect(server.accesses.filter { $0.target == "/typed.mp3" }.map(\.status) == statuses)
        }
        let live = try await stage.play([server.url("/live.mp3")])
        #expect(live.status == 2 && live.errors.contains("404"), "\(live.errors)")
        try await server.stop()
        let offline = try await stage.play(["--offline", server.url("/typed.mp3")])
        #expect(offline.status == 0 && offline.finished.count == 2, "\(offline.errors)")
    }

    @Test(arguments: [true, false])
    func `Esc stops the reading of a list that does not answer, and keeps what was read`(isShuffled: Bool)
        async throws
    {
        stage.server.set(Array("1.mp3\nslow.m3u\n2.mp3\n".utf8), at: "/outer.m3u")
        // Long enough to play until the end of the test on a busy machine.
        let song = try await MP3Fixtures.bytes(.init(seconds: 40))
        for name in ["/1.mp3", "/2.mp3"] { stage.server.set(song, at: name) }
        let gate = stage.server.origin.hold("/slow.m3u", .beforeHead)
        let list = stage.url("/outer.m3u")
        let screen =
            isShuffled
            ? try await ScreenStage(["--shuffle", list], folder: stage.folder)
            : try await ScreenStage.playing([stage.folder.write(song, to: "song.mp3")], folder: stage.folder)
        if !isShuffled { try await screen.command("add \(list)") }
        try await gate.reached()
        try await screen.waitForStatus(containing: "reading (Esc stops)")
        try await screen.keys("Escape")
        try await screen.terminal.wait(for: isShuffled ? "2 tracks" : "3 tracks")
        try await screen.wait(for: "the end of reading") { try await !$0.status.contains("reading") }
        try await screen.waitForStatus("Playing")
        gate.release()
        try await screen.quit()
    }

    @Test func `the tracks of a list stand in its place on the screen`() async throws {
        // It is still the current one when the test looks.
        try stage.folder.write(try await MP3Fixtures.bytes(.init(seconds: 40)), to: "web/2.mp3")
        let screen = try await ScreenStage.playing(
            [server.url("/inner.mp3"), server.url("/1.mp3")],
            folder: stage.folder
        )
        try await screen.terminal.wait(for: "▶ 1   2 ")
        try await screen.terminal.wait(for: "3   1 ")
        try await screen.quit()
    }
}
