import Glibc
import RepriseOrigin
import TestSupport
import Testing

/// Invalid sources on the web.
///
/// Each URL carries a password and a token, which must appear neither in the output nor in the cache.
@Suite struct BadInputServerTests {
    static let refusals: [Refusal] = {
        let noise = Refusal.Content.bytes(ByteFixtures.bytes(count: 400_000, seed: 7))
        let song = "/song.mp3"
        let statuses = [401, 403, 404, 410, 451].map {
            Refusal(song, noise, from: [.status($0)], "http-status", "\($0)")
        }
        let bodies = [[], [.ignoresRanges], [.chunked, .ignoresRanges]].flatMap { (faults: [Fault]) in
            [(noise, "not-audio", "not a known audio format"), (.bytes([]), "empty", "empty")].map {
                body,
                code,
                words in
                Refusal(song, body, from: faults, code, words, described: "\(words), \(faults)")
            }
        }
        let circle = Fault.redirect(status: 302, location: "/song.mp3?token=\(badInputSecret)")
        return statuses + bodies + [
            Refusal(song, noise, from: [.htmlPage], "not-audio", "a web page instead of audio"),
            Refusal(song, noise, from: [circle], "too-many-redirects", "redirect"),
            Refusal("/list.m3u8", noise, from: [.status(404)], "http-status", "404"),
            Refusal("/list.m3u8", noise, from: [.htmlPage], "bad-playlist", "got a web page instead"),
            Refusal("/list.m3u8", noise, "bad-playlist", "not a playlist (binary data)"),
        ]
    }()

    @Test(arguments: refusals)
    func `an answer without music is named, not cached, and the others play`(refusal: Refusal) async throws {
        guard case .bytes(let bytes) = refusal.content else {
            Issue.record("a server has only bytes")
            return
        }
        let stage = try await Stage([refusal.name: bytes], faults: refusal.faults)
        let words = [stage.url(refusal.name), refusal.words]
        try await stage.expectRefused(stage.secretURL(refusal.name), refusal.code, words)
    }

    @Test(arguments: ["ftp", "rtsp", "data", "javascript"])
    func `an unsupported scheme is named`(scheme: String) async throws {
        let source = "\(scheme)://user:\(badInputSecret)@music.invalid/song.mp3?token=\(badInputSecret)"
        let words = ["\(scheme)://music.invalid/song.mp3", "only http, https and file"]
        try await Stage().expectRefused(source, "unsupported-scheme", words)
    }

    @Test(arguments: ["http://", "http://:80/song.mp3", "http://host:port/song.mp3", "http://ho st/song.mp3"])
    func `an invalid URL is named`(url: String) async throws {
        try await Stage().expectRefused(url, "bad-url", [url, "not a valid URL"])
    }

    /// One server that breaks off for good, shows the page of a captive portal, and comes back: one test,
    /// since the ten attempts of the first take a minute.
    @Test func `a server that breaks off is heard up to there, and goes on there after a captive portal`()
        async throws
    {
        // 16,000 bytes a second.
        let whole = try await MP3Fixtures.bytes(MP3Fixtures.Options(seconds: 20))
        let stage = try await Stage(["/song.mp3": whole])
        let source = stage.secretURL("/song.mp3")
        let shown = stage.url("/song.mp3")
        let log = stage.server.log
        let origin = stage.server.origin
        origin.script([[], [.cut(afterBytes: 60_000)]], thenAlways: [.cut(afterBytes: 0)], for: "/song.mp3")
        var sent: Int64 = 0
        for (options, code, words) in [
            ([], "cut", "cut"), ([], "bad-answer", "web page"), (["--refresh"], "bad-answer", "sign in"),
        ] {
            let run = try await stage.play(options + [source, stage.music])
            if code == "cut" { sent = log.bytesSent }
            expectOneSentence(run, [shown, words], status: 3)
            #expect(run.failureCodes == [code])
            #expect(run.finished == [88_200])
            let frames = run.events("ended").first { $0.reason == "failed" }?.frames ?? 0
            #expect(frames > 3 * 44_100 && frames < sent * 44_100 / 16_000)
            // The received bytes are music, and are cached.
            #expect(try await stage.cachedSources() == [shown + "?…"])
            origin.setFaults([.htmlPage], for: "/song.mp3")
        }
        #expect(sent > 100_000 && sent < whole.count)
        origin.setFaults([], for: "/song.mp3")
        log.reset()
        let run = try await stage.play([source])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.finished == [20 * 44_100])
        #expect(log.bytesSent == Int64(whole.count) - sent)
    }

    @Test(
        .enabled(if: OfflineTests.canLeaveTheNetwork),
        arguments: [
            // Nothing listens in that network.
            ("127.0.0.1:8904/song.mp3", "connection-refused", "connection refused by 127.0.0.1:8904"),
            ("nowhere.invalid/song.mp3", "unknown-host", "can't find host nowhere.invalid"),
            ("nowhere.invalid/list.m3u8", "unknown-host", "can't find host nowhere.invalid"),
        ]
    )
    func `a server that is not there is named`(place: String, code: String, words: String) async throws {
        let stage = try await Stage()
        let address = "http://user:\(badInputSecret)@\(place)?token=\(badInputSecret)"
        let run = try await Ending(of: try stage.startWithoutNameServer([address]))
        expectOneSentence(run, ["http://\(place)", words], status: 2)
        #expect(run.failureCodes == [code])
        #expect(try await stage.cachedSources() == [] && !stage.indexMentions(badInputSecret))
    }

    @Test func `a playlist from the web may not name files of this machine`() async throws {
        let stage = try await Stage()
        stage.server.set(Array("file://\(stage.music)\n".utf8), at: "/list.m3u")
        let run = try await stage.play([stage.music, stage.secretURL("/list.m3u")])
        expectOneSentence(run, [stage.music, "can't open local files"], status: 3)
        #expect(run.failureCodes == ["local-file-refused"])
        #expect(run.finished == [88_200])
    }

    @Test func `bad entries of a playlist are reported and the rest of it plays`() async throws {
        let list = """
            #EXTM3U
            ftp://user:\(badInputSecret)@music.invalid/song.mp3
            good.mp3
            gone.mp3?token=\(badInputSecret)
            good.mp3?again

            """
        let stage = try await Stage(["/list.m3u": Array(list.utf8)])
        stage.server.set(stage.musicBytes, at: "/good.mp3")
        let run = try await stage.play([stage.url("/list.m3u")])
        #expect(run.status == 3)
        #expect(run.failureCodes == ["unsupported-scheme", "http-status"])
        #expect(run.finished == [88_200, 88_200])
        #expect(run.errorLines.count == 2)
        expectHarmless(run)
        #expect(!stage.indexMentions(badInputSecret))
    }
}
