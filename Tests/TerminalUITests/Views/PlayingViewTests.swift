import Media
import Testing

@testable import TerminalUI

/// The view of the current track, and the facts about any row.
struct PlayingViewTests {
    /// The rows of the open view.
    private func list(_ state: UIState) -> [String] {
        Array(state.screen[state.layout.listRows])
    }

    private static func player(_ edit: (inout PlayerSnapshot) -> Void = { _ in }) -> PlayerSnapshot {
        var info = StreamInfo(
            format: AudioFormat(sampleRate: 44_100, channelCount: 2),
            bytesPerSecond: 24_000
        )
        info.codec = "MPEG-1 Layer III, VBR"
        info.isDurationExact = true
        info.tags = TrackTags(album: "夜", year: "2024", number: "2/9")
        info.chapters = ChapterList([
            Chapter(start: .zero, title: "Dusk"), Chapter(start: .seconds(1_800), title: ""),
            Chapter(start: .seconds(3_000), title: "Dawn"),
        ])
        return sampleSnapshot {
            $0.info = info
            $0.upcoming = [2, 3]
            ($0.load.requestCount, $0.load.fetchedBytes) = (3, 5_000)
            $0.gainDecibels = -5.61
            $0.availability[Track.ID(2)] = Availability(
                stored: ByteRangeSet(0..<5_000),
                length: 8_000,
                isPinned: true
            )
            edit(&$0)
        }
    }

    private func state(_ player: PlayerSnapshot, columns: Int = 80, rows: Int = 24) -> UIState {
        var state = fullState(columns: columns, rows: rows, player: player)
        state.type("2")
        return state
    }

    @Test func `the current track stands with its chapters, what comes next, and how it sounds`() {
        let expected = """
             夜の音楽
             東京アンサンブル
             夜 · 2024 · track 2 of 9

             CHAPTERS
                0:00  Dusk
             ▸ 30:00  Chapter 2
               50:00  Dawn

             UP NEXT                                                       2 tracks · ~1:01
             3  gone                                                    ┈┈┈┈┈┈┈┈┈┈
             4  café de nuit et de jour                                 ┈┈┈┈┈┈┈┈┈┈     1:01



             MPEG-1 Layer III, VBR · 192 kbit/s · 44.1 kHz · stereo · gain -5.6 dB · 3 req…
            """
        #expect(list(state(Self.player())) == lines(expected))
    }

    @Test func `in a wide window the chapters stand beside what comes next`() {
        let wide = list(state(Self.player(), columns: 120))
        #expect(wide[4].hasPrefix(" CHAPTERS  ") && wide[4].contains("  UP NEXT  "))
        #expect(wide[6].hasPrefix(" ▸ 30:00  Chapter 2  "))
    }

    @Test func `a small window keeps the names, then how it sounds`() {
        // The title stands above the bar.
        let small = list(state(Self.player(), columns: 40, rows: 10))
        #expect(small[0] == " 東京アンサンブル" && small[1] == " 夜 · 2024 · track 2 of 9")
        #expect(small[2].hasPrefix(" CHAPTERS  ") && small[3].hasPrefix(" ▸ 30:00  "))
        #expect(small.last?.hasPrefix(" MPEG-1 Layer III, VBR · 192") == true)
    }

    @Test func `Enter seeks to the selected chapter, and the selection follows the chapters that are played`()
    {
        var state = state(Self.player())
        #expect(state.lists.list.selected == 1)
        state.show { $0.position = .seconds(3_001) }
        #expect(state.lists.list.selected == 2)
        #expect(state.type("k\n") == [.send(.chapter(.number(2)))])
        // It was moved away.
        state.show { $0.position = .seconds(10) }
        #expect(state.lists.list.selected == 1)
    }

    @Test func `without chapters Enter plays what is selected of what comes next`() {
        var state = state(Self.player { $0.info?.chapters = ChapterList() })
        #expect(state.type("j\n") == [.send(.jump(4))])
        #expect(list(state)[4].hasPrefix(" UP NEXT") && list(state)[4].hasSuffix("2 tracks · ~1:01"))
        state.show { $0.upcoming = [] }
        #expect(state.type("\n").isEmpty && state.answer?.isError == true)
        #expect(!list(state).contains { $0.contains("UP NEXT") })
    }

