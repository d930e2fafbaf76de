import Media
import Testing

@testable import Reprise

@Suite struct SavedStateTests {
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
        let read = try SavedQueue(parsing: SavedQueue(id: "5f", tracks: tracks).text)
        #expect(read.id == "5f" && Set(read.tracks.map(\.id)).count == 3)
        for (read, written) in zip(read.tracks, tracks) {
            #expect(read.location == written.location && read.tags == written.tags)
            #expect(read.duration == written.duration && read.episode == written.episode)
        }
    }

    @Test func `a session is read back as it was written`() throws {
        var session = SavedSession()
        session.queueID = "5f"
        session.current = 3
        session.position = .milliseconds(12_345)
        session.isPaused = true
        session.volume = 35
        session.repeatMode = .all
        session.isShuffled = true
        session.gainMode = .album
        session.origins = ["https://h.example/"]
        session.places.set(.seconds(3_600), for: "https://h.example/42.mp3")
        #expect(try SavedSession(parsing: session.text) == session)
        #expect(try SavedSession(parsing: SavedSession().text) == SavedSession())
    }

    @Test func `no name and no password of a server is written`() throws {
        let track = try Self.track("https://me:secret@h.example/a.mp3")
        let text = SavedQueue(id: "1", tracks: [track]).text
        #expect(text.contains("https://h.example/a.mp3") && !text.contains("secret") && !text.contains("me:"))
    }

    @Test(arguments: [
        "", "reprise queue 1\n", "reprise queue 2\nend\n", "reprise session 1\nend\n",
        "reprise queue 1\nid\t5\ntrack\t\t/a\t\t\n", "reprise queue 1\ntrack\t\trelative\t\t\nend\n",
        "reprise queue 1\ntrack\t\tftp://h/a\t\t\nend\n", "reprise queue 1\ntrack\t/a\nend\n",
        "reprise queue 1\ntrack\t\thttp://u:p@h/a\t\t\nend\n", "reprise queue 1\nexec\trm\nend\n",
        "reprise queue 1\nepisode\t\tg\t0\t\t\nend\n",
        "reprise queue 1\nepisode\tf\tg\t0\t9999999999999\t0\nend\n",
        "reprise queue 1\nepisode\tf\tg\nend\n",
        "reprise queue 1\ntrack\t\t/a%zz\t\t\nend\n", "reprise queue 1\ntrack\t\t/a%0\t\t\nend\n",
    ])
    func `a cut queue, one of another version and one with invalid lines are refused`(text: String) {
        #expect(throws: StateError.self) { try SavedQueue(parsing: text) }
    }

    @Test(arguments: [
        "volume\t101", "volume\t-1", "volume\tx", "current\t-1", "position\t-5",
        "position\t99999999999999999999", "repeat\ttwice", "gain\tloud", "paused\tyes", "place\t5",
        "origin\tftp://h/", "origin\thttp://u:p@h/", "place\tx\thttp://h/",
    ])
    func `a session with an impossible value is refused`(line: String) {
        #expect(throws: StateError.self) { try SavedSession(parsing: "reprise session 1\n\(line)\nend\n") }
    }

    @Test func `titles with control characters are made harmless`() throws {
        let text = "reprise queue 1\nid\t1\ntrack\t\t/a\t\t%1b]0;owned%07\nend\n"
        #expect(try SavedQueue(parsing: text).tracks[0].tags.title == "\u{FFFD}]0;owned\u{FFFD}")
    }

    @Test func `only the middle of a long track is remembered, until it is heard to its end`() {
        var places = ResumePlaces()
        let hour = Duration.seconds(3_600)
        places.heard("short", at: .seconds(600), of: .seconds(20 * 60))
        places.heard("long", at: .seconds(29), of: hour)
        places.heard("live", at: .seconds(600), of: nil)
        #expect(places.all.isEmpty)
        places.heard("long", at: .seconds(1_800), of: hour)
        #expect(places.position(of: "long") == .seconds(1_800))
        // Playing its start briefly does not remove the saved position.
        places.heard("long", at: .seconds(3), of: hour)
        #expect(places.position(of: "long") == .seconds(1_800))
        places.heard("long", at: hour - .seconds(29), of: hour)
        #expect(places.position(of: "long") == nil)
        // Of an episode, however short it is.
        places.heard("episode", at: .seconds(300), of: .seconds(600), isEpisode: true)
        #expect(places.position(of: "episode") == .seconds(300))
    }

    @Test func `the places heard last are kept, at most 500`() {
        var places = ResumePlaces()
        for number in 0..<600 { places.set(.seconds(number), for: "\(number)") }
        #expect(places.all.count == 500)
        #expect(places.all.first?.location == "100" && places.all.last?.location == "599")
        places.set(.seconds(1), for: "100")
        #expect(places.all.last?.location == "100" && places.all.count == 500)
    }

    @Test func `a change is saved at once, a position every half minute, and nothing when idle`() {
        var pace = SavePace()
        var session = SavedSession()
        func due(_ seconds: Range<Int>, isMoving: Bool, lowering: Int = 0) -> [Int] {
            seconds.filter { second in
                session.volume -= lowering
                return pace.due(PlayerSnapshot(), session, isMoving: isMoving, at: .seconds(second)) != nil
            }
        }
        #expect(due(0..<100, isMoving: true) == [0, 30, 60, 90])
        #expect(due(100..<1_000, isMoving: false).isEmpty)
        // A key that is held down does not cause a write each time.
        #expect(due(1_000..<1_006, isMoving: false, lowering: 1) == [1_000, 1_002, 1_004])
        // The tags of a large folder are read for minutes; each save writes the whole queue.
        var player = PlayerSnapshot()
        let learning = (2_000..<2_100).filter { second in
            player.learned[Track.ID(UInt64(second))] = TrackFacts(duration: .seconds(1))
            return pace.due(player, session, isMoving: false, at: .seconds(second)) != nil
        }
        #expect(learning == [2_000, 2_030, 2_060, 2_090])
    }

    @Test func `a session begins where the last one was left, unless something is to be played`() throws {
        let tracks = [try Self.track("/a.mp3"), try Self.track("/b.mp3")]
        var last = LastSession(queue: SavedQueue(id: "1", tracks: tracks))
        last.session.isPaused = true
        last.session.queueID = "1"
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
        // If the position belongs to another queue, this one begins at its start.
        last.queue.id = "2"
        let placeless = Beginning(options: try Options.parsed(), last: last)
        #expect(placeless.tracks.count == 2 && placeless.start == nil)
    }

    @Test func `the URL requested first is that of the queue's track, or else the first source`() throws {
        let tracks = [try Self.track("/a.mp3"), try Self.track("http://h.example/b.mp3")]
        let last = LastSession(queue: SavedQueue(tracks: tracks))
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
