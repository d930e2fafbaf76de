import Media
import Testing

@testable import TerminalUI

/// The views other than the queue, as a user sees them.
struct ListViewTests {
    /// The rows of a view's list, without the empty ones at its end.
    private func list(
        _ view: ViewName,
        _ columns: Int = 80,
        _ rows: Int = 24,
        player: PlayerSnapshot = sampleSnapshot(),
        glyphs: Glyphs = .unicode
    ) -> [String] {
        var state = fullState(columns: columns, rows: rows, player: player)
        state.type(view.keys)
        let screen = ScreenView(glyphs: glyphs, timeOfDay: minutes).draw(state).lines
        let titles = state.lists.current.rows(in: state.layout) == state.layout.tableRows && view != .queue
        let first = titles ? state.layout.titleRow : nil
        let rows = (first ?? state.layout.listRows.lowerBound)..<state.layout.listRows.upperBound
        return screen[rows].drop(while: \.isEmpty).reversed().drop(while: \.isEmpty).reversed()
    }

    @Test func `the cache shows size, share, map, age and pin of each track`() {
        let expected = """
                TITLE                                 SIZE  CACHED  MAP         LAST PLAYED
                夜の音楽  東京アンサンブル          8.0 MB    62 %  ━━┈┈━━━┈┈┈     just now
             ♦  01 Morning.mp3                      2.5 MB   100 %  ━━━━━━━━━━       3 days
                signed.mp3                               ?       ?                  2 hours
            """
        #expect(list(.cache) == lines(expected))
        let narrow = """
                TITLE                  SIZE  CACHED
                夜の音楽  東京ア~    8.0 MB    62 %
             P  01 Morning.mp3       2.5 MB   100 %
                signed.mp3                ?       ?
            """
        let wide = list(.cache, 120, 40)
        #expect(wide[0].hasPrefix("    TITLE  ") && wide[0].contains("  ARTIST  "))
        #expect(wide[1].hasPrefix("    夜の音楽  ") && wide[1].contains("     東京アンサンブル  "))
        #expect(list(.cache, 40, 10, glyphs: .ascii).prefix(4) == lines(narrow)[...])
    }

    @Test func `the network view shows range, purpose, speed and result of each request`() {
        let expected = """
             TIME      WHY            BYTES     WAIT      RATE  STATUS  TRACK
             12:1:01   demand         66 kB    21 ms   66 kB/s     206  02.mp3
             12:1:02   read-ahead    1.0 MB    1.0 s               206  02.mp3  cancelled …
             12:1:03   prefetch         0 B                             03.mp3  connection…
             12:1:04   retry-later  music.example refuses the connection
             12:1:05   read-ahead     500 B    30 ms   500 B/s          02.mp3  … to 7 kB
             12:1:06   prefetch         0 B                             03.mp3  …
            """
        #expect(list(.network) == lines(expected))
        let wide = list(.network, 200, 60)
        #expect(wide[0].hasSuffix("  NOTE") && wide[2].contains("  206  02.mp3     "))
        #expect(wide[2].hasSuffix("       cancelled from cdn.example"))
        #expect(wide[4].hasSuffix("retry-later  music.example refuses the connection"))
    }

    @Test func `messages show their time, and long ones are wrapped`() {
        let player = sampleSnapshot {
            let long: SafeText =
                "Can't find host music.example – check the address (cached music keeps playing)"
            $0.messages = [message(1, long), message(2, "the network is back")]
        }
        let expected = """
             12:1:00   Can't find host music.example – check the address (cached music
                       keeps playing)
             12:2:00   the network is back
            """
        #expect(list(.messages, player: player).suffix(3) == lines(expected)[...])
        #expect(list(.messages, player: PlayerSnapshot()).last == " No messages yet")
    }

    /// The rows of each page of the help.
    private func helpPages(_ columns: Int, _ rows: Int) -> [[String]] {
        var state = screenState(PlayerSnapshot(), columns: columns, rows: rows)
        state.type("?")
        let height = state.layout.listRows.count
        return (0..<state.lists.list.count / height).map { _ in
            defer { _ = state.apply(.key(.pageDown)) }
            return Array(state.screen[state.layout.listRows])
        }
    }