    @Test func `a station's name is large, above its title and the titles heard before`() {
        var state = state(
            Self.player {
                $0.load.live = LiveReport()
                $0.load.length = nil
                $0.tracks[1].tags.title = "Harbour FM"
                $0.info?.chapters = ChapterList()
                $0.info?.tags = TrackTags(title: "Edda – Morning", album: "Harbour")
                $0.earlierTitles = ["First", "Second"]
                $0.upcoming = []
            }
        )
        let rows = list(state)
        #expect(rows[0] == " H a r b o u r   F M" && rows[1] == " Edda – Morning")
        #expect(rows[3...5] == [" HEARD BEFORE", " Second", " First"])
        #expect(state.type("\n").isEmpty)
        let narrow = list(self.state(state.player, columns: 20, rows: 10))
        #expect(narrow[0] == " Harbour FM")
    }

    @Test func `the corner says if the network is up and how fast it brings the track`() {
        var state = state(Self.player { $0.load.inFlight = [5_000..<6_000] }, columns: 100)
        #expect(state.screen[0].hasSuffix(" ● online · 312 kB/s"))
        state.show { $0.load.inFlight = [] }
        #expect(state.screen[0].hasSuffix(" ● online"))
        state.show { $0.connectivity.isOffline = true }
        #expect(state.screen[0].hasSuffix(" ○ offline"))
    }

    @Test func `with another track the selection begins anew`() {
        var state = state(Self.player())
        state.type("j")
        state.show { player in
            player.currentIndex = 2
            player.info?.chapters = ChapterList()
            player.upcoming = [3]
        }
        #expect(state.lists.list.selected == 0)
    }

    @Test(arguments: [(16, false), (17, false), (18, false), (24, true), (24, false), (30, true)])
    func `the chapters are in view whatever room there is, for Enter seeks to them`(rows: Int, hasSound: Bool)
    {
        var state = state(Self.player(), rows: rows)
        if hasSound { state.type("v") }
        #expect(
            list(state).contains { $0.hasPrefix(" CHAPTERS") }
                && list(state).contains { $0.contains("▸ 30:00") }
        )
    }

    @Test func `a double click plays only what it points at`() {
        var state = state(Self.player(), columns: 120)
        let row = state.layout.listRows.lowerBound + 6
        func click(_ column: Int) -> [UIAction] {
            [MouseEvent.Kind.press, .doublePress].flatMap {
                state.apply(.mouse(MouseEvent($0, column: column, row: row)))
            }
        }
        #expect(click(20) == [.send(.chapter(.number(2)))])
        // There stands what comes next.
        #expect(click(90).isEmpty)
    }

    @Test func `Tab goes on from the facts to the first view, and back to the last`() {
        for (key, view) in [(Key.tab, ViewName.queue), (.backTab, .help)] {
            var state = state(Self.player())
            state.type("I")
            _ = state.apply(.key(key))
            #expect(state.view == view)
        }
    }

    // MARK: Facts

    @Test func `I shows all that is known of the track that plays, and closes it again`() {
        var state = state(Self.player())
        state.type("I")
        let expected = """
             Title       夜の音楽
             Artist      東京アンサンブル
             Album       夜
             Year        2024
             Track       2/9
             Position    ~31:02 (estimated)
             Chapter     2 of 3
             Length      1:02:05
             Format      MPEG-1 Layer III, VBR, 44.1 kHz, stereo
             Bit rate    192 kbit/s
             Gain        -5.6 dB
             Address     https://music.example/a/02.mp3
             Cached      5 kB of 8 kB, buffer 0:42, pinned
             Downloaded  5 kB in 3 requests, 312 kB/s


            """
        #expect(list(state) == lines(expected))
        state.type("I")
        #expect(state.view == .playing)
        state.type("1I")
        #expect(state.view == .facts)
        state.type("⎋")
        #expect(state.view == .queue)
        state.type("3jI")
        #expect(state.view == .facts && list(state)[0].contains("01 Morning"))
    }

    @Test(arguments: ViewName.allCases.filter { ![.help, .facts, .downloads].contains($0) })
    func `I works on the selected row of every view`(view: ViewName) {
        var state = fullState(player: Self.player { $0.messages = [message(1, "Something has happened")] })
        state.type(view.keys + "I")
        #expect(state.view == .facts && !list(state)[0].isEmpty)
        state.type("⎋")
        #expect(state.view == view)
    }

    @Test func `where no row is selected, I says so`() {
        var state = fullState(player: PlayerSnapshot())
        for keys in ["I", "2I", "5I", "6I", ":view facts\n"] {
            state.type(keys)
            #expect(state.view != .facts && state.answer?.text == "No row is selected")
            state.type("⎋")
        }
    }
}
