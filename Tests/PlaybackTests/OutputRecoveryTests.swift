import Media
import TestSupport
import Testing

@testable import Playback

/// The loss of an audio server, and its return.
@Suite struct OutputRecoveryTests {
    private let gone = MediaError(.audioLost, "PulseAudio", "is gone")
    private let away = MediaError(.audioServer, "PulseAudio", "is away")

    @Test func `attempts come at growing intervals, one at a time`() {
        var recovery = OutputRecovery()
        var delays: [Duration] = []
        for _ in 0..<7 {
            guard let delay = recovery.attempt(atOnce: false) else { break }
            delays.append(delay)
            let beside = recovery.attempt(atOnce: false)
            #expect(beside == nil)
            let hasFailed = recovery.failed(recovery.number)
            #expect(hasFailed)
        }
        #expect(delays == [0.5, 1, 2, 4, 5, 5, 5].map { .seconds($0) })
        // A new command does not wait for the attempt in progress.
        let hurried = [recovery.attempt(atOnce: true), recovery.attempt(atOnce: true)]
        #expect(hurried == [.zero, .zero])
        let newest = recovery.number
        let isOldHeard = [recovery.reached(newest - 1), recovery.failed(newest - 1)]
        #expect(isOldHeard == [false, false])
        let (isFirst, isSecond) = (recovery.reached(newest), recovery.reached(newest))
        #expect(isFirst && !isSecond && recovery.isReached)
        recovery.lost()
        #expect(!recovery.isReached)
        // A server that comes and goes does not cause a busy loop.
        let next = recovery.attempt(atOnce: false)
        #expect(next == .seconds(5))
    }

    @Test func `each reason is reported once until sound is heard again`() {
        var recovery = OutputRecovery()
        let areNew = [gone, gone, away, away, gone].map { recovery.isNew($0) }
        #expect(areNew == [true, false, true, false, true])
    }

    /// Plays until the sink has taken 500 frames of 9,000.
    private func playing(_ body: (Stage) async throws -> Void) async throws {
        let stage = Stage([FakeMusic(number: 1, frames: 9_000)], sink: TestSink(allowance: 500))
        try await stage.sound(heard: 500, body)
    }

    /// Loses the server, which stays away until `setAway(false)`.
    private func lose(_ stage: Stage) async throws {
        stage.sink.setAway(true)
        stage.sink.tell(.lost(gone))
        try await wait(for: "the loss") { stage.story.last == "buffering 1" }
    }

    /// Advances the clock to the time of the next attempt; the other sleeper is the tick.
    private func attempt(_ stage: Stage, _ number: Int) async throws {
        try await wait(for: "attempt \(number) to be awaited") { stage.clock.sleeperCount == 2 }
        while stage.sink.connections < number {
            stage.clock.advance(by: .milliseconds(250))
            try await wait(for: "the next attempt") {
                stage.sink.connections == number || stage.clock.sleeperCount == 2
            }
        }
    }

    @Test func `a lost server is tried again, and playback continues at the heard position`() async throws {
        try await playing { stage in
            try await lose(stage)
            #expect(stage.player.snapshot.state == .buffering)
            #expect(stage.player.snapshot.position == .milliseconds(500))
            for number in 2...4 { try await attempt(stage, number) }
            #expect((3_500...4_250).contains(stage.clock.now.milliseconds))
            #expect(stage.story.filter { $0 == "notice audio-lost" }.count == 1)
            stage.sink.setAway(false)
            try await attempt(stage, 5)
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            #expect(stage.story.suffix(3) == ["notice audio-lost", "buffering 1", "playing 1 at 500"])
        }
    }

