import Media
@testable import TerminalUI
import Testing

struct ScreenViewTests {
    private static func screen(
        _ columns: Int = 80,
        _ rows: Int = 10,
        glyphs: Glyphs = .unicode,
        player: PlayerSnapshot = sampleSnapshot(),
        keys: String = ""
    ) -> [String] {
        var state = screenState(player, columns: columns, rows: rows)
        state.type(keys)
        return ScreenView(glyphs: glyphs).draw(state).lines
    }

    @Test func `the open tab stands on a background of its own, a column wider on both sides`() {
        for (keys, place) in [("", 0..<9), ("3", 20..<29)] {
            var state = screenState(sampleSnapshot(), columns: 80, rows: 24)
            state.type(keys)
            let row = ScreenView(glyphs: .unicode).draw(state)[row: 0]
            #expect(row.indices.filter { row[$0].ground == .selected } == place.map { row.startIndex + $0 })
        }
    }

    @Test func `only what is heard or about to be is green, and what failed last is red`() {
        let states: [(PlayerSnapshot.State, hasFailed: Bool, Style)] = [
            (.playing, false, .playing), (.paused, false, .playing), (.opening, true, .playing),
            (.stopped, false, .normal), (.ended, false, .normal), (.ended, true, .error),
        ]
        for (playing, hasFailed, style) in states {
            let player = sampleSnapshot { player in
                player.state = playing
                let current = player.currentTrack?.id ?? Track.ID(0)
                if hasFailed { player.failures[current] = MediaError(.notFound, "a", "gone") }
            }
            let state = screenState(player, columns: 80, rows: 24)
            let buffer = ScreenView(glyphs: .unicode).draw(state)
            let styles = [1, 3].map { buffer[column: $0, row: state.layout.nowPlayingRow ?? 0].style }
            #expect(styles == [style, style], "\(playing)")
        }
    }

    @Test func `eighty columns by twenty-four rows`() {
        let expected = """
             1 Queue  2 Playing  3 Cache  4 Network  5 Messages  6 Help            4 tracks
               # TITLE                           ARTIST                 CACHED         TIME
               1 Morning                         Edda                   ┈┈┈┈┈┈┈┈┈┈     3:05
             ▶ 2 夜の音楽                        東京アンサンブル       ━━┈┈━━━╍╍┈  1:02:05
             ✗ 3 gone   the server has no such file (404)               ┈┈┈┈┈┈┈┈┈┈
               4 cafe\u{301} de nuit et de jour                                ┈┈┈┈┈┈┈┈┈┈     1:01













             ▶ 夜の音楽 – 東京アンサンブル                                 ~31:02 / 1:02:05
                                                    ▌
             ███████████████████···········█████████▌▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▒▒▒▒▒▒▒▒▒▒▒·········
             Playing  vol 80%  repeat all  buffer 0:42  fetched 1.0 MB           ↓ 312 kB/s
             reconnected to music.example
            """
        #expect(Self.screen(80, 24) == lines(expected))
    }

    @Test func `forty columns by ten rows`() {
        let expected = """
             1 Queue  2  3  4  5  6        4 tracks
               1 Morning – Edda      ┈┈┈┈┈     3:05
             ▶ 2 夜の音楽 – 東京…    ━┈━╍╍  1:02:05
             ✗ 3 gone   the serve…   ┈┈┈┈┈
               4 cafe\u{301} de nuit et …   ┈┈┈┈┈     1:01

             ▶ 夜の音楽 – 東京ア…  ~31:02 / 1:02:05
             █████████······████▌▄▄▄▄▄▄▄▄▒▒▒▒▒▒····
             Playing  vol 80%            ↓ 312 kB/s
             reconnected to music.example
            """
        #expect(Self.screen(40, 10) == lines(expected))
    }

    @Test func `two hundred columns by sixty rows give artists a column of their own`() {
        let screen = Self.screen(200, 60)
        #expect(screen.count == 60)
        func repeated(_ sign: String, _ count: Int) -> String { String(repeating: sign, count: count) }
        let map = repeated("┈", 10) + "     3:05"
        let row =
            "   1 Morning" + repeated(" ", 89) + "Edda" + repeated(" ", 65) + "MP3" + repeated(" ", 7) + map
        #expect(screen[2] == row)
        let titles = "#TITLEARTISTYEARFORMATCACHEDTIME"
        #expect(screen[1].filter { $0 != " " } == titles)
        let cached = " " + repeated("█", 49) + repeated("·", 26) + repeated("█", 24)
        #expect(screen[57] == cached + "▌" + repeated("▄", 48) + repeated("▒", 26) + repeated("·", 24))
        #expect(screen[59] == " reconnected to music.example")
    }

