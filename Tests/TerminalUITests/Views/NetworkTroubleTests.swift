import Media
@testable import TerminalUI
import Testing

struct NetworkTroubleTests {
    private func lines(_ player: PlayerSnapshot, columns: Int = 80) -> [String] {
        ScreenView(glyphs: .unicode).draw(screenState(player, columns: columns)).lines
    }

    @Test func `the status line shows why the player waits, and counts down`() {
        let error = MediaError(
            .connectionRefused,
            "https://music.example/a/02.mp3",
            "refuses the connection; check the port"
        )
        var player = sampleSnapshot {
            $0.state = .buffering
            $0.load.wait = LoadWait(error: error, attempt: 2, mostAttempts: 10, retryAt: .seconds(100))
            $0.retryIn = .milliseconds(3_400)
        }
        #expect(lines(player)[22].hasPrefix(" Retry in 4 s · refuses the connection  vol 80%"))
        player.retryIn = .zero
        #expect(lines(player)[22].hasPrefix(" Retrying · refuses the connection"))
        // While buffered bytes are played, no retry is shown.
        player.state = .playing
        #expect(lines(player)[22].hasPrefix(" Playing  vol 80%"))
    }

    @Test func `the status line says that there is no sound server, while playback waits for one`() {
        var player = sampleSnapshot { ($0.state, $0.isOutputLost) = (.buffering, true) }
        #expect(lines(player)[22].hasPrefix(" No sound server, waiting  vol 80%"))
        player.state = .paused
        #expect(lines(player)[22].hasPrefix(" Paused  vol 80%"))
    }

    @Test(arguments: [
        (80, " ✗ 3 gone   the server has no such file (404)               ┈┈┈┈┈┈┈┈┈┈"),
        (50, " ✗ 3 gone   the server has no s…   ┈┈┈┈┈"), (30, " ✗ 3 gone   the ser…"),
    ])
    func `a failed row names the track, then the reason without the URL`(columns: Int, row: String) {
        #expect(lines(sampleSnapshot(), columns: columns)[4] == row)
    }

    @Test func `the name of a failed track gives way to the reason`() {
        let name = String(repeating: "long name ", count: 12)
        let player = sampleSnapshot { $0.tracks[2].tags = TrackTags(title: SafeText(name)) }
        #expect(lines(player)[4].contains("long…   the server has no such file (404)  "))
    }

    @Test func `the status line shows both rates while the line is slower than the music`() {
        var player = sampleSnapshot {
            $0.state = .buffering
            let format = AudioFormat(sampleRate: 44_100, channelCount: 2)
            $0.info = StreamInfo(format: format, bytesPerSecond: 16_000)
            $0.load.bytesPerSecond = 12_000
        }
        #expect(lines(player)[22].hasPrefix(" Buffering…  line 12 kB/s, music 16 kB/s  vol 80%"))
        player.load.bytesPerSecond = 16_000
        #expect(!lines(player)[22].contains("line"))
    }

    @Test func `the status line shows buffering, and that the player is offline`() {
        let buffering = lines(sampleSnapshot { ($0.state, $0.isMuted) = (.buffering, true) })
        #expect(buffering[19].hasPrefix(" ◌ ") && buffering[22].hasPrefix(" Buffering…  muted  "))
        let offline = lines(sampleSnapshot { $0.connectivity.isOffline = true })
        #expect(offline[22].hasPrefix(" Playing  offline  vol 80%"))
    }

    @Test func `a row shows a map of what is cached of its track if there is room`() {
        let player = sampleSnapshot {
            $0.availability = [
                Track.ID(1): Availability(stored: ByteRangeSet(0..<429), length: 1_000),
                Track.ID(4): Availability(stored: ByteRangeSet(0..<1_000), length: 1_000, isPinned: true),
            ]
        }
        let wide = lines(player)
        #expect(wide[2] == "   1 Morning                         Edda                   ━━━━┈┈┈┈┈┈     3:05")
        #expect(wide[3].hasSuffix("━━┈┈━━━╍╍┈  1:02:05"))
        #expect(wide[4].hasSuffix("┈┈┈┈┈┈┈┈┈┈"))
        #expect(wide[5].hasSuffix("♦ ━━━━━━━━━━     1:01"))
        #expect(lines(player, columns: 50)[2] == "   1 Morning – Edda                ━━┈┈┈     3:05")
        #expect(lines(player, columns: 32)[2] == "   1 Morning – Edda        3:05")
    }

    @Test func `maps have the colours of the bar, also in the selected row`() {
        var state = fullState()
        state.type("3")
        let cache = ScreenView(glyphs: .unicode).draw(state)
        let row = (0..<24).first { cache.lines[$0].contains("2.5 MB") } ?? 0
        state.type("j")
        for frame in [cache, ScreenView(glyphs: .unicode).draw(state)] {
            let map = frame[row: row].filter { $0.text == "━" }
            #expect(map.count == 10 && map.allSatisfy { $0.style == .cached })
        }
    }
}
