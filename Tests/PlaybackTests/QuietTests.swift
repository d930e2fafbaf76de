import Media
import System
import TestSupport
import Testing

@testable import Playback

/// How often the player publishes a snapshot, for which a screen is drawn again.
struct QuietTests {
    /// Counts the snapshots of `player`, and keeps the last one.
    ///
    /// Both change together: the player itself shows a snapshot a moment before its observers are called.
    private final class Seen: Sendable {
        private let seen = Locked((count: 0, last: PlayerSnapshot()))

        var count: Int { seen.withLock { $0.count } }
        var last: PlayerSnapshot { seen.withLock { $0.last } }

        init(_ player: Player) {
            player.observe { [self, weak player] in
                guard let snapshot = player?.snapshot else { return }
                seen.withLock { $0 = ($0.count + 1, snapshot) }
            }
        }
    }

    /// With a goal, the status says how long the music lasts without the network, and no clock ticks for it
    /// while paused.
    @Test(arguments: [nil, AheadGoal.all])
    func `snapshots change ten times a second at most, and not while paused or stopped`(ahead: AheadGoal?)
        async throws
    {
        let music = FakeMusic(number: 1, frames: 60_000).onTheWeb()
        let cache = FakeCacheStatus()
        cache.set(Availability(stored: ByteRangeSet(0..<9), length: 9), of: music.url)
        let sink = TestSink(allowance: 500)
        let stage = Stage([music], sink: sink, exitsAtEnd: false, cache: cache, ahead: ahead)
        let seen = Seen(stage.player)
        try await stage.sound { stage in
            // Ten seconds, tick by tick.
            let before = seen.count
            for _ in 0..<40 {
                let count = seen.count
                stage.clock.advance(by: .milliseconds(250))
                try await wait(for: "the tick") { seen.count > count && stage.clock.sleeperCount == 1 }
            }
            #expect(seen.count - before <= 100)
            for command in [PlayerCommand.pause, .stop] {
                let state: PlayerSnapshot.State = command == .pause ? .paused : .stopped
                stage.player.send(command)
                try await wait(for: "silence and no timer") {
                    seen.last.state == state && stage.clock.sleeperCount == 0
                }
                #expect((seen.last.offlineTime != nil) == (ahead != nil && command == .pause))
                let quiet = seen.count
                for _ in 0..<60 { stage.clock.advance(by: .seconds(1)) }
                #expect(stage.clock.sleeperCount == 0)
                // A snapshot of those seconds would come before the reply to this.
                let volume = command == .pause ? 20 : 30
                stage.player.send(.volume(volume))
                try await wait(for: "the answer") { seen.last.volume == volume }
                #expect(seen.count == quiet + 1)
            }
        }
    }
}
