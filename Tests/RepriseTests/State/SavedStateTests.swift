import Foundation
import Media
import Playback
import System
import TestSupport
import Testing

@testable import Reprise

@Suite struct SavedStateTests {
    private let home: TemporaryFolder
    private let folder: StateFolder

    init() throws {
        home = try TemporaryFolder()
        folder = StateFolder(path: home.path("state"))
    }

    private static func track(_ location: String, _ tags: TrackTags = TrackTags()) throws -> Track {
        let place =
            location.hasPrefix("/") ? .file(location) : ResourceLocation.web(try #require(WebURL(location)))
        return Track(id: Track.ID(7), location: place, tags: tags, duration: .milliseconds(1_500))
    }

    @Test func `a queue is read back as it was written`() throws {
        var silent = try Self.track("https://h.example/b%20c.mp3?x=1&y=%09")
        silent.duration = nil
        silent.episode = Episode(
            feed: "https://h.example/feed?key=1",
            guid: "a\tb",
            date: InternetDate(seconds: -5, offset: -3_600),
            place: 4
        )
        var undated = silent
        undated.episode = Episode(feed: "/a feed.xml", guid: "", date: nil, place: 0)
        let tracks = [
            try Self.track("/music/a\tb\n100%.mp3", TrackTags(title: "桜\u{301}", artist: "Кино")), silent,
            undated,
        ]
        let queue = SavedQueue(id: "5f", tracks: tracks)
        try folder.change { try $0.save(queue, over: SavedQueue()) }
        let read = try folder.read { try $0.queue() }
        #expect(read.id == "5f" && Set(read.tracks.map(\.id)).count == 3)
        for (read, written) in zip(read.tracks, tracks) {
            #expect(read.location == written.location && read.tags == written.tags)
            #expect(read.duration == written.duration && read.episode == written.episode)
        }
    }

    @Test
    func `tracks stay known as those of a web folder or a list until an earlier version replaces the queue`()
        throws
    {
        let lists = [nil, nil, "/lists/b.m3u", "/lists/b.m3u", "https://h.example/c.m3u", nil]
        let tracks = try lists.enumerated().map { number, list in
            var track = try Self.track("https://h.example/\(number).mp3")
            track.isListed = [0, 1, 5].contains(number)
            track.list = list
            return track
        }
        try folder.change { try $0.save(SavedQueue(id: "a", tracks: tracks), over: SavedQueue()) }
        let read = try folder.read { try $0.queue() }.tracks
        #expect(read.map(\.isListed) == [true, true, false, false, false, true])
        #expect(read.map(\.list) == lists)
        let earlier = try SQLiteConnection(path: folder.databasePath)
        try earlier.execute("UPDATE session SET queue = 'b'")
        #expect(try folder.read { try $0.queue() }.tracks.allSatisfy { !$0.isListed && $0.list == nil })
    }

    @Test func `downloads are read back as they were written, also from a state without their table`()
        throws
    {
        var session = SavedSession()
        try folder.change { try $0.save(session) }
        #expect(try folder.read { try $0.session() }.downloads.isEmpty)
        let song = try Self.track("https://h.example/a.mp3", TrackTags(title: "A", artist: "B"))
        let other = try Self.track("https://h.example/b.mp3")
        session.downloads = [
            SavedDownload(of: song, isPaused: true), SavedDownload(of: other, isPaused: false),
        ]
        try folder.change { try $0.save(session) }
        let read = try folder.read { try $0.session() }.downloads
        #expect(read == session.downloads && Set(read.map(\.track.id)).count == 2)
        #expect(read[0].track.tags == song.tags)
        session.downloads = []
        try folder.change { try $0.save(session) }
        #expect(try folder.read { try $0.session() }.downloads.isEmpty)
    }

    @Test func `a download that failed is tried again by the next session only if the network was at fault`()
        throws
    {
        let track = try Self.track("https://h.example/a.mp3")
        func saved(_ code: MediaError.Code) -> SavedDownload? {
            SavedDownload(DownloadReport(track, phase: .failed(MediaError(code, "a", "no"))), nil)
        }
        #expect(saved(.httpStatus) == nil && saved(.notAudio) == nil)
        #expect(saved(.timedOut)?.report.phase == .waiting)
        let paused = SavedDownload(DownloadReport(track, phase: .paused), nil)
        #expect(paused?.report.phase == .paused)
        #expect(SavedDownload(DownloadReport(track, isAhead: true), nil) == nil)
    }

    @Test
    func `of a changed queue, the tracks that differ are written, and those of another player are replaced`()
        throws
    {
        let tracks = try (0..<5).map { number in
            var track = try Self.track("/\(number).mp3")
            track.id = Track.ID(UInt64(number))
            return track
        }
        func read() throws -> [String] { try folder.read { try $0.queue() }.tracks.map(\.location.savedText) }
        var first = SavedQueue(id: "1", tracks: tracks)
        try folder.change { try $0.save(first, over: SavedQueue()) }
        var second = SavedQueue(id: "2", tracks: Array(tracks[1...3]))
        second.facts = [tracks[2].id: TrackFacts(tags: TrackTags(title: "learned"))]
        try folder.change { try $0.save(second, over: first) }
        #expect(try read() == ["/1.mp3", "/2.mp3", "/3.mp3"])
        #expect(try folder.read { try $0.queue() }.tracks[1].tags.title == "learned")
        // The first player does not know of the second queue.
        first.facts = [tracks[0].id: TrackFacts(duration: .seconds(1))]
        let third = SavedQueue(id: "3", tracks: tracks.reversed())
        try folder.change { try $0.save(third, over: first) }
        #expect(try read() == (0..<5).reversed().map { "/\($0).mp3" })
        // Nothing differs, so nothing is written.
        try folder.change { tables in
            let before = tables.connection.allChangeCount
            try tables.save(third, over: third)
            #expect(tables.connection.allChangeCount == before)
            try tables.save(SavedQueue(id: "4", tracks: third.tracks.dropLast()), over: third)
            #expect(tables.connection.allChangeCount == before + 2, "a track less, and the name of the queue")
        }
    }

    @Test func `a session is read back as it was written`() throws {
        var session = SavedSession()
        #expect(try folder.read { try $0.session() } == session)
        session.current = 3
        session.position = .milliseconds(12_345)
        session.isPaused = true
        session.volume = 35
        session.device = "usb"
        session.modes = PlayModes(isShuffled: true, repeatMode: .all, gainMode: .album)
        session.origins = ["https://h.example/"]
        try folder.change { [session] in try $0.save(session) }
        #expect(try folder.read { try $0.session() } == session)
        try folder.change { try $0.save(SavedSession()) }
        #expect(try folder.read { try $0.session() } == SavedSession())
    }

    @Test func `the device of the last session is chosen again, unless the sink names one`() throws {
        var last = SavedSession()
        last.device = "usb"
        for (arguments, device) in [
            ([], "usb"), (["pulse"], "usb"), (["pulse:hdmi"], "hdmi"), (["null"], "usb"),
        ] {
            let options = try Options.parsed(arguments.isEmpty ? [] : ["--sink"] + arguments)
            #expect(PlaybackSettings(options, .screen, last: last).device == device)
        }
    }

    @Test func `no name and no password of a server is written`() throws {
        let track = try Self.track("https://me:secret@h.example/a.mp3")
        try folder.change { try $0.save(SavedQueue(id: "1", tracks: [track]), over: SavedQueue()) }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.databasePath))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("https://h.example/a.mp3") && !text.contains("secret") && !text.contains("me:"))
    }

    @Test(arguments: [
        "UPDATE session SET volume = 101", "UPDATE session SET volume = -1",
        "UPDATE session SET current = -1", "UPDATE session SET repeat = 'twice'",
        "UPDATE session SET gain = 'loud'", "DELETE FROM session",
        "INSERT INTO origins VALUES ('ftp://h/')", "INSERT INTO origins VALUES ('http://u:p@h/')",
        "UPDATE tracks SET location = 'relative'", "UPDATE tracks SET location = 'ftp://h/a'",
        "UPDATE tracks SET location = 'http://u:p@h/a'", "UPDATE tracks SET place = 7",
        "UPDATE tracks SET feed = 'f', date = 9999999999999", "DROP TABLE places",
        "PRAGMA user_version = 0",
    ])
    func `a state with an impossible value is damaged`(sql: String) throws {
        try folder.change {
            try $0.save(SavedQueue(id: "1", tracks: [try Self.track("/a.mp3")]), over: SavedQueue())
        }
        #expect(try folder.read { try SavedState($0, isContinued: true) }.queue.tracks.count == 1)
        try SQLiteConnection(path: folder.databasePath).execute(sql)
        let error = #expect(throws: SQLiteError.self) {
            try folder.read { try SavedState($0, isContinued: true) }
        }
        #expect(error?.isDamage == true)
    }

    @Test func `titles with control characters are made harmless, and absurd times are limited`() throws {
        try folder.change {
            try $0.save(SavedQueue(id: "1", tracks: [try Self.track("/a.mp3")]), over: SavedQueue())
        }
        let sql = "UPDATE tracks SET title = char(27) || ']0;owned' || char(7), duration = \(Int64.max)"
        try SQLiteConnection(path: folder.databasePath).execute(sql + "; UPDATE session SET position = -5")
        let state = try folder.read { try SavedState($0, isContinued: true) }
        #expect(state.queue.tracks[0].tags.title == "\u{FFFD}]0;owned\u{FFFD}")
        #expect(state.queue.tracks[0].duration == .milliseconds(1 << 38))
        #expect(state.session.position == .zero)
    }

    @Test func `the newest positions, lines and episodes are kept`() throws {
        try folder.change { tables in
            for number in 0..<600 {
                try tables.setPlace(.seconds(number), of: "\(number)")
                try tables.addLine("\(number)")
            }
            try tables.setPlace(.seconds(1), of: "0")
            for number in 0..<50_010 { try tables.setPlayed(true, "\(number)") }
            try tables.setPlayed(true, "0")
            try tables.setPlayed(false, "50000")
        }
        let state = try folder.read { try SavedState($0, isContinued: true) }
        #expect(Set(state.places.positions.keys) == Set(["0"] + (101..<600).map { "\($0)" }))
        #expect(state.places.positions["0"] == .seconds(1))
        #expect(state.history == (100..<600).map { "\($0)" })
        #expect(state.played.count == 50_000)
        #expect(
            state.played.isSuperset(of: ["0", "10", "50009"])
                && state.played.isDisjoint(with: ["9", "50000"])
        )
    }

    @Test func `only tables with new rows are searched for old ones`() throws {
        try folder.change { tables in
            let insert = try tables.connection.statement("INSERT INTO history VALUES (?)")
            for number in 0..<600 { try insert.run("\(number)") }
        }
        try folder.change { tables in
            try tables.save(SavedSession())
            try tables.setPlace(.seconds(1), of: "a")
        }
        #expect(try folder.read { try $0.history() }.count == 600)
        try folder.change { try $0.addLine("600") }
        #expect(try folder.read { try $0.history() } == (101...600).map { "\($0)" })
    }

    @Test func `only the middle of a long track is remembered, until it is heard to its end`() throws {
        var places = ResumePlaces()
        let hour = Duration.seconds(3_600)
        func position(_ path: String) -> Duration? { places.positions[path] }
        func player(at position: Duration, of duration: Duration?) -> PlayerSnapshot {
            var player = PlayerSnapshot()
            player.position = position
            player.duration = duration
            return player
        }
        func hear(_ path: String, at position: Duration, of duration: Duration?) throws {
            places.note(try Self.track(path), of: player(at: position, of: duration))
        }
        try hear("/short", at: .seconds(600), of: .seconds(20 * 60))
        try hear("/long", at: .seconds(29), of: hour)
        try hear("/live", at: .seconds(600), of: nil)
        #expect(places == ResumePlaces())
        try hear("/long", at: .seconds(1_800), of: hour)
        #expect(position("/long") == .seconds(1_800))
        // Playing its start briefly does not remove the saved position.
        try hear("/long", at: .seconds(3), of: hour)
        #expect(position("/long") == .seconds(1_800))
        try hear("/long", at: hour - .seconds(29), of: hour)
        #expect(position("/long") == nil && places.unsaved == ["/long"])
        // Of an episode, however short it is.
        var episode = try Self.track("/episode")
        episode.episode = Episode(feed: "/feed", guid: "1", date: nil, place: 0)
        places.note(episode, of: player(at: .seconds(300), of: .seconds(600)))
        #expect(position("/feed\u{0}1") == .seconds(300))
    }

    @Test func `a change is saved at once, a position every half minute, and nothing when idle`() {
        var pace = SavePace()
        var player = PlayerSnapshot()
        func due(_ seconds: Range<Int>, _ state: PlayerSnapshot.State, lowering: Int = 0) -> [Int] {
            player.state = state
            // A change of the state is a change, too.
            return seconds.filter { second in
                player.volume -= lowering
                return pace.due(player, at: .seconds(second)) == .seconds(second)
            }
        }
        #expect(due(0..<100, .playing) == [0, 30, 60, 90])
        #expect(due(100..<1_000, .paused) == [100])
        // A key that is held down does not cause a write each time.
        player.volume = 90
        let held = (0..<30).filter { tenth in
            player.volume -= 1
            let now = Duration.seconds(1_000) + .milliseconds(100 * tenth)
            return pace.due(player, at: now) == now
        }
        #expect(held == [0, 10, 20])
        #expect(pace.due(player, at: .milliseconds(1_002_950)) == .seconds(1_003), "the last change follows")
        // The tags of a large folder are read for minutes.
        let learning = (2_000..<2_100).filter { second in
            player.learned[Track.ID(UInt64(second))] = TrackFacts(duration: .seconds(1))
            return pace.due(player, at: .seconds(second)) == .seconds(second)
        }
        #expect(learning == [2_000, 2_030, 2_060, 2_090])
    }

    @Test func `a session begins where the last one was left, unless something is to be played`() throws {
        let tracks = [try Self.track("/a.mp3"), try Self.track("/b.mp3")]
        var last = SavedState()
        last.queue = SavedQueue(id: "1", tracks: tracks)
        last.session.isPaused = true
        last.session.current = 1
        last.session.position = .seconds(12)
        var options = try Options.parsed()
        let resumed = Beginning(options: options, last: last)
        #expect(resumed.tracks.count == 2 && resumed.start == 2 && resumed.position == .seconds(12))
        #expect(resumed.isPaused)
        options.start = 1
        let first = Beginning(options: options, last: last)
        #expect(first.start == 1 && first.position == .zero)
        options.sources = ["/c.mp3"]
        let other = Beginning(options: options, last: last)
        #expect(other.tracks.isEmpty && !other.isPaused && other.position == .zero)
        // Without a place in the queue, it begins at its start.
        last.session.current = 2
        let placeless = Beginning(options: try Options.parsed(), last: last)
        #expect(placeless.tracks.count == 2 && placeless.start == nil)
    }

    @Test func `the URL requested first is that of the queue's track, or else the first source`() throws {
        let tracks = [try Self.track("/a.mp3"), try Self.track("http://h.example/b.mp3")]
        var last = SavedState()
        last.queue.tracks = tracks
        func firstURL(start: Int?, _ sources: [String] = []) throws -> String? {
            var options = try Options.parsed(sources)
            options.start = start
            return Beginning(options: options, last: last).firstURL(of: sources)?.requestString
        }
        #expect(try firstURL(start: 2) == "http://h.example/b.mp3")
        for start in [nil, 9] { #expect(try firstURL(start: start) == nil) }
        let first = "http://h.example/c.mp3"
        let second = "http://h.example/d.mp3"
        #expect(try firstURL(start: nil, [first, second]) == first)
        #expect(try firstURL(start: nil, ["/a.mp3", first]) == nil)
    }
}
