import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Reprise

@Suite struct EarlierFilesTests {
    private let home: TemporaryFolder
    private let folder: StateFolder
    private static let names = ["session", "queue", "episodes", "history"]
    /// The files of a session with a feed, a local song and a long track, as the last version with text files
    /// wrote them.
    private static let files = [
        "session": """
        reprise session 1
        queue\t1ee783da739b9eff
        current\t2
        position\t31507
        paused
        volume\t65
        repeat\tall
        gain\ttrack
        origin\thttp://127.0.0.1:18765/
        place\t68504\thttp://127.0.0.1:18765/feed.rss%00guid%252%09x
        place\t48800\thttp://127.0.0.1:18765/feed.rss%00g1
        place\t608267\t/tmp/fix/music/long.mp3
        end

        """,
        "queue": """
        reprise queue 1
        id\t1ee783da739b9eff
        episode\thttp://127.0.0.1:18765/feed.rss\tguid%252%09x\t0\t1795330800\t3600
        track\t100000\thttp://127.0.0.1:18765/new.mp3\tWeather\tGale
        episode\thttp://127.0.0.1:18765/feed.rss\tg1\t1\t1795248000\t0
        track\t100000\thttp://127.0.0.1:18765/old.mp3\tWeather\tFog
        track\t100000\t/tmp/fix/music/a%09b%25.mp3\tКино\tSong %251
        track\t1300000\t/tmp/fix/music/long.mp3\t\tLong tab
        end

        """,
        "episodes": """
        url\thttp://127.0.0.1:18765/feed.rss\tguid%252%09x\thttp://127.0.0.1:18765/new.mp3
        played\thttp://127.0.0.1:18765/feed.rss\tguid%252%09x
        url\thttp://127.0.0.1:18765/feed.rss\tg1\thttp://127.0.0.1:18765/old.mp3

        """,
        "history": """
        seek 1:05
        played 1
        volume 65
        seek 0:30

        """,
    ]
    private static let feed = "http://127.0.0.1:18765/feed.rss"
    private static let gale = feed + "\u{0}guid%2\tx"

    init() throws {
        home = try TemporaryFolder()
        folder = StateFolder(path: home.path("state"))
        for (name, text) in Self.files { try home.write(text, to: "state/" + name) }
    }

    private func read() throws -> SavedState { try folder.read { try SavedState($0, isContinued: true) } }

