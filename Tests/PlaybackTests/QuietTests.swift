import Media
import System
import TestSupport
import Testing

@testable import Playback

/// How often the player has something to show: that is how often a screen is drawn again.
struct QuietTests {
    /// Publications of snapshots, counted.
    private final class Count: Sendable {
        private let number = Locked(0)

        var value: Int { number.withLock { $0 } }

        init(_ player: any PlayerControl) { player.observe { [self] in number.withLock { $0 += 1 } } }
    }

    @Test
    func `snapshots change at most ten times a second while music plays, and not while paused or stopped`()
        async throws
    {
        let stage = Stage(
            [FakeMusic(number: 1, frames: 60_000)],
            sink: TestSink(allowance: 500),
            exitsAtEnd: false
        )
        let count = Count(stage.player)
        _ = try await stage.play { stage in
            try await wait(for: "the first sound") { stage.player.snapshot.state == .playing }
            // Ten seconds of the clock, tick by tick, each taken before the next.
            let before = count.value
            for _ in 0..<40 {
                let seen = count.value
                stage.clock.advance(by: .milliseconds(250))
                try await wait(for: "the tick") { count.value > seen && stage.clock.sleeperCount == 1 }
            }
            #expect(count.value - before <= 100)
            for command in [PlayerCommand.pause, .stop] {
                let state: PlayerSnapshot.State = command == .pause ? .paused : .stopped
                stage.player.send(command)
                try await wait(for: "silence") { stage.player.snapshot.state == state }
                try await wait(for: "the timer's end") { stage.clock.sleeperCount == 0 }
                let quiet = count.value
                for _ in 0..<60 { stage.clock.advance(by: .seconds(1)) }
                #expect(stage.clock.sleeperCount == 0)
                // Any output of it would have come before the reply to this.
                stage.player.send(.volume(command == .pause ? 20 : 30))
                try await wait(for: "the answer") {
                    stage.player.snapshot.volume != 100 && count.value > quiet
                }
                #expect(count.value == quiet + 1)
            }
        }
    }
}