    @Test func `the window's width decides which columns there are, and a long list has a scroll bar`() {
        func titles(_ columns: Int) -> String {
            var state = screenState(queueSnapshot(albumTracks([10, 10, 10])), columns: columns)
            state.show { $0.currentIndex = 0 }
            let screen = state.screen
            #expect(screen[state.layout.listRows].allSatisfy { $0.hasSuffix("┃") || $0.hasSuffix("│") })
            #expect(screen[2].hasSuffix("┃") && screen[state.layout.listRows.upperBound - 1].hasSuffix("│"))
            return screen[1].split(separator: " ").joined(separator: " ")
        }
        #expect(titles(79) == "" && titles(80) == "# TITLE ARTIST CACHED TIME")
        #expect(titles(110) == "# TITLE ARTIST ALBUM CACHED TIME")
        #expect(titles(150) == "# TITLE ARTIST ALBUM YEAR FORMAT CACHED TIME")
    }

    @Test func `the totals of the queue stand at the right, as much of them as fits`() {
        var player = queueSnapshot(albumTracks([10, 10]))
        player.availability = [
            player.tracks[3].id: Availability(stored: ByteRangeSet(0..<10), length: 10),
            player.tracks[4].id: Availability(stored: ByteRangeSet(0..<9), length: 10),
        ]
        #expect(screenState(player, columns: 120).screen[0].hasSuffix("  20 tracks · 20:00 · 1 cached"))
        #expect(screenState(player, columns: 80).screen[0].hasSuffix("  20 tracks · 20:00"))
        #expect(screenState(player, columns: 74).screen[0].hasSuffix("  20 tracks"))
        player.tracks[0].duration = nil
        var state = screenState(player, columns: 120)
        state.show { player in
            player.availability[player.tracks[4].id]?.length = 9
            player.availabilityRevision = 1
        }
        #expect(state.screen[0].hasSuffix("  20 tracks · ~19:00 · 2 cached"))
    }

    @Test func `ASCII, time left and a command being typed`() {
        let expected = """
             1 Queue  2 Playing  3 Cache  4 Network  5 Messages  6 Help
             > 2 夜の音楽 - 東京アンサンブル       ##..###++.  1:02:05 #
             -- seek M:SS ---------------------------------------------
             seek; also 50% or +10
             > 夜の音楽 - 東京アンサンブル            ~-31:03 / 1:02:05
             ==============........=======|-------------++++++++.......
             Playing  vol 80%  repeat all  buffer 0:42     net 312 kB/s
             :seek 1_
            """
        #expect(Self.screen(60, 8, glyphs: .ascii, keys: "t:seek 1") == lines(expected))
    }

    @Test(arguments: [
        (1, 1, ["▶"]), (15, 2, ["▶ ~31:02", ""]), (16, 2, [" ▶ 夜の音楽", " reconnected t…"]),
        (20, 3, [" ▶ 夜の音楽  ~31:02", " reconnected to", " music.example"]),
    ])
    func `a small window shows what matters most`(columns: Int, rows: Int, expected: [String]) {
        #expect(Self.screen(columns, rows) == expected)
    }

    @Test(arguments: [
        ("/abc", 30, "/abc_"), ("fabc", 30, "filter: abc_"), (":abc", 30, ":abc_"), ("/abcdef", 4, "def_"),
    ])
    func `a window of one row shows the end of the typed text`(keys: String, columns: Int, expected: String) {
        #expect(Self.screen(columns, 1, glyphs: .ascii, keys: keys) == [expected])
    }

    @Test(arguments: ViewName.allCases)
    func `every view is drawn at every size, in both sets of signs`(view: ViewName) {
        for columns in [0, 1, 2, 15, 16, 17, 33, 40, 80, 200, 500] {
            for rows in [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 24, 60, 200] {
                // Signs and keys alternate: they depend on neither size.
                let glyphs = (columns + rows) % 2 == 0 ? Glyphs.unicode : .ascii
                for keys in ["", (columns + rows) % 3 == 0 ? "G" : "jP:add some long words"] {
                    var state = fullState(columns: columns, rows: rows)
                    state.type(view.keys + keys)
                    #expect(state.view == view)
                    #expect(ScreenView(glyphs: glyphs).draw(state).lines.count == rows)
                }
            }
        }
    }

