import Media
import TerminalUI
import TestSupport
import Testing

struct ScreenViewTests {
    private static func screen(
        _ columns: Int,
        _ rows: Int,
        glyphs: Glyphs = .unicode,
        player: PlayerSnapshot = sampleSnapshot(),
        keys: String = ""
    ) -> [String] {
        var state = UIState(columns: columns, rows: rows)
        _ = state.apply(.snapshot(player))
        for key in keys { _ = state.apply(.key(key == "\n" ? .enter : .character(key))) }
        return ScreenView(glyphs: glyphs).draw(state).lines
    }

    @Test func `eighty columns by twenty-four rows`() {
        let top = """
             Reprise  4 tracks                                                       ? help
              1 Morning – Edda                                                          3:05
            ▶ 2 夜の音楽 – 東京アンサンブル                                          1:02:05
            ✗ 3 gone.mp3: 404 Not Found
              4 cafe\u{301} de nuit et de jour.mp3                                             1:01
            """
        let bottom = """
            ▶ 夜の音楽 – 東京アンサンブル                                   ~31:02 / 1:02:05
            ████████████████████··········██████████▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▒▒▒▒▒▒▒▒▒▒··········
            Playing  vol 80%  repeat all  312 kB/s  net 999 kB  cache 45.6 MB  ahead 0:42
            reconnected to music.example
            """
        let blank = Array(repeating: "", count: 15)
        #expect(Self.screen(80, 24) == lines(top) + blank + lines(bottom))
    }

    @Test func `forty columns by ten rows`() {
        let expected = """
             Reprise  4 tracks               ? help
              1 Morning – Edda                  3:05
            ▶ 2 夜の音楽 – 東京アンサンブル  1:02:05
            ✗ 3 gone.mp3: 404 Not Found
              4 cafe\u{301} de nuit et de jour.mp3     1:01

            ▶ 夜の音楽 – 東京アン…  ~31:02 / 1:02:05
            ██████████·····█████▄▄▄▄▄▄▄▄▄▄▒▒▒▒▒·····
            Playing  vol 80%  repeat all  312 kB/s
            reconnected to music.example
            """
        #expect(Self.screen(40, 10) == lines(expected))
    }

    @Test func `two hundred columns by sixty rows`() {
        let screen = Self.screen(200, 60)
        #expect(screen.count == 60)
        #expect(screen[1] == "  1 Morning – Edda" + String(repeating: " ", count: 178) + "3:05")
        let bar = "50█ 25· 25█ 50▄ 25▒ 25·".split(separator: " ").map {
            String(repeating: String($0.suffix(1)), count: Int($0.dropLast()) ?? 0)
        }
        #expect(screen[57] == bar.joined())
        #expect(screen[59] == "reconnected to music.example")
    }

    @Test func `ASCII, time left and a command being typed`() {
        let expected = """
             Reprise  4 tracks                                   ? help
              1 Morning - Edda                                      3:05
            > 2 夜の音楽 - 東京アンサンブル                      1:02:05
            x 3 gone.mp3: 404 Not Found
            > 夜の音楽 - 東京アンサンブル              ~-31:03 / 1:02:05
            ===============........=======---------------++++++++.......
            Playing  vol 80%  repeat all  312 kB/s  net 999 kB
            :seek 1_
            """
        #expect(Self.screen(60, 8, glyphs: .ascii, keys: "t:seek 1") == lines(expected))
    }

    @Test(
        arguments: [
            (1, 1, ["▶"]),
            (15, 2, ["▶ ~31:02", ""]),
            (16, 2, ["▶ 夜の音楽 – …", "reconnected to …"]),
            (20, 3, ["▶ 夜の音楽 –… ~31:02", "Playing  vol 80%", "reconnected to musi…"]),
        ] as [(Int, Int, [String])]
    )
    func `a small window shows what matters most`(columns: Int, rows: Int, expected: [String]) {
        #expect(Self.screen(columns, rows) == expected)
    }

    @Test func `every size is drawn`() {
        for columns in [0, 1, 2, 3, 7, 15, 16, 17, 33, 80, 500] {
            for rows in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 200] {
                for keys in ["", "?", ":add some long words", ":sing\n"] {
                    #expect(Self.screen(columns, rows, keys: keys).count == rows)
                }
            }
        }
    }

    @Test func `the help is the key map`() {
        let screen = Self.screen(40, 40, keys: "?")
        for binding in KeyMap.standard.bindings {
            #expect(screen.contains { $0.hasSuffix(binding.help.string) })
        }
        #expect(screen[1] == " Space          pause or go on")
    }

    @Test func `an empty queue says what to do`() {
        let screen = Self.screen(80, 10, player: PlayerSnapshot())
        #expect(screen[1] == " Nothing in the queue yet. Type :add and a file or URL")
        #expect(screen[8] == "Stopped  vol 100%  net 0 B  cache 0 B")
    }

    @Test func `waiting is named`() {
        var player = sampleSnapshot()
        player.state = .buffering
        player.isMuted = true
        let screen = Self.screen(80, 10, player: player)
        #expect(screen[6].hasPrefix("◌ "))
        #expect(screen[8].hasPrefix("Buffering…  muted  "))
    }

    @Test(
        arguments: [
            (.playing, "▶ 3 gone.mp3"), (.paused, "‖ 3 gone.mp3"), (.buffering, "◌ 3 gone.mp3"),
            (.opening, "✗ 3 gone.mp3: 404 Not Found"), (.ended, "✗ 3 gone.mp3: 404 Not Found"),
        ] as [(PlayerSnapshot.State, String)]
    )
    func `a track that failed before is no failure while it is heard`(
        state: PlayerSnapshot.State,
        row: String
    ) {
        var player = sampleSnapshot()
        player.currentIndex = 2
        player.state = state
        #expect(Self.screen(80, 24, player: player)[3].hasPrefix(row))
    }

    @Test func `the bottom line is empty after a key`() {
        #expect(Self.screen(80, 10).last == "reconnected to music.example")
        #expect(Self.screen(80, 10, keys: "j").last == "")
    }

    @Test func `a mistyped command is explained in the bottom line`() {
        #expect(Self.screen(80, 10, keys: ":sing\n").last == "sing is no command")
    }

    @Test func `of a hundred thousand tracks only the rows in view are made`() {
        var position = ListPosition()
        position.resize(count: 100_000, height: 20)
        position.select(54_321)
        var made: [Int] = []
        var buffer = CellBuffer(columns: 80, rows: 24)
        let player = sampleSnapshot()
        QueueView(glyphs: .unicode).draw(at: position, rows: 1..<21, into: &buffer) { index in
            made.append(index)
            return QueueRow(player, index: 0, glyphs: .unicode)
        }
        #expect(made == Array(54_302..<54_322))
        #expect(buffer.lines[1].hasPrefix("   54303 Morning"))
    }

    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "1 kB"), (999_999, "999 kB"), (1_000_000, "1.0 MB"),
            (45_678_901, "45.6 MB"), (123_456_789, "123 MB"), (9_876_543_210, "9.8 GB"), (-5, "0 B"),
        ] as [(Int64, String)]
    )
    func `bytes are shown in decimal units`(bytes: Int64, expected: String) {
        var player = PlayerSnapshot()
        player.totalFetchedBytes = bytes
        #expect(Self.screen(80, 10, player: player)[8].contains("net \(expected)  cache"))
    }

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}
