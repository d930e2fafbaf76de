import Foundation
import TestSupport
import Testing

/// Folders and lists of real web servers, played, fetched and added through the built player.
@Suite struct WebFolderPlayingTests {
    /// A folder `m` with three tracks, one of them in a subfolder, and other files.
    private static func music(in stage: Stage) throws -> String {
        let names = ["m/10 Ten.mp3", "m/2 Été & #1?.mp3", "m/Sub & \"dir\"/1: one.mp3"]
        for name in names { try stage.folder.write(stage.musicBytes, to: "web/" + name) }
        for name in ["m/cover.jpg", "m/notes.txt", "m/.hidden.mp3"] {
            try stage.folder.write("x", to: "web/" + name)
        }
        // Apache serves as another user.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: stage.folder.path)
        return stage.folder.path("web")
    }

    /// The names of the tracks that were played to their end.
    private static func names(_ run: Ending) -> [String] {
        var names: [String] = []
        for event in run.events("track") {
            let name = (event.source ?? "").split(separator: "/").last.map(String.init) ?? ""
            let decoded = name.removingPercentEncoding ?? name
            if names.last != decoded { names.append(decoded) }
        }
        return names
    }

    @Test(arguments: FolderServerKind.allCases)
    func `a folder of a web server is played, fetched, and used as it is offline`(kind: FolderServerKind)
        async throws
    {
        let stage = try await Stage()
        let server = try await FolderServer(kind, serving: try Self.music(in: stage))
        let expected = ["2 Été & #1?.mp3", "10 Ten.mp3", "1: one.mp3"]
        // Without the slash, the server redirects to the folder; rclone answers 404.
        let sources = [server.baseURL + "/m/"] + (kind == .rclone ? [] : [server.baseURL + "/m"])
        for source in sources {
            let run = try await stage.play(["--no-cache", source])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.events("loaded").map(\.tracks) == [3])
            #expect(Self.names(run) == expected && run.finished.count == 3)
        }
        let source = try #require(sources.last)
        let fetched = try await stage.cache("fetch", source)
        #expect(fetched.status == 0, "\(fetched.errors)")
        #expect(fetched.errorLines.last?.hasPrefix("3 of 3 tracks are available offline") == true)
        try await server.stop()
        let offline = try await stage.play(["--offline", source])
        #expect(offline.status == 0, "\(offline.errors)")
        #expect(Self.names(offline) == expected && offline.finished.count == 3)
    }

    @Test func `a folder is added on the screen, and a new file is found at the next start`() async throws {
        let stage = try await Stage()
        let web = try Self.music(in: stage)
        let server = try await FolderServer(.nginx, serving: web)
        // Long enough to be seen playing on a busy machine.
        let song = try stage.folder.write(try await MP3Fixtures.bytes(.init(seconds: 40)), to: "song.mp3")
        for count in [3, 4] {
            let screen = try await ScreenStage.playing([song], folder: stage.folder)
            try await screen.command("add \(server.baseURL)/m/")
            try await screen.terminal.wait(for: "\(count + 1) tracks")
            try await screen.terminal.wait(for: " Ten ")
            try await screen.quit()
            try FileManager.default.removeItem(atPath: stage.folder.path("state"))
            try stage.folder.write(stage.musicBytes, to: "web/m/Sub & \"dir\"/2 two.mp3")
        }
    }

    @Test func `a list is one by its content, in one request, and is revalidated at the next start`()
        async throws
    {
        let stage = try await Stage()
        try stage.folder.write(stage.musicBytes, to: "web/1.mp3")
        try stage.folder.write(stage.musicBytes, to: "web/2.mp3")
        try stage.folder.write("1.mp3\n2.mp3\n", to: "web/plain")
        try stage.folder.write("[playlist]\nFile1=1.mp3\nFile2=2.mp3\n", to: "web/pls")
        try stage.folder.write("<html>Log in</html>", to: "web/page")
        try stage.folder.write("#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n1.ts\n", to: "web/live")
        let types = """
            location = /plain { default_type audio/x-mpegurl; }
            location = /page { default_type text/html; }
            """
        let server = try await NginxServer(serving: stage.folder.path("web"), extra: types)
        for path in ["/plain", "/pls?format=pls"] {
            let first = try await stage.play([server.url(path)])
            #expect(first.status == 0 && first.events("loaded").map(\.tracks) == [2], "\(first.errors)")
            #expect(first.finished.count == 2)
            let again = try await stage.play([server.url(path)])
            #expect(again.status == 0 && again.finished.count == 2, "\(again.errors)")
            try await server.settle()
            #expect(server.accesses.filter { $0.target == path }.map(\.status) == [206, 304])
        }
        // The music was asked for once.
        #expect(server.accesses.count { $0.target == "/1.mp3" } == 1)
        // A live list is read once more, since its URLs may have expired when a segment is refused.
        for (path, code, words, requestCount) in [
            ("/page", "not-audio", "got a web page instead of audio", 1),
            ("/live", "http-status", "404", 2),
        ] {
            let run = try await stage.play([server.url(path)])
            #expect(
                run.status == 2 && run.failureCodes == [code] && run.errors.contains(words),
                "\(run.errors)"
            )
            try await server.settle()
            #expect(server.accesses.count { $0.target == path } == requestCount)
        }
        try await server.stop()
        let offline = try await stage.play(["--offline", server.url("/plain")])
        #expect(offline.status == 0 && offline.finished.count == 2, "\(offline.errors)")
    }

    @Test func `music without a name of music is asked for once`() async throws {
        let stage = try await Stage()
        try stage.folder.write(stage.musicBytes, to: "web/song")
        let server = try await NginxServer(serving: stage.folder.path("web"))
        for options in [[], ["--no-cache"]] {
            let before = server.accesses.count
            let run = try await stage.play(options + [server.url("/song")])
            #expect(run.status == 0 && run.finished.count == 1, "\(run.errors)")
            try await server.settle()
            #expect(server.accesses.count == before + 1)
        }
    }
}