    @Test func `an empty queue shows how to begin and what opens, or that the playlist is being read`() {
        var player = PlayerSnapshot()
        let expected = """
             The queue is empty. To begin:

                     paste  a URL or a path, to add it
                         a  type a URL, a file or a folder (Tab completes)
                         3  choose from the cached tracks

             What it opens

               album.m3u8   playlists: M3U, PLS, XSPF
               /music/      a folder on a web server
               feed.rss     a podcast, or an OPML file of podcasts
               :8000/live   a radio stream, with its titles
               ~/Music      files on this machine
            """
        #expect(Self.screen(80, 24, player: player)[2...14] == lines(expected)[...])
        let small = Self.screen(80, 10, player: player)
        #expect(small[1...5] == lines(expected)[...4])
        #expect(small[8] == " Stopped  vol 100%  fetched 0 B  from cache 0 B")
        #expect(small[9] == " ? help   a add   3 cached tracks   : command   Tab views   q quit")
        player.state = .opening
        #expect(Self.screen(player: player)[1] == " Reading the playlist…")
    }

    @Test(arguments: [
        ("", "  3000 tracks"), ("G", "  3000 tracks"), ("f29\n", " 159 of 3000"),
        ("6", " 1/5"), ("6 ", " 1/5"), ("6j", " 1/5"), ("6G", " 5/5"),
    ])
    func `a long queue shows its length or the number of matches, and the help its page`(
        keys: String,
        amount: String
    ) {
        var player = queueSnapshot(
            (0..<3_000).map { track(UInt64($0), "https://a.example/\($0)", seconds: nil) }
        )
        player.state = .paused
        var state = screenState(player)
        state.type(keys)
        while state.hasWork { _ = state.apply(.idle) }
        #expect(state.screen[0].hasSuffix(amount), "\(state.screen[0])")
        // All of a short list is in view.
        state.show { ($0.tracks, $0.queueRevision) = (manyTracks(9), 1) }
        state.type("⎋⎋")
        #expect(state.screen[0].hasSuffix("   9 tracks"))
    }

    @Test(
        arguments: [
            (.playing, " ▶ 3 gone"), (.paused, " ‖ 3 gone"), (.buffering, " ◌ 3 gone"),
            (.opening, " ✗ 3 gone   the server has no such file (404)"),
            (.ended, " ✗ 3 gone   the server has no such file (404)"),
        ] as [(PlayerSnapshot.State, String)]
    )
    func `a failed track shows no error while it plays`(state: PlayerSnapshot.State, row: String) {
        let player = sampleSnapshot { ($0.currentIndex, $0.state) = (2, state) }
        #expect(screenState(player).screen[4].hasPrefix(row))
    }

    @Test func `tags read from a track are shown after it played`() {
        let tags = TrackTags(title: "Café", artist: "Trio")
        let player = sampleSnapshot {
            $0.learned = [Track.ID(4): TrackFacts(tags: tags, duration: .seconds(62))]
        }
        let row = screenState(player).screen[5]
        #expect(row.hasPrefix("   4 Café  ") && row.contains("  Trio  ") && row.hasSuffix("  1:02"))
    }

    @Test func `the bottom line shows hints if there is no message`() {
        for (keys, columns, expected) in [
            ("", 80, " reconnected to music.example"),
            ("j", 80, " ? help   Enter play   / search   f filter   d remove   Tab views   q quit"),
            ("j", 44, " ? help   Enter play   Tab views   q quit"), ("j", 20, " ? help   q quit"),
            ("j", 30, " ? help   Enter play   q quit"), ("j", 21, " ? help   Enter play"),
            ("3", 80, " ? help   Enter add to queue   d delete   P pin   Esc back   q quit"),
        ] {
            #expect(Self.screen(columns, keys: keys).last == expected)
        }
    }

    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "1 kB"), (999_499, "999 kB"), (1_000_000, "1.0 MB"),
            (45_678_901, "45.7 MB"), (123_456_789, "123 MB"), (9_876_543_210, "9.9 GB"), (-5, "0 B"),
        ] as [(Int64, String)]
    )
    func `bytes are shown in decimal units`(bytes: Int64, expected: String) {
        var player = PlayerSnapshot()
        player.totalFetchedBytes = bytes
        #expect(Self.screen(player: player)[8].contains("fetched \(expected)  from cache"))
    }
}
