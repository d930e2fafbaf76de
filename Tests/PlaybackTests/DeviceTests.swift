import Media
import TestSupport
import Testing

@testable import Playback

/// A whole player on a device whose latency, speed, underruns and death are written in the test.
@Suite struct DeviceTests {
    /// A device with a clock of its own, and the player on it.
    private struct Scene {
        let stage: Stage
        let device: FaultyDevice
        let deviceClock = TestClock()

        init(_ frames: [Int], latency: Int) {
            device = FaultyDevice(clock: deviceClock, latency: .milliseconds(latency))
            stage = Stage(
                frames.enumerated().map { FakeMusic(number: $0.offset + 1, frames: $0.element) },
                device: device
            )
        }

        /// Lets `time` pass in steps that both the device and the player notice. The device's clock runs at
        /// `percent` of the player's speed.
        func pass(_ time: Duration, percent: Int = 100) async throws {
            let end = stage.clock.now + time
            while stage.clock.now < end {
                try await settle()
                let left = deviceClock.nextWake.map { ($0 - deviceClock.now) * 100 / percent }
                let steps = [end - stage.clock.now, stage.clock.nextWake.map { $0 - stage.clock.now }, left]
                let step = max(steps.compactMap(\.self).min() ?? .zero, .milliseconds(1))
                deviceClock.advance(by: step * percent / 100)
                stage.clock.advance(by: step)
            }
            try await settle()
        }

        private func settle() async throws {
            try await wait(for: "the device and the player to sleep, and the decoder to be ahead of them") {
                deviceClock.sleeperCount == 1 && stage.clock.sleeperCount == 1
                    && device.isAhead(byBytes: 500 * 4)
            }
        }

        /// Waits until the player shows this position, in milliseconds. It sleeps before it shows a new one.
        func shows(_ position: Int64) async throws {
            try await wait(for: "the position \(position)") {
                stage.player.snapshot.position.milliseconds == position
            }
        }
    }

    @Test func `the shown position is the heard one, not that of the frames the device took`() async throws {
        let scene = Scene([60_000], latency: 800)
        try await scene.stage.sound { _ in
            try await scene.pass(.seconds(3))
            try await scene.shows(3_000)
            #expect(scene.device.heardFrames == 3_000)
        }
    }

    @Test(arguments: [100, 600])
    func `a device with another speed than a clock is followed, never backwards`(latency: Int) async throws {
        let scene = Scene([60_000], latency: latency)
        try await scene.stage.sound { stage in
            try await scene.pass(.seconds(1))
            try await scene.pass(.seconds(2), percent: 150)
            try await scene.shows(4_000)
            try await scene.pass(.seconds(2), percent: 50)
            try await scene.shows(5_000)
            let reported = stage.events.compactMap { event -> Duration? in
                guard case .position(_, let position, _, _, _) = event else { return nil }
                return position
            }
            #expect(reported.count == 5 && reported == reported.sorted())
        }
    }

    @Test func `the title changes when the next track is heard, not when it is decoded or taken`()
        async throws
    {
        let scene = Scene([1_930, 5_000], latency: 900)
        try await scene.stage.sound { stage in
            // The device has then taken all but 30 frames of the first track.
            try await scene.pass(.seconds(1))
            try await wait(for: "the next track") { stage.readers.count == 2 }
            try await scene.pass(.milliseconds(900))
            #expect(stage.player.snapshot.currentIndex == 0)
            // The player wakes between two ticks, when the boundary is heard.
            try await scene.pass(.milliseconds(45))
            try await wait(for: "the title") { stage.player.snapshot.currentIndex == 1 }
            #expect(stage.story.suffix(3) == ["ended 1 finished 1930", "track 2", "playing 2 at 0"])
            try await scene.shows(5)
        }
    }

    @Test func `a false underrun costs no frame`() async throws {
        let scene = Scene([4_000], latency: 200)
        try await scene.stage.sound { stage in
            try await scene.pass(.seconds(1))
            scene.device.claimUnderrun()
            try await wait(for: "the music to continue") { stage.story.last == "playing 1 at 1000" }
            #expect(stage.story.suffix(2) == ["buffering 1", "playing 1 at 1000"])
            try await scene.pass(.seconds(1))
            try await scene.shows(2_000)
        }
    }

    @Test(arguments: [50, 700])
    func `a device that dies ten times in a track loses only what it held`(latency: Int) async throws {
        let scene = Scene([60_000], latency: latency)
        try await scene.stage.sound { stage in
            for death in 1...10 {
                try await scene.pass(.seconds(1))
                await scene.device.die()
                try await wait(for: "the loss") {
                    stage.player.snapshot.state == .buffering && stage.clock.sleeperCount == 2
                }
                try await scene.shows(Int64(death) * 1_000)
                scene.device.revive()
                stage.clock.advance(by: .milliseconds(500))
                try await wait(for: "the music after death \(death)") {
                    stage.player.snapshot.state == .playing
                }
                #expect(stage.story.last == "playing 1 at \(death * 1_000)")
            }
            #expect(stage.readers.count == 1, "the track is not opened again")
        }
        #expect(scene.stage.story.last == "ended 1 skipped 10000")
    }
}
