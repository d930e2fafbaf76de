import Glibc
import RepriseOrigin
import TestSupport
import Testing

/// A source that is refused, with the code and the words of its error.
struct Refusal: Sendable, CustomTestStringConvertible {
    enum Content: Sendable {
        case missing
        /// A folder with a text and another folder in it.
        case folder
        /// A named pipe without a writer.
        case pipe
        case bytes([UInt8])
    }

    var testDescription: String
    /// The name of a file, or the path of a URL.
    var name: String
    var content: Content
    /// Those of the server.
    var faults: [Fault] = []
    var code: String
    var words: String

    init(
        _ name: String,
        _ content: Content,
        from faults: [Fault] = [],
        _ code: String,
        _ words: String,
        described description: String? = nil
    ) {
        testDescription = "\(name), \(description ?? words)"
        self.name = name
        self.content = content
        self.faults = faults
        self.code = code
        self.words = words
    }
}

/// Invalid sources on the local disk.
@Suite struct BadInputFileTests {
    static let refusals =
        [
            Refusal("nothing.mp3", .missing, "not-found", "no such file"),
            Refusal("nothing.m3u8", .missing, "not-found", "no such file"),
            Refusal("quiet", .folder, "empty-folder", "no music in this folder"),
            Refusal("pipe.mp3", .pipe, "unreadable", "not a file or folder"),
            Refusal("empty.mp3", .bytes([]), "empty", "empty"),
            Refusal("empty", .bytes([]), "empty", "empty"),
            Refusal("empty.m3u", .bytes([]), "empty", "the file is empty"),
            Refusal("round.m3u", .bytes(Array("round.m3u\n".utf8)), "bad-playlist", "contains itself"),
            Refusal(
                "page.mp3",
                .bytes(Array("<!DOCTYPE html><title>Oops</title>".utf8)),
                "not-audio",
                "a web page instead of audio"
            ),
        ]
        + (1...4 as ClosedRange<UInt64>).flatMap { seed in
            let noise = Refusal.Content.bytes(ByteFixtures.bytes(count: 400_000, seed: seed))
            return [
                Refusal("noise\(seed).mp3", noise, "not-audio", "not a known audio format"),
                Refusal("noise\(seed).m3u8", noise, "bad-playlist", "not a playlist"),
            ]
        }

    @Test(arguments: refusals)
    func `a source that cannot be played is named and the others play`(refusal: Refusal) async throws {
        let stage = try await Stage()
        let path = stage.folder.path(refusal.name)
        switch refusal.content {
        case .missing: break
        case .folder:
            try stage.folder.write("words", to: refusal.name + "/readme.txt")
            try stage.folder.makeFolder(refusal.name + "/within")
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .bytes(let bytes): try stage.folder.write(bytes, to: refusal.name)
        }
        try await stage.expectRefused(path, refusal.code, [path, refusal.words])
    }

    @Test(arguments: [
        ("", "playlist"), ("# nothing but a comment\n", "playlist"), ("\u{0}\u{1}\u{2}", "playlist"),
        ("<!DOCTYPE html><p>words", "web page"),
    ])
    func `a list on standard input without music is reported`(list: String, word: String) async throws {
        let stage = try await Stage()
        for (others, status) in [([], 2), ([stage.music], 3)] as [([String], Int32)] {
            let words = Stage.silent + ["--cache-dir", stage.cachePath] + others + ["-"]
            let run = try await stage.run(words, input: list + "\n")
            expectOneSentence(run, ["standard input", word], status: status)
            #expect(run.failureCodes == ["bad-playlist"])
            #expect(run.finished == others.map { _ in 88_200 })
        }
    }

    @Test(arguments: [false, true])
    func `a file that is cut in the middle plays up to the cut`(isOnServer: Bool) async throws {
        let options = MP3Fixtures.Options(seconds: 8, rate: .variable(quality: 4, hasXing: true))
        let whole = try await MP3Fixtures.bytes(options)
        // Within a frame, while the Xing header promises all of them.
        let cut = Array(whole[..<(whole.count * 3 / 5 + 17)])
        let stage = try await Stage(["/cut.mp3": cut])
        let path = try stage.folder.write(cut, to: "cut.mp3")
        let frames = Int64(try await MP3Fixtures.referencePCM(of: path).count / 4)
        #expect(frames > 3 * 44_100)
        // The second run plays it from the cache.
        for isAgain in [false, true] {
            let run = try await stage.play([isOnServer ? stage.secretURL("/cut.mp3") : path, stage.music])
            #expect(run.status == 0 && run.errors == "", "\(run.errors)")
            #expect(run.finished == [frames, 88_200])
            #expect((run.events.last?.requests == 0) == (isAgain || !isOnServer))
            expectHarmless(run)
        }
    }

    @Test func `a file that is cut short while it plays ends as failed`() async throws {
        let stage = try await Stage()
        let song = try await MP3Fixtures.bytes(.init(seconds: 60, rate: .constant(128)))
        let path = try stage.folder.write(song, to: "song.mp3")
        let player = try stage.startPlaying([path])
        try await player.event("playing")
        #expect(truncate(path, off_t(song.count / 4)) == 0)
        let end = try await player.event("ended", of: "seek 0:40")
        #expect(end.reason == "failed" && end.error?.code == "cut")
        #expect(end.error?.message == "\(path): the file was cut short while it was read; play it again")
        #expect(try await player.waitForExit() == 3)
    }
}

extension Stage {
    /// Plays `source` alone, and then between two good tracks, one of them from a server; expects the effects
    /// of bad input from both: one sentence with all of `words`, one failure with `code`, the good tracks
    /// played completely, and only the good one cached.
    func expectRefused(_ source: String, _ code: String, _ words: [String]) async throws {
        let alone = try await play([source])
        expectOneSentence(alone, words, status: 2)
        #expect(alone.failureCodes == [code])
        #expect(alone.events.last?.event == "summary")
        #expect(alone.events.last?.played == 0 && alone.events.last?.failed == 1)
        #expect(try await cachedSources() == [] && objectFiles == [])

        let server = try TestOrigin(["/other.mp3": musicBytes])
        let other = server.url("/other.mp3")
        let among = try await play([music, source, other])
        expectOneSentence(among, words, status: 3)
        #expect(among.failureCodes == [code])
        #expect(among.finished == [88_200, 88_200])
        #expect(among.events.last?.played == 2 && among.events.last?.failed == 1)
        #expect(try await cachedSources() == [other])
        #expect(objectFiles.count == 1 && !indexMentions(badInputSecret))
        await server.stop()
    }

    /// The URL of `path` on this stage's server, with secrets in every place that may hold one.
    func secretURL(_ path: String) -> String {
        url(path).replacing("http://", with: "http://user:\(badInputSecret)@") + "?token=\(badInputSecret)"
    }
}