    private func entries() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }

    private func expectTakenOver(_ state: SavedState) {
        let tracks = state.queue.tracks
        let paths = ["/tmp/fix/music/a\tb%.mp3", "/tmp/fix/music/long.mp3"]
        #expect(
            tracks.map(\.location.savedText)
                == ["new", "old"].map { "http://127.0.0.1:18765/\($0).mp3" } + paths
        )
        #expect(tracks.map(\.tags.title) == ["Gale", "Fog", "Song %1", "Long tab"])
        #expect(tracks.map(\.tags.artist) == ["Weather", "Weather", "Кино", nil])
        #expect(tracks.map(\.duration) == [100, 100, 100, 1_300].map { .seconds($0) })
        let date = { (seconds: Int64, offset: Int64) in InternetDate(seconds: seconds, offset: offset) }
        let episodes = [
            Episode(feed: Self.feed, guid: "guid%2\tx", date: date(1_795_330_800, 3_600), place: 0),
            Episode(feed: Self.feed, guid: "g1", date: date(1_795_248_000, 0), place: 1),
        ]
        #expect(tracks.map(\.episode) == episodes + [nil, nil])
        #expect(state.place?.index == 2 && state.place?.position == .milliseconds(31_507))
        #expect(state.session.isPaused && state.session.volume == 65)
        #expect(state.session.modes == PlayModes(repeatMode: .all, gainMode: .track))
        #expect(state.session.origins == ["http://127.0.0.1:18765/"])
        let places = [Self.gale: 68_504, Self.feed + "\u{0}g1": 48_800, paths[1]: 608_267]
        #expect(state.places.positions == places.mapValues { .milliseconds($0) })
        #expect(state.played == [Self.gale])
        #expect(state.history == ["seek 1:05", "played 1", "volume 65", "seek 0:30"])
    }

    @Test func `the files of earlier versions are taken over with the first change, and stay`() throws {
        expectTakenOver(try read())
        #expect(try entries() == Set(Self.names))
        try folder.change { _ in }
        #expect(try entries() == Set(Self.names + ["state.sqlite"]))
        expectTakenOver(try read())
        for (name, text) in Self.files {
            #expect(try String(contentsOfFile: home.path("state/" + name), encoding: .utf8) == text)
        }
        // From now on they do not count.
        try home.write("played\ta\tb\n", to: "state/episodes")
        #expect(try read().played == [Self.gale])
    }

    @Test(arguments: ["session", "queue"])
    func `a damaged file is ignored, and the others are taken over`(name: String) throws {
        let whole = try #require(Self.files[name])
        let lines = [
            "session": [
                "volume\t101", "volume\t-1", "volume\tx", "current\t-1", "position\t1.5", "repeat\ttwice",
                "position\t99999999999999999999", "gain\tloud", "paused\tyes", "place\t5", "place\tx\ta",
                "origin\tftp://h/", "origin\thttp://u:p@h/", "unknown\t1", "",
            ],
            "queue": [
                "track\t/a", "track\t\trelative\t\t", "track\t\tftp://h/a\t\t", "track\t\thttp://u:p@h/a\t\t",
                "exec\trm", "episode\tf\tg", "episode\tf\tg\tx\t\t\ntrack\t\t/a\t\t",
                "episode\tf\tg\t0\t9999999999999\t0\ntrack\t\t/a\t\t", "track\tx\t/a\t\t",
            ],
        ]
        var texts = ["", "rubbish", String(whole.dropLast(5)), whole.replacing(" 1\n", with: " 2\n")]
        for line in lines[name] ?? [] where !line.isEmpty {
            texts.append(whole.replacing("\nend\n", with: "\n\(line)\nend\n"))
        }
        for text in texts {
            try home.write(text, to: "state/" + name)
            let state = try read()
            let subject = Comment(rawValue: String(text.suffix(60)))
            #expect((state.session == SavedSession()) == (name == "session"), subject)
            #expect(state.queue.tracks.isEmpty == (name == "queue"), subject)
            #expect(state.played == [Self.gale] && state.history.count == 4, subject)
        }
    }

    @Test func `if a file cannot be read now, the next change takes all over`() throws {
        let path = home.path("state/queue")
        try FileManager.default.removeItem(atPath: path)
        // A regular file by its status, of which the first page cannot be read.
        symlink("/proc/self/mem", path)
        #expect(throws: MediaError.self) { try read() }
        let error = #expect(throws: MediaError.self) { try folder.change { _ in } }
        #expect(error?.description.contains("state/queue: ") == true)
        try FileManager.default.removeItem(atPath: path)
        try home.write(try #require(Self.files["queue"]), to: "state/queue")
        try folder.change { _ in }
        expectTakenOver(try read())
    }

    @Test func `the place in another queue does not count`() throws {
        let tracks = String(repeating: "track\t\t/a.mp3\t\t\n", count: 3)
        try home.write("reprise queue 1\nid\tother\n\(tracks)end\n", to: "state/queue")
        let state = try read()
        #expect(state.queue.tracks.count == 3 && state.place == nil && state.session.volume == 65)
    }

    @Test func `of the episodes, lines that are cut or unknown are ignored`() throws {
        let text =
            "played\tf\t1\nplayed\tx\n\nseen\ta\tb\nplayed\tf\t2\nunplayed\tf\t2\nurl\tf\t1\thttp://h/a\npla"
        try home.write(text, to: "state/episodes")
        let state = try read()
        #expect(state.played == ["f\u{0}1"])
        #expect(state.queue.tracks.count == 4)
    }

    @Test func `what is no text file of a sensible size is ignored`() throws {
        let path = home.path("state/queue")
        for make in [{ mkfifo($0, 0o600) }, { mkdir($0, 0o700) }] as [(String) -> CInt] {
            try FileManager.default.removeItem(atPath: path)
            #expect(make(path) == 0)
            #expect(try read().queue.tracks.isEmpty && read().session.volume == 65)
        }
        try FileManager.default.removeItem(atPath: path)
        try home.write([0xFF, 0xFE] as [UInt8], to: "state/queue")
        #expect(try read().queue.tracks.isEmpty)
        truncate(path, off_t(64 << 20) + 1)
        #expect(try read().queue.tracks.isEmpty)
    }
}
