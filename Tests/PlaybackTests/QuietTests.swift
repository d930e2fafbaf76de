import Media
import System
import TestSupport
import Testing

@testable import Playback

/// How often the player publishes a snapshot, for which a screen is drawn again.
struct QuietTests {
    /// Counts the snapshots of `player`.
    private final class Count: Sendable {
        private let number = Locked(0)

        var value: Int { number.withLock { $0 } }

        init(_ player: any PlayerControl) { player.observe { [self] in number.withLock { $0 += 1 } } }
    }

    @Test func `snapshots change ten times a second at most, and not while paused or stopped`() async throws {
        let music = FakeMusic(number: 1, frames: 60_000)
        let stage = Stage([music], sink: TestSink(allowance: 500), exitsAtEnd: false)
        let count = Count(stage.player)
        try await stage.sound { stage in
            // Ten seconds, tick by tick.
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
                try await wait(for: "silence and no timer") {
                    stage.player.snapshot.state == state && stage.clock.sleeperCount == 0
                }
                let quiet = count.value
                for _ in 0..<60 { stage.clock.advance(by: .seconds(1)) }
                #expect(stage.clock.sleeperCount == 0)
                // A snapshot of those seconds would come before the reply to this.
                stage.player.send(.volume(command == .pause ? 20 : 30))
                try await wait(for: "the answer") {
                    stage.player.snapshot.volume != 100 && count.value > quiet
                }
                #expect(count.value == quiet + 1)
            }
        }
    }
}
