import RepriseOrigin
import TestSupport
import Testing

/// Invalid sources on the web.
///
/// Each URL carries a password and a token, which must appear neither in the output nor in the cache.
@Suite struct BadInputServerTests {
    /// `path` at `server`, with secrets in every place that may hold one.
    private func secretURL(_ server: TestOrigin, _ path: String) -> String {
        server.url(path).replacing("http://", with: "http://user:\(badInputSecret)@")
            + "?token=\(badInputSecret)"
    }

    /// How that is told.
    private func shownURL(_ server: TestOrigin, _ path: String) -> String { server.url(path) }

    @Test func `a web page with status 200 is no music and is not kept`() async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/song.mp3": stage.musicBytes], faults: [.htmlPage])
        try await stage.expectRefused(
            secretURL(server, "/song.mp3"),
            code: "not-audio",
            words: [shownURL(server, "/song.mp3"), "a web page instead of audio"]
        )
        // Each of the two runs sent one request to it.
        #expect(server.log.requests.count == 2)
    }

    @Test func `a web page in a playlist's place is no playlist and is not kept`() async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/list.m3u8": stage.musicBytes], faults: [.htmlPage])
        try await stage.expectRefused(
            secretURL(server, "/list.m3u8"),
            code: "bad-playlist",
            words: [shownURL(server, "/list.m3u8"), "got a web page instead"]
        )
    }

    @Test(arguments: ["/song.mp3", "/list.m3u8"])
    func `a status of 404 is named`(path: String) async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin()
        try await stage.expectRefused(
            secretURL(server, path),
            code: "http-status",
            words: [shownURL(server, path), "404"]
        )
    }

    @Test(arguments: [401, 403, 410, 451])
    func `another status that brings no music is named`(status: Int) async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/song.mp3": stage.musicBytes], faults: [.status(status)])
        try await stage.expectRefused(
            secretURL(server, "/song.mp3"),
            code: "http-status",
            words: [shownURL(server, "/song.mp3"), "\(status)"]
        )
    }

    @Test func `redirects that go round in a circle are named`() async throws {
        let stage = try await BadInputStage()
        let location = "/song.mp3?token=\(badInputSecret)"
        let faults: [Fault] = [.redirect(status: 302, location: location)]
        let server = try TestOrigin(["/song.mp3": stage.musicBytes], faults: faults)
        try await stage.expectRefused(
            secretURL(server, "/song.mp3"),
            code: "too-many-redirects",
            words: [shownURL(server, "/song.mp3"), "redirect"]
        )
    }

    @Test func `what is not kept is named when the network may not be used`() async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/song.mp3": stage.musicBytes])
        let source = secretURL(server, "/song.mp3")
        let run = try await stage.play([source, stage.music], options: ["--offline"])
        expectOneSentence(run, [shownURL(server, "/song.mp3"), "--offline"], status: 3)
        #expect(run.failureCodes == ["offline"])
        #expect(run.finished == [88_200])
        #expect(server.log.connectionCount == 0)
        #expect(try await stage.keptSources() == [])
    }

    @Test func `a web page between two visits takes nothing away of what is kept`() async throws {
        let stage = try await BadInputStage()
        let whole = try await MP3Fixtures.bytes(MP3Fixtures.Options(seconds: 20))
        let server = try TestOrigin(["/song.mp3": whole])
        let source = server.url("/song.mp3")
        server.origin.script([[], []], thenAlways: [.cut(afterBytes: 0)], for: "/song.mp3")
        _ = try await stage.play([source])
        let kept = server.log.bytesSent
        #expect(kept > 65_000 && kept < whole.count)
        server.origin.setFaults([.htmlPage], for: "/song.mp3")
        for options in [[], ["--refresh"]] {
            let portal = try await stage.play([source, stage.music], options: options)
            expectOneSentence(portal, [source, "web page", "sign in"], status: 3)
            #expect(portal.failureCodes == ["bad-answer"])
            #expect(portal.finished == [88_200])
            // The cached bytes were played.
            #expect((portal.events("ended").first { $0.reason == "failed" }?.frames ?? 0) > 3 * 44_100)
        }
        // After the portal, the music continues where it broke off.
        server.origin.setFaults([], for: "/song.mp3")
        server.log.reset()
        let run = try await stage.play([source])
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(run.finished == [20 * 44_100])
        #expect(server.log.bytesSent == Int64(whole.count) - kept)
    }

    /// Plays `source`, which has no server, until a notice with `code` contains all of `words`; then quits.
    private func expectTriedAgain(_ source: String, code: String, words: [String]) async throws {
        let stage = try await BadInputStage()
        let process = try stage.startWithoutNameServer(
            BadInputStage.silent + ["--cache-dir", stage.cacheFolder, source]
        )
        try await wait(for: "the notice \(code)") {
            process.lines.contains { line in
                line.contains("\"code\":\"\(code)\"") && words.allSatisfy { line.contains($0) }
            }
        }
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        expectHarmless(run)
        #expect(run.errorOutput == "")
        #expect(run.failureCodes == [])
        #expect(try await stage.keptSources() == [])
        #expect(!stage.indexMentions(badInputSecret))
    }

    @Test func `a connection that is refused is named, and tried again`() async throws {
        let port = try RefusingPort()
        let place = "127.0.0.1:\(port.number)/song.mp3"
        try await expectTriedAgain(
            "http://user:\(badInputSecret)@\(place)?token=\(badInputSecret)",
            code: "reconnecting",
            words: ["http://\(place)", "connection refused by", "attempt 4 of 10"]
        )
    }

    @Test func `an unknown host is named, and tried again`() async throws {
        try await expectTriedAgain(
            "http://user:\(badInputSecret)@nowhere.invalid/song.mp3?token=\(badInputSecret)",
            code: "reconnecting",
            words: [
                "http://nowhere.invalid/song.mp3", "can't find host nowhere.invalid",
                "attempt 4 of 10",
            ]
        )
    }

    @Test func `a list whose host is unknown is waited for, and the reason is told meanwhile`() async throws {
        try await expectTriedAgain(
            "http://user:\(badInputSecret)@nowhere.invalid/list.m3u8?token=\(badInputSecret)",
            code: "offline",
            words: ["can't find host nowhere.invalid"]
        )
    }

    @Test(arguments: ["ftp", "rtsp", "data", "javascript"])
    func `an unsupported scheme is named`(scheme: String) async throws {
        let stage = try await BadInputStage()
        try await stage.expectRefused(
            "\(scheme)://user:\(badInputSecret)@music.invalid/song.mp3?token=\(badInputSecret)",
            code: "unsupported-scheme",
            words: ["\(scheme)://music.invalid/song.mp3", "only http, https and file"]
        )
    }

    @Test(arguments: ["http://", "http://:80/song.mp3", "http://host:port/song.mp3", "http://ho st/song.mp3"])
    func `a URL that is none is named`(url: String) async throws {
        let stage = try await BadInputStage()
        try await stage.expectRefused(url, code: "bad-url", words: [url, "not a valid URL"])
    }

    @Test(arguments: [[], [.ignoresRanges], [.chunked, .ignoresRanges]] as [[Fault]])
    func `random bytes named as music are refused and not kept`(faults: [Fault]) async throws {
        let stage = try await BadInputStage()
        let noise = ByteFixtures.bytes(count: 400_000, seed: 7)
        let server = try TestOrigin(["/noise.mp3": noise], faults: faults)
        try await stage.expectRefused(
            secretURL(server, "/noise.mp3"),
            code: "not-audio",
            words: [shownURL(server, "/noise.mp3"), "Not MP3"]
        )
    }

    @Test(arguments: [[], [.ignoresRanges], [.chunked, .ignoresRanges]] as [[Fault]])
    func `nothing named as music is called empty and not kept`(faults: [Fault]) async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/nothing.mp3": []], faults: faults)
        try await stage.expectRefused(
            secretURL(server, "/nothing.mp3"),
            code: "empty",
            words: [shownURL(server, "/nothing.mp3"), "empty"]
        )
    }

    @Test func `random bytes named as a playlist are refused and not kept`() async throws {
        let stage = try await BadInputStage()
        let noise = ByteFixtures.bytes(count: 400_000, seed: 8)
        let server = try TestOrigin(["/noise.m3u8": noise])
        try await stage.expectRefused(
            secretURL(server, "/noise.m3u8"),
            code: "bad-playlist",
            words: [shownURL(server, "/noise.m3u8"), "not a playlist (binary data)"]
        )
    }

    @Test func `a playlist from the web may not name files of this machine`() async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/list.m3u": Array("file://\(stage.music)\n".utf8)])
        let run = try await stage.play([stage.music, secretURL(server, "/list.m3u")])
        expectOneSentence(run, [stage.music, "can't open local files"], status: 3)
        #expect(run.failureCodes == ["local-file-refused"])
        #expect(run.finished == [88_200])
    }

    @Test func `what is in vain in a playlist is told and the rest of it plays`() async throws {
        let stage = try await BadInputStage()
        let list = """
            #EXTM3U
            ftp://user:\(badInputSecret)@music.invalid/song.mp3
            good.mp3
            gone.mp3?token=\(badInputSecret)
            good.mp3?again

            """
        let server = try TestOrigin(["/list.m3u": Array(list.utf8), "/good.mp3": stage.musicBytes])
        let run = try await stage.play([server.url("/list.m3u")])
        #expect(run.status == 3)
        #expect(run.failureCodes == ["unsupported-scheme", "http-status"])
        #expect(run.finished == [88_200, 88_200])
        #expect(run.errorLines.count == 2)
        expectHarmless(run)
        #expect(!stage.indexMentions(badInputSecret))
    }

    @Test func `a file that is cut in the middle on its server plays as far as it goes`() async throws {
        let stage = try await BadInputStage()
        let options = MP3Fixtures.Options(seconds: 8, rate: .variable(quality: 4, hasXing: true))
        let whole = try await MP3Fixtures.bytes(options)
        let cut = Array(whole[..<(whole.count * 3 / 5 + 17)])
        let path = try stage.folder.write(cut, to: "cut.mp3")
        let reference = try await MP3Fixtures.referencePCM(of: path)
        let server = try TestOrigin(["/cut.mp3": cut])
        for requests in [1, 0] {
            let run = try await stage.play([secretURL(server, "/cut.mp3"), stage.music])
            #expect(run.status == 0, "\(run.errorOutput)")
            #expect(run.errorOutput == "")
            #expect(run.finished == [Int64(reference.count / 4), 88_200])
            if requests == 0 { #expect(run.events.last?.requests == 0) }
            expectHarmless(run)
        }
    }

    @Test func `a server that breaks off for good is heard as far as it came`() async throws {
        let stage = try await BadInputStage()
        let whole = try await MP3Fixtures.bytes(MP3Fixtures.Options(seconds: 20))
        let sent = whole.count / 2
        let server = try TestOrigin(["/song.mp3": whole])
        server.origin.script(
            [[.ignoresRanges, .cut(afterBytes: Int64(sent))]],
            thenAlways: [.cut(afterBytes: 0)],
            for: "/song.mp3"
        )
        let run = try await stage.play([secretURL(server, "/song.mp3"), stage.music])
        expectOneSentence(run, [shownURL(server, "/song.mp3"), "cut"], status: 3)
        #expect(run.failureCodes == ["cut"])
        #expect(run.finished == [88_200])
        // All but the last frames, which need the frames after them.
        let frames = run.events("ended").first { $0.reason == "failed" }?.frames ?? 0
        #expect(frames > 9 * 44_100 && frames < 11 * 44_100)
        // The received bytes are music, and are cached.
        #expect(try await stage.keptSources() == [shownURL(server, "/song.mp3") + "?…"])
    }
}
