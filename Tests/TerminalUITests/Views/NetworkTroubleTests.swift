import Media
import TerminalUI
import Testing

struct NetworkTroubleTests {
    private func lines(_ player: PlayerSnapshot, columns: Int = 80) -> [String] {
        ScreenView(glyphs: .unicode).draw(screenState(player, columns: columns)).lines
    }

    @Test func `the status line shows why the player waits, and counts down`() {
        let error = MediaError(.connectionRefused, "https://music.example/a/02.mp3", "refuses the connection")
        var player = sampleSnapshot {
            $0.state = .buffering
            $0.load.wait = LoadWait(error: error, attempt: 2, mostAttempts: 10, retryAt: .seconds(100))
            $0.retryIn = .milliseconds(3_400)
        }
        #expect(lines(player)[22].hasPrefix("Retry in 4 s (3 of 10) · refuses the connection  vol 80%"))
        player.retryIn = .zero
        #expect(lines(player)[22].hasPrefix("Retrying (3 of 10) · refuses the connection"))
        // While buffered bytes are played, no retry is shown.
        player.state = .playing
        #expect(lines(player)[22].hasPrefix("Playing  vol 80%"))
    }

    @Test func `the status line shows buffering, and that the player is offline`() {
        let buffering = lines(sampleSnapshot { ($0.state, $0.isMuted) = (.buffering, true) })
        #expect(buffering[20].hasPrefix("◌ ") && buffering[22].hasPrefix("Buffering…  muted  "))
        let offline = lines(sampleSnapshot { $0.connectivity.isOffline = true })
        #expect(offline[22].hasPrefix("Playing  offline  vol 80%"))
    }

    @Test func `a row shows the cached share of its track if there is room`() {
        let player = sampleSnapshot {
            $0.availability = [
                Track.ID(1): Availability(storedBytes: 429, length: 1_000, playsTo: .seconds(190)),
                Track.ID(4): Availability(storedBytes: 1_000, length: 1_000, isPinned: true),
            ]
        }
        let wide = lines(player)
        #expect(wide[2] == "  1 Morning – Edda                                      to 3:10    42 %     3:05")
        #expect(wide[5].hasSuffix("♦    ●     1:01"))
        #expect(lines(player, columns: 50)[2].hasSuffix("Edda                   42 %     3:05"))
        #expect(lines(player, columns: 32)[2] == "  1 Morning – Edda          3:05")
    }
}