    @Test(arguments: [(40, 24), (80, 24), (120, 40), (200, 60)])
    func `the help shows all keys in four groups, and the commands begin the next page`(
        columns: Int,
        rows: Int
    ) throws {
        let pages = helpPages(columns, rows)
        let first = try #require(pages.firstIndex { $0[0] == " Commands" })
        let keys = pages[..<first].joined().joined(separator: "\n")
        let commands = pages[first...].joined().joined(separator: "\n")
        for group in CommandTable.groups { #expect(keys.contains(group.name.string)) }
        for binding in KeyMap.standard.bindings { #expect(keys.contains(binding.help.string)) }
        for row in CommandTable.rows where row.isListedAsLine {
            #expect(commands.contains(":\(row.name) \(row.syntax)") && commands.contains(row.help.string))
        }
        #expect(!keys.contains(":seek"))
    }

    @Test func `the groups of the help stand beside each other if there is room`() {
        #expect(list(.help, 120, 40)[0].split(separator: " ") == ["Play", "Move", "View"])
        // The columns fill the window.
        #expect(list(.help, 200, 60)[0].hasPrefix(" Play" + String(repeating: " ", count: 62) + "Move"))
    }

    @Test func `a group that is too long goes on in the next column, with two rows at least`() {
        let rows = list(.help)
        #expect(rows[0].hasPrefix(" Play   ") && rows[0].contains("  r  ") && rows[1].contains("  R  "))
        #expect(rows[3].hasSuffix("  Move"))
    }

    @Test(arguments: ["f", "/"])
    func `the help is filtered by its keys, commands and words`(key: String) {
        var state = screenState(PlayerSnapshot())
        state.type("?" + key + "chapter")
        let rows = state.screen[state.layout.listRows].filter { !$0.isEmpty }
        #expect(rows.count == 2 && rows.joined().contains("}") && rows.joined().contains(":chapter N"))
        state.type("zzz")
        #expect(state.screen[2] == " No match for \"chapterzzz\"")
        _ = state.apply(.key(.escape))
        #expect(state.view == .help && state.screen.contains { $0.contains("Move") })
    }

    @Test func `q closes the help and quits elsewhere, and the typed quit always quits`() {
        var state = screenState(PlayerSnapshot())
        state.type("3?f")
        state.type("seek\n")
        #expect(!state.type("q").contains(.leave) && state.view == .cache)
        state.type("?")
        #expect(!state.screen[state.layout.listRows].contains { $0.contains("No match") })
        _ = state.apply(.key(.escape))
        #expect(state.view == .cache && state.type("q") == [.send(.quit), .leave])
        state = screenState(PlayerSnapshot())
        state.type("?")
        #expect(state.type(":quit\n").contains(.leave))
    }

    @Test func `the network in forty columns by ten rows`() {
        let expected = """
             1  2  3  4 Network  5  6     4 entries
             WHY            BYTES  TRACK
             prefetch         0 B  03.mp3  connect…
             retry-later  music.example refuses th…
             read-ahead     500 B  02.mp3  … to 7 …
             prefetch         0 B  03.mp3  …
             ▶ 夜の音楽 – 東京ア…  ~31:02 / 1:02:05
             █████████······████▌▄▄▄▄▄▄▄▄▒▒▒▒▒▒····
             Playing  vol 80%            ↓ 312 kB/s
             ? help   j down   Esc back   q quit
            """
        var state = fullState(columns: 40, rows: 10)
        state.type("4")
        #expect(state.screen == lines(expected))
    }

    @Test func `empty views explain themselves`() {
        var state = screenState(PlayerSnapshot())
        for (view, text) in [
            ("2", " Nothing is playing"), ("4", " No network requests yet"), ("3", " Reading the cache…"),
        ] {
            state.type(view)
            #expect(state.screen[2] == text)
        }
        _ = state.apply(.cache(nil))
        #expect(state.screen[2] == " No cache in this session")
        state.showCache([], revision: 0)
        #expect(state.screen[2] == " No cached tracks yet")
    }

    @Test(arguments: [
        (80, " 1 Queue  2 Playing  3 Cache  4 Network  5 Messages  6 Help"),
        (40, " 1  2  3 Cache  4  5  6"), (22, " Cache"), (16, " Cache"),
    ])
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
        let evil = SafeText("\u{1B}[2J\u{9D}52;c;\u{202E}evil\r\n\u{7}" + String(repeating: "界", count: 300))
        let player = sampleSnapshot {
            $0.tracks[1].tags = TrackTags(title: evil, artist: evil, album: evil)
            $0.failures = [Track.ID(3): MediaError(.notFound, evil, evil)]
            $0.messages = [message(1, evil)]
        }
        for view in ViewName.allCases {
            for columns in [16, 40, 80, 200] {
                var state = screenState(player, columns: columns)
                var entry = CachedItem(CachedItem.ID(1), url: evil, lastPlayed: 0)
                entry.tags.title = evil
                state.showCache([entry])
                let decision = record(0, .decision(.gaveUp, evil), of: evil)
                _ = state.apply(.requests([decision], count: 1, underWay: []))
                state.type(view.keys)
                let frame = ScreenView(glyphs: .unicode).draw(state)
                for row in 0..<frame.rows {
                    let cells = frame[row: row]
                    #expect(cells.reduce(0) { $0 + $1.width } == columns)
                    let harmful = cells.flatMap(\.text.unicodeScalars).contains { scalar in
                        [0...0x1F, 0x7F...0x9F, 0x202A...0x202E].contains { $0.contains(scalar.value) }
                    }
                    #expect(!harmful)
                }
            }
        }
    }
}