    @Test func `if paused after the loss, the next attempt waits for a command`() async throws {
        try await playing { stage in
            try await lose(stage)
            stage.player.send(.pause)
            try await wait(for: "the pause") { stage.player.snapshot.state == .paused }
            stage.clock.advance(by: .milliseconds(500))
            try await wait(for: "the end of the attempt") {
                stage.sink.connections == 2 && stage.clock.sleeperCount == 0
            }
            stage.sink.setAway(false)
            stage.player.send(.play)
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            #expect(stage.sink.connections == 3 && stage.story.last == "playing 1 at 500")
        }
    }

    @Test func `a player paused before the loss stays paused when the server is back`() async throws {
        try await playing { stage in
            stage.player.send(.pause)
            try await wait(for: "the pause") { stage.player.snapshot.state == .paused }
            stage.sink.tell(.lost(gone))
            try await wait(for: "the loss") { stage.story.last == "notice audio-lost" }
            #expect(stage.player.snapshot.state == .paused && stage.clock.sleeperCount == 0)
            stage.player.send(.play)
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            #expect(stage.sink.connections == 2 && stage.story.last == "playing 1 at 500")
        }
    }

    @Test func `a seek without a server takes effect when it is back, and quitting does not wait`()
        async throws
    {
        try await playing { stage in
            try await lose(stage)
            stage.player.send(.seek(.to(.seconds(7))))
            try await wait(for: "the place") { stage.player.snapshot.position == .seconds(7) }
            stage.sink.setAway(false)
            try await attempt(stage, 2)
            try await wait(for: "the music") { stage.story.last == "playing 1 at 7000" }
            stage.sink.setAway(true)
            stage.sink.tell(.lost(gone))
            try await wait(for: "the second loss") { stage.player.snapshot.state == .buffering }
        }
    }

    @Test func `a server lost while nothing plays is tried when a track begins`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        state.send(.launched(numbered(1...1)), .command(.stop))
        let lost = state.send(.outputEvent(.lost(gone)))
        #expect(lost.last == .forgetOutput)
        state.send(.play)
        let sought = state.send(.ready(2))
        #expect(sought.last == .reconnectOutput(after: .milliseconds(500), attempt: 1))
        // An immediate attempt does not wait, even if the result of the previous one is already on its way.
        state.send(.pause)
        let hurried = state.send(.play)
        #expect(hurried.last == .reconnectOutput(after: .zero, attempt: 2))
        #expect(state.send(.outputUnreachable(attempt: 1)).isEmpty)
        let reached = state.send(.outputReached(attempt: 2))
        #expect(reached.contains(.openOutput(StreamInfo.music().format)))
    }

    @Test(arguments: [nil, 40, 100])
    func `a requested volume is set, and without one the sink keeps its own`(volume: Int?) async {
        let stage = Stage([FakeMusic(number: 1, frames: 300)], volume: volume)
        _ = await stage.play()
        #expect(stage.sink.volumes == (volume.map { [$0] } ?? []))
        #expect(stage.player.snapshot.volume == volume ?? 100)
    }

    @Test func `a volume changed at the server is shown, and keys change it from there`() async throws {
        try await playing { stage in
            stage.sink.tell(.volumeChanged(percent: 70, isMuted: true))
            try await wait(for: "the change") {
                stage.player.snapshot.volume == 70 && stage.player.snapshot.isMuted
            }
            stage.player.send(.changeVolume(by: -5))
            try await wait(for: "the key") { stage.player.snapshot.volume == 65 }
        }
    }

    @Test func `only the server's own pause is ended by the server`() async throws {
        try await playing { stage in
            stage.sink.tell(.pauseRequested)
            try await wait(for: "the pause") { stage.player.snapshot.state == .paused }
            stage.sink.tell(.resumeRequested)
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            stage.sink.tell(.pauseRequested)
            try await wait(for: "the pause") { stage.player.snapshot.state == .paused }
            stage.player.send(.pause)
            stage.sink.tell(.resumeRequested)
            stage.player.send(.volume(42))
            try await wait(for: "all of it") { stage.player.snapshot.volume == 42 }
            #expect(stage.player.snapshot.state == .paused)
        }
    }
}
