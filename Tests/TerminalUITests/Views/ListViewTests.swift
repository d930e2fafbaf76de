import Media
import Testing

@testable import TerminalUI

/// The views other than the queue, as a user sees them.
struct ListViewTests {
    private func screen(_ state: UIState, glyphs: Glyphs = .unicode) -> [String] {
        ScreenView(glyphs: glyphs, timeOfDay: minutes).draw(state).lines
    }

    private func list(
        _ view: ViewName,
        columns: Int = 80,
        rows: Int = 24,
        player: PlayerSnapshot = sampleSnapshot(),
        glyphs: Glyphs = .unicode
    ) -> [String] {
        var state = fullState(columns: columns, rows: rows, player: player)
        state.type("\(view.number)")
        return Array(
            screen(state, glyphs: glyphs)[state.layout.listRows].reversed().drop(while: \.isEmpty).reversed()
        )
    }

    private var playing: PlayerSnapshot {
        var player = sampleSnapshot()
        var info = StreamInfo(
            format: AudioFormat(sampleRate: 44_100, channelCount: 2),
            bytesPerSecond: 24_000
        )
        info.codec = "MPEG-1 Layer III, VBR"
        info.isDurationExact = true
        info.tags = TrackTags(album: "夜", year: "2024", number: "2/9")
        player.info = info
        player.load.requestCount = 3
        player.load.fetchedBytes = 5_000
        player.availability[Track.ID(2)] = Availability(storedBytes: 5_000, length: 8_000, isPinned: true)
        return player
    }

    @Test func `the view of the current track shows all known facts`() {
        let expected = """
             夜の音楽
             東京アンサンブル – 夜, 2024 – track 2/9

             Position    ~31:02 (estimated)
             Length      1:02:05
             Format      MPEG-1 Layer III, VBR, 44.1 kHz, stereo
             Bit rate    192 kbit/s
             Source      music.example
                         https://music.example/a/02.mp3
             Cached      5 kB of 8 kB, buffer 0:42, pinned
             Downloaded  5 kB in 3 requests, 312 kB/s
             Next        gone.mp3
            """
        #expect(list(.playing, player: playing) == lines(expected))
        var exact = playing
        exact.isExact = true
        exact.isShuffled = true
        #expect(list(.playing, player: exact)[3] == " Position    31:02 (exact)")
        #expect(!list(.playing, player: exact).contains { $0.hasPrefix(" Next") })
    }

    @Test func `the cache shows size, share, map, age and pin of each track`() {
        let expected = """
                SIZE  CACHED  MAP         LAST PLAYED  PIN  TITLE
              8.0 MB    62 %  ██▒▒███▒··     just now       夜の音楽 – 東京アンサンブル
              2.5 MB   100 %  ██████████           3d  ♦    https://music.example/a/01%20Mo…
                   ?       ?                       2h       https://music.example/signed.mp…
            """
        #expect(list(.cache) == lines(expected))
        let narrow = """
                SIZE  CACHED  PIN  TITLE
              8.0 MB    62 %       夜の音楽 - 東京~
              2.5 MB   100 %  P    https://music.ex~
                   ?       ?       https://music.ex~
            """
        #expect(list(.cache, columns: 40, rows: 10, glyphs: .ascii).prefix(4).map { $0 } == lines(narrow))
    }

    @Test func `the network view shows range, purpose, speed and result of each request`() {
        let expected = """
             TIME      WHY             FROM    BYTES    FIRST      RATE  END
             12:1:01   demand           0 B    65 kB    21 ms   65 kB/s  206 02.mp3
             12:1:02   read-ahead     65 kB   1.0 MB    1.0 s            206 cancelled 02.m…
             12:1:03   prefetch         0 B      0 B                     connection-refused…
             12:1:04   retry-later  music.example refuses the connection
             12:1:05   read-ahead      6 kB    500 B    30 ms   500 B/s  … to 7 kB 02.mp3
             12:1:06   prefetch                  0 B                     … 03.mp3
            """
        #expect(list(.network).map { $0 } == lines(expected))
        let wide = list(.network, columns: 200, rows: 60)
        #expect(wide[2].hasSuffix("  206 cancelled 02.mp3 from cdn.example"))
        #expect(wide[4].hasSuffix("retry-later  music.example refuses the connection"))
    }

    @Test func `a rate of any size fits its column`() {
        #expect(ByteText.text(28_500_000, decimalsBelow: 10) == "28 MB")
        #expect(ByteText.text(9_960_000, decimalsBelow: 10) == "9.9 MB")
        for bytes in [0, 999, 999_999, 9_999_999, 999_999_999, 99_999_999_999_999] as [Int64] {
            #expect((ByteText.text(bytes, decimalsBelow: 10) + "/s").count <= 8)
        }
    }

