import RepriseOrigin
import TestSupport
import Testing

/// Text from outside that would steer a terminal, in every place where the player takes text.
@Suite struct BadInputTextTests {
    /// Sets the title, clears the screen by a C1 control, turns the reading direction, forges a line.
    private static let hostile = "a\u{1B}]0;owned\u{07}b\u{9B}2Jc\u{202E}d\u{2066}e\u{7F}f"

    @Test(arguments: ["--json", "--plain"])
    func `titles of a playlist cannot steer the terminal`(style: String) async throws {
        let stage = try await Stage()
        let list = "#EXTM3U\n#EXTINF:2,\(Self.hostile) - \(Self.hostile)\ngood.mp3\n"
        let path = try stage.folder.write(list, to: "list.m3u8")
        let run = try await stage.run(["--headless", style, "--sink", "null:fast", path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("]0;owned"))
        expectHarmless(run)
    }

    @Test func `names of files cannot steer the terminal`() async throws {
        let stage = try await Stage()
        let good = try stage.folder.write(
            stage.musicBytes,
            to: "music/\(Self.hostile)\nreprise: all is well.mp3"
        )
        let bad = try stage.folder.write("no music", to: "other/\(Self.hostile)\nreprise: all is well.mp3")
        let run = try await stage.play([
            good, bad, stage.folder.path("music"), bad + "gone", stage.folder.path("gone\(Self.hostile)/"),
        ])
        #expect(run.status == 3)
        #expect(run.finished == [88_200, 88_200])
        #expect(run.errorLines.count == 3)
        #expect(run.errorLines.allSatisfy { $0.hasPrefix("reprise: /") })
        expectHarmless(run)
    }

    @Test func `entries of a playlist cannot steer the terminal`() async throws {
        let stage = try await Stage()
        let list =
            "#EXTM3U\ngone\(Self.hostile).mp3\nftp://h/\(Self.hostile)\nhttp://\(Self.hostile)/x.mp3\ngood.mp3\n"
        let path = try stage.folder.write(list, to: "list.m3u8")
        let run = try await stage.play([path])
        #expect(run.status == 3)
        #expect(run.finished == [88_200])
        #expect(run.errorLines.count == 3)
        expectHarmless(run)
    }

    @Test func `addresses cannot steer the terminal`() async throws {
        let stage = try await Stage()
        let server = try TestOrigin(["/a\u{1B}]0;owned\u{07}\u{202E}.mp3": stage.musicBytes])
        let run = try await stage.play([
            server.url("/a%1B]0;owned%07%E2%80%AE.mp3"), server.url("/gone%1B%5B2J%C2%9B.mp3"),
            server.url("/gone\(Self.hostile).mp3"), "http://h\(Self.hostile).invalid/x.mp3",
        ])
        #expect(run.status == 3)
        #expect(run.finished == [88_200])
        #expect(run.errorLines.count == 3)
        expectHarmless(run)
        #expect(try await stage.cachedSources().count == 1)
        expectHarmless(try await stage.cache("list"))
    }

    @Test func `tags cannot steer the terminal`() async throws {
        let stage = try await Stage()
        let text = Array(Self.hostile.utf8)
        let frame = Array("TIT2".utf8) + [0, 0, 0, UInt8(text.count + 1), 0, 0, 3] + text
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
        let server = try TestOrigin(["/tagged.mp3": tag + stage.musicBytes])
        for options in [[], ["--offline"]] {
            let run = try await stage.play(options + [server.url("/tagged.mp3")])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.events("track").last?.title?.contains("]0;owned") == true)
            expectHarmless(run)
        }
        expectHarmless(try await stage.cache("list"))
        for options in [[], ["--json"]] {
            expectHarmless(try await stage.cache(["info", server.url("/tagged.mp3")] + options))
        }
    }

    @Test func `header fields of a server cannot steer the terminal`() async throws {
        let stage = try await Stage()
        // Line ends and NUL would end the field itself.
        let words = "audio/a\u{1B}]0;owned\u{07}\u{9B}2J\u{202E}"
        let server = try TestOrigin([
            "/typed.mp3": stage.musicBytes, "/moved.mp3": stage.musicBytes, "/far.mp3": stage.musicBytes,
        ])
        server.origin.setFaults(
            [.field("Content-Type", words), .field("ETag", "\"\(words)\"")],
            for: "/typed.mp3"
        )
        server.origin.setFaults(
            [.redirect(status: 302, location: "/gone\(words)?\(badInputSecret)")],
            for: "/moved.mp3"
        )
        server.origin.setFaults([.redirect(status: 302, location: "gopher://\(words)")], for: "/far.mp3")
        let run = try await stage.play(["/typed.mp3", "/moved.mp3", "/far.mp3"].map(server.url))
        #expect(run.status == 3)
        #expect(run.finished == [88_200])
        #expect(run.errorLines.count == 2)
        expectHarmless(run)
        for options in [[], ["--json"]] {
            expectHarmless(try await stage.cache(["info", server.url("/typed.mp3")] + options))
        }
    }

    @Test func `values of options cannot steer the terminal`() async throws {
        let stage = try await Stage()
        let hostile = Self.hostile
        for arguments in [
            ["--sink", "wav:/no/\(hostile)/x.wav", "good.mp3"], ["--header", "@/no/\(hostile)", "good.mp3"],
            [
                "--offline", "--cache-dir", "/dev/null/\(hostile)", "--sink", "null:fast",
                "http://127.0.0.1:1/x.mp3",
            ],
            ["cache", "info", "/no/\(hostile)"], ["cache", "list", "--cache-dir", "/dev/null/\(hostile)"],
            ["--cacert", "/no/\(hostile)", "--sink", "null:fast", "https://127.0.0.1:1/x.mp3"],
        ] {
            let run = try await stage.run(arguments)
            #expect(run.status != 0, "\(arguments)")
            #expect(!run.errorLines.isEmpty)
            expectHarmless(run)
        }
    }
}
