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
            let hasFailed = recovery.ended(recovery.number, isReached: false)
            #expect(hasFailed)
        }
        #expect(delays == [0.5, 1, 2, 4, 5, 5, 5].map { .seconds($0) })
        // A new command does not wait for the attempt in progress, whose late result is ignored.
        let hurried = [recovery.attempt(atOnce: true), recovery.attempt(atOnce: true)]
        #expect(hurried == [.zero, .zero])
        let newest = recovery.number
        let results = [
            recovery.ended(newest - 1, isReached: true), recovery.ended(newest - 1, isReached: false),
            recovery.ended(newest, isReached: true),
        ]
        #expect(results == [false, false, true] && recovery.isReached)
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
        stage.sink.send(.lost(gone))
        try await wait(for: "the loss") {
            stage.story.last == "buffering 1" && stage.player.snapshot.state == .buffering
        }
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
            #expect(stage.player.snapshot.position == .milliseconds(500))
            for number in 2...4 { try await attempt(stage, number) }
            #expect((3_500...4_250).contains(stage.clock.now.milliseconds))
            #expect(stage.story.filter { $0 == "notice audio-lost" }.count == 1)
            #expect(stage.player.snapshot.messages.last?.text == "Sound server lost – waiting")
            #expect(stage.player.snapshot.isOutputLost)
            stage.sink.setAway(false)
            try await attempt(stage, 5)
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            #expect(
                stage.story.suffix(4) == [
                    "notice audio-lost", "buffering 1", "notice audio-back", "playing 1 at 500",
                ]
            )
            #expect(stage.player.snapshot.messages.last?.text == "Sound is back")
            #expect(!stage.player.snapshot.isOutputLost)
        }
    }

    @Test func `without a server at the start a session that stays waits for one`() async throws {
        let sink = TestSink(allowance: 500)
        sink.setAway(true)
        let stage = Stage([FakeMusic(number: 1, frames: 9_000)], sink: sink, exitsAtEnd: false)
        try await stage.play { stage in
            try await wait(for: "the failed start") {
                stage.story.last == "buffering 1" && stage.player.snapshot.isOutputLost
            }
            #expect(stage.notices == ["audio-server"])
            sink.setAway(false)
            try await attempt(stage, 2)
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            #expect(
                stage.story.prefix(5) == [
                    "track 1", "notice audio-server", "buffering 1", "notice audio-back", "playing 1 at 0",
                ]
            )
        }
    }

    @Test func `if paused after the loss, the next attempt waits for a command`() async throws {
        try await playing { stage in
            try await lose(stage)
            stage.player.send(.pause)
            try await wait(for: "the pause") { stage.player.snapshot.state == .paused }
            // The attempt counts its delay from when its task runs, which can be later than the pause.
            try await wait(for: "the attempt to be awaited") { stage.clock.sleeperCount == 1 }
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
            stage.sink.send(.lost(gone))
            try await wait(for: "the second loss") { stage.player.snapshot.state == .buffering }
        }
    }

    @Test func `a server lost during a pause is tried at the next command`() {
        var state = PlayerState.sounding(1)
        state.send(.pause, heard: 500)
        let lost = state.send(.outputEvent(.lost(gone)), heard: 500)
        #expect(state.isPaused && lost.start?.position == .milliseconds(500))
        #expect(!lost.contains { if case .reconnectOutput = $0 { true } else { false } })
        #expect(state.send(.play).last == .reconnectOutput(after: .zero, attempt: 1))
    }

    @Test func `a server lost while nothing plays is tried when a track begins`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        state.send(.launched(numbered(1...1)), .command(.stop))
        #expect(state.send(.outputEvent(.lost(gone))).last == .forgetOutput)
        state.send(.play)
        #expect(state.send(.ready(2)).last == .reconnectOutput(after: .milliseconds(500), attempt: 1))
        // An immediate attempt does not wait, even if the result of the previous one is already on its way.
        state.send(.pause)
        #expect(state.send(.play).last == .reconnectOutput(after: .zero, attempt: 2))
        #expect(state.send(.searchEnded(attempt: 1, isReached: false)).isEmpty)
        #expect(
            state.send(.searchEnded(attempt: 2, isReached: true)).contains(
                .openOutput(StreamInfo.music().format)
            )
        )
    }

    @Test(arguments: [nil, 40, 100])
    func `a requested volume is set, and without one the sink keeps its own`(volume: Int?) async {
        let stage = Stage([FakeMusic(number: 1, frames: 300)], volume: volume)
        _ = await stage.play()
        #expect(stage.sink.volumes == (volume.map { [$0] } ?? []))
        #expect(stage.player.snapshot.volume == volume ?? 100)
    }

    @Test func `a volume changed at the server is shown, and keys change it from there`() {
        var state = PlayerState.sounding(1)
        state.send(.outputEvent(.volumeChanged(percent: 70, isMuted: true)))
        #expect(state.volume == 70 && state.isMuted)
        #expect(state.send(.changeVolume(by: -5)).first == .setVolume(65, isMuted: false))
    }

    @Test func `only the server's own pause is ended by the server`() {
        var state = PlayerState.sounding(1)
        #expect(state.send(.outputEvent(.pauseRequested)).first == .pauseOutput)
        #expect(state.send(.outputEvent(.resumeRequested)).last == .startOutput)
        state.send(.outputStarted, .outputEvent(.pauseRequested), .command(.pause))
        #expect(state.send(.outputEvent(.resumeRequested)).isEmpty && state.isPaused)
    }
}