    @Test func `messages show their time, and long ones are wrapped`() {
        var player = sampleSnapshot()
        player.messages = [
            message(1, "Can't find host music.example – check the address (cached music keeps playing)"),
            message(2, "the network is back"),
        ]
        let expected = """
             12:1:00  Can't find host music.example – check the address (cached music keeps
                      playing)
             12:2:00  the network is back
            """
        #expect(list(.messages, player: player).map { $0 } == lines(expected))
        #expect(list(.messages, player: PlayerSnapshot()) == [" No messages yet"])
    }

    @Test func `the help shows all keys and commands, in columns if there is room`() {
        for (columns, rows) in [(40, 90), (80, 50), (200, 60)] {
            let help = list(.help, columns: columns, rows: rows).joined(separator: "\n")
            for binding in KeyMap.standard.bindings { #expect(help.contains(binding.help.string)) }
            for row in CommandTable.rows where row.isListedAsLine {
                #expect(help.contains(":\(row.name) \(row.syntax)") && help.contains(row.help.string))
            }
        }
        #expect(list(.help, columns: 40, rows: 70).first == " Space         play/pause")
        #expect(list(.help)[1].hasPrefix(" >             next track                "))
        let half =
            (KeyMap.standard.bindings.count + 1 + CommandTable.rows.count(where: \.isListedAsLine) + 1) / 2
        #expect(list(.help, columns: 80, rows: 60).count == half)
    }

    @Test func `the network in forty columns by ten rows`() {
        let expected = """
             1  2  3  4 Network  5  6     4 entries
             WHY            BYTES  END
             prefetch         0 B  connection-refus…
             retry-later  music.example refuses the…
             read-ahead     500 B  … to 7 kB 02.mp3
             prefetch         0 B  … 03.mp3
            ▶ 夜の音楽 – 東京アン…  ~31:02 / 1:02:05
            ██████████·····█████▌▄▄▄▄▄▄▄▄▄▒▒▒▒▒·····
            Playing  vol 80%  repeat all
            ? help   j down   k up   Esc back
            """
        var state = fullState(columns: 40, rows: 10)
        state.type("4")
        #expect(screen(state) == lines(expected))
    }

    @Test func `empty views explain themselves`() {
        var state = screenState(PlayerSnapshot())
        state.type("2")
        #expect(screen(state)[2] == " Nothing is playing")
        state.type("4")
        #expect(screen(state)[2] == " No network requests yet")
        state.type("3")
        #expect(screen(state)[2] == " Reading the cache…")
        _ = state.apply(.cache(nil))
        #expect(screen(state)[2] == " No cache in this session")
        var report = CacheContents()
        report.entries = []
        _ = state.apply(.cache(report))
        #expect(screen(state)[2] == " No cached tracks yet")
    }

    @Test(
        arguments: [
            (80, " 1 Queue  2 Playing  3 Cache  4 Network  5 Messages  6 Help"),
            (40, " 1  2  3 Cache  4  5  6"),
            (22, " Cache"), (16, " Cache"),
        ]
    )
    func `the tabs fit any width, and the open one is always named`(columns: Int, expected: String) {
        let tabs = TabLine(open: .cache, columns: columns).tabs
        var line = ""
        for tab in tabs {
            line += String(repeating: " ", count: tab.columns.lowerBound - line.count) + tab.text.string
        }
        #expect(line == expected)
        #expect(tabs.allSatisfy { $0.columns.upperBound <= columns })
    }

    @Test func `hostile text of every source is cut and harmless in every view`() {
        let evil = "\u{1B}[2J\u{9D}52;c;\u{202E}evil\r\n\u{7}" + String(repeating: "界", count: 300)
        var player = sampleSnapshot()
        player.tracks[1].tags = TrackTags(
            title: SafeText(evil),
            artist: SafeText(evil),
            album: SafeText(evil)
        )
        player.failures = [Track.ID(3): SafeText(evil)]
        player.messages = [message(1, SafeText(evil))]
        for view in ViewName.allCases {
            for columns in [16, 40, 80, 200] {
                var state = screenState(player, columns: columns)
                var report = CacheContents()
                report.entries = [
                    CachedTrack(id: CachedTrack.ID(1), source: SafeText(evil), title: SafeText(evil))
                ]
                _ = state.apply(.cache(report))
                let record = JournalRecord(
                    time: .zero,
                    resource: SafeText(evil),
                    event: .decision(.gaveUp, SafeText(evil))
                )
                _ = state.apply(.requests([record], count: 1, underWay: []))
                state.type("\(view.number)")
                let frame = ScreenView(glyphs: .unicode).draw(state)
                for row in 0..<frame.rows {
                    let cells = frame[row: row]
                    #expect(cells.reduce(0) { $0 + $1.width } == columns)
                    #expect(
                        cells.flatMap(\.text.unicodeScalars).allSatisfy { scalar in
                            scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
                                && !(0x202A...0x202E).contains(scalar.value)
                        }
                    )
                }
            }
        }
    }
}
