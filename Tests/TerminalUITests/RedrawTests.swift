import Media
import System
@testable import TerminalUI
import TestSupport
import Testing

/// The rate of redraws, on a clock that the test advances.
@Suite(.serialized)
struct RedrawTests {
    /// Counts the calls for the time, which the screen makes in each of its turns.
    private final class AskedClock: MonotonicClock {
        private let state = Locked((now: Duration.zero, asked: 0))

        var asked: Int { state.withLock { $0.asked } }

        var now: Duration {
            state.withLock { state in
                state.asked += 1
                return state.now
            }
        }

        func advance(by time: Duration) { state.withLock { $0.now += time } }

        func sleep(until time: Duration) async throws {}
    }

    /// Lets ten seconds pass with a new snapshot every hundredth of a second.
    private func passTenSeconds(of screen: RunningScreen, _ clock: AskedClock) async throws {
        for _ in 0..<1_000 {
            let asked = clock.asked
            clock.advance(by: .milliseconds(10))
            screen.player.publish { $0.position += .milliseconds(10) }
            try await wait(for: "a turn of the shell") { clock.asked >= asked + 2 }
        }
    }

    @Test func `a player that changes all the time is drawn ten times a second`() async throws {
        let clock = AskedClock()
        let screen = try await RunningScreen(clock: clock)
        let before = screen.player.snapshotReads
        try await passTenSeconds(of: screen, clock)
        #expect((50...101).contains(screen.player.snapshotReads - before))
        try await screen.quit()
    }

    @Test func `the result of a filter in a long queue is drawn once all tracks are examined`() async throws {
        // The clock stands still, so a redraw that waits for its interval is never drawn.
        var tracks = manyTracks(10_000)
        tracks[9_998].tags.artist = "Choir"
        let player = FakePlayer(sampleSnapshot { $0.tracks = tracks })
        let screen = try await RunningScreen(drawing: "10000 tracks", player: player, clock: AskedClock())
        // The first one, and the last one of this moment.
        screen.player.publish { _ in }
        try await wait(for: "the last picture of this moment") { screen.player.snapshotReads > 1 }
        // The first slice has no match.
        screen.terminal.type("f9999")
        try await screen.drawn("Choir")
        screen.terminal.type("\nq")
        #expect(try await screen.exit() == .quit)
    }

    @Test func `the spectrum is drawn 20 times a second, never in a pause or while hidden`() async throws {
        let clock = AskedClock()
        let screen = try await RunningScreen(rows: 24, clock: clock)
        #expect(screen.player.pictureReads == 0 && !screen.player.isSoundWatched)
        screen.terminal.type("v")
        try await wait(for: "the picture") { screen.player.isSoundWatched }
        let before = screen.player.pictureReads
        try await passTenSeconds(of: screen, clock)
        #expect((100...202).contains(screen.player.pictureReads - before))

        screen.player.publish { $0.state = .paused }
        try await wait(for: "the pause") {
            clock.advance(by: .milliseconds(100))
            return screen.terminal.text.contains("aused")
        }
        try await screen.press("m", sending: 1)
        let pictures = screen.player.pictureReads
        let snapshots = screen.player.snapshotReads
        for second in 2...4 {
            clock.advance(by: .seconds(60))
            try await screen.press("m", sending: second)
        }
        #expect(screen.player.pictureReads == pictures)
        #expect(screen.player.snapshotReads == snapshots + 3, "the keys' own")
        screen.terminal.type("v")
        try await wait(for: "the end of the analysis") { !screen.player.isSoundWatched }
        try await screen.quit()
    }
}
