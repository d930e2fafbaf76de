import Media
import TestSupport
import Testing

@testable import Playback

/// A whole player on a device whose latency, speed, underruns and death are written in the test.
@Suite struct DeviceTests {
    /// A device, and the player on it.
    private struct Scene {
        let stage: Stage
        let device: FaultyDevice

        init(_ frames: [Int], latency: Duration) {
            let clock = TestClock()
            device = FaultyDevice(clock: clock, latency: latency)
            stage = Stage(
                frames.enumerated().map { FakeMusic(number: $0.offset + 1, frames: $0.element) },
                clock: clock,
                device: device
            )
        }

        func playing(_ body: (Scene) async throws -> Void) async throws {
            _ = try await stage.play { stage in
                try await wait(for: "music") { stage.player.snapshot.state == .playing }
                try await body(self)
            }
        }

        /// Lets time pass, in steps that both the device and the player look at.
        func pass(_ time: Duration) async throws {
            let end = stage.clock.now + time
            while stage.clock.now < end {
                try await settle()
                let next = min(end, stage.clock.nextWake ?? end)
                stage.clock.advance(to: max(next, stage.clock.now + .milliseconds(1)))
            }
            try await settle()
        }

        /// The device and the tick sleep.
        private func settle() async throws {
            try await wait(for: "the player to sleep") { stage.clock.sleeperCount == 2 }
        }

        var position: Int64 { stage.player.snapshot.position.milliseconds }
    }

    @Test func `the shown position is the heard one, not that of the frames the device took`() async throws {
        let scene = Scene([60_000], latency: .milliseconds(800))
        try await scene.playing { scene in
            try await scene.pass(.seconds(3))
            #expect(scene.position == 3_000)
            #expect(scene.device.heardFrames == 3_000)
        }
    }

    @Test(arguments: [100, 600])
    func `a device with another speed than a clock is followed, never backwards`(latency: Int) async throws {
        let scene = Scene([60_000], latency: .milliseconds(latency))
        try await scene.playing { scene in
            try await scene.pass(.seconds(1))
            scene.device.play(atSpeed: 1.5)
            try await scene.pass(.seconds(2))
            #expect(scene.position == 4_000)
            scene.device.play(atSpeed: 0.5)
            try await scene.pass(.seconds(2))
            #expect(scene.position == 5_000)
            let told = scene.stage.events.compactMap { event -> Duration? in
                guard case .position(_, let position, _, _, _) = event else { return nil }
                return position
            }
            #expect(told.count == 5 && told == told.sorted())
        }
    }

    @Test func `the title changes when the next track is heard, not when it is decoded or taken`()
        async throws
    {
        let scene = Scene([1_930, 5_000], latency: .milliseconds(900))
        try await scene.playing { scene in
            // The device has then taken all but 30 frames of the first track.
            try await scene.pass(.seconds(1))
            try await wait(for: "the next track") { scene.stage.readers.count == 2 }
            try await scene.pass(.milliseconds(900))
            #expect(scene.stage.player.snapshot.currentIndex == 0)
            // Between two looks at the position: it is due when the boundary is heard.
            try await scene.pass(.milliseconds(45))
            #expect(scene.stage.player.snapshot.currentIndex == 1)
            #expect(scene.stage.story.suffix(3) == ["ended 1 finished 1930", "track 2", "playing 2 at 0"])
            #expect(scene.position == 5)
        }
    }

    @Test func `a false underrun costs no frame`() async throws {
        let scene = Scene([4_000], latency: .milliseconds(200))
        try await scene.playing { scene in
            try await scene.pass(.seconds(1))
            scene.device.claimUnderrun()
            try await wait(for: "the music to go on") { scene.stage.story.last == "playing 1 at 1000" }
            #expect(scene.stage.story.suffix(2) == ["buffering 1", "playing 1 at 1000"])
            try await scene.pass(.seconds(1))
            #expect(scene.position == 2_000)
        }
    }

    @Test(arguments: [50, 700])
    func `a device that dies ten times in a track loses only what it held`(latency: Int) async throws {
        let scene = Scene([60_000], latency: .milliseconds(latency))
        try await scene.playing { scene in
            for death in 1...10 {
                try await scene.pass(.seconds(1))
                await scene.device.die()
                try await wait(for: "the loss") {
                    scene.stage.player.snapshot.state == .buffering && scene.stage.clock.sleeperCount == 2
                }
                #expect(scene.position == Int64(death) * 1_000)
                scene.device.revive()
                scene.stage.clock.advance(by: .milliseconds(500))
                try await wait(for: "the music after death \(death)") {
                    scene.stage.player.snapshot.state == .playing
                }
                #expect(scene.stage.story.last == "playing 1 at \(death * 1_000)")
            }
            #expect(scene.stage.readers.count == 1, "nothing is opened again")
        }
        #expect(scene.stage.story.last == "ended 1 skipped 10000")
    }
}
