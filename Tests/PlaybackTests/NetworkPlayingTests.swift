import Media
import TestSupport
import Testing

@testable import Playback

@Suite struct NetworkPlayingTests {
    private let away = MediaError(.unknownHost, "http://music.example/1.mp3", "the host cannot be found")

    private func notices(_ stage: Stage, _ wanted: String) -> [String] {
        stage.events.compactMap {
            if case .remark(let code, let message) = $0, code == wanted { message.string } else { nil }
        }
    }

    // MARK: Waiting

    @Test func `each retry is reported once, with its countdown in the snapshot`()
        async throws
    {
        let stage = Stage([FakeMusic(number: 1, frames: 60_000)], sink: TestSink(allowance: 500))
        _ = try await stage.play { stage in
            try await wait(for: "music") { stage.sink.heardFrames == 500 && stage.clock.sleeperCount == 1 }
            for attempt in 1...3 {
                let at = stage.clock.now + .milliseconds(3_250)
                stage.readers[0].edit { [away] report in
                    report.wait = LoadWait(error: away, attempt: attempt, mostAttempts: 10, retryAt: at)
                }
                for _ in 0..<4 {
                    try await wait(for: "the timer") { stage.clock.sleeperCount == 1 }
                    stage.clock.advance(by: .milliseconds(250))
                    try await wait(for: "the notice") { notices(stage, "reconnecting").count == attempt }
                }
                try await wait(for: "the countdown") {
                    stage.player.snapshot.retryIn == at - stage.clock.now
                }
            }
            #expect(
                notices(stage, "reconnecting")[1]
                    == "http://music.example/1.mp3: the host cannot be found; retry in 3 s (attempt 3 of 10)"
            )
            stage.readers[0].edit { $0.wait = nil }
            stage.player.send(.volume(7))
            try await wait(for: "no countdown") { stage.player.snapshot.retryIn == nil }
        }
    }

    // MARK: Offline

    @Test func `going offline and online is reported once, with the reason`() async throws {
        let network = FakeConnectivity()
        let stage = Stage(
            [FakeMusic(number: 1, frames: 60_000)],
            sink: TestSink(allowance: 500),
            connectivity: network
        )
        _ = try await stage.play { stage in
            try await wait(for: "music") { stage.player.snapshot.state == .playing }
            network.set(offline: true, because: away)
            try await wait(for: "the news") { stage.player.snapshot.connectivity.isOffline }
            network.set(offline: true, because: away)
            network.set(offline: false)
            try await wait(for: "the good news") { !stage.player.snapshot.connectivity.isOffline }
            #expect(
                notices(stage, "offline") == [
                    "Offline: the host cannot be found (cached music keeps playing)"
                ]
            )
            #expect(notices(stage, "online") == ["Online again"])
        }
    }

    @Test func `only a command retries the network at once, and never while offline is forced`() async throws
    {
        let network = FakeConnectivity()
        var pieces = (1...6).map { FakeMusic(number: $0, frames: 900) }
        for place in 1..<5 { pieces[place].openFailure = MediaError(.offline, "x", "is not in the cache") }
        let stage = Stage(pieces, sink: TestSink(allowance: 100), connectivity: network)
        _ = try await stage.play { stage in
            network.set(offline: true, because: away)
            try await wait(for: "music") { stage.player.snapshot.state == .playing }
            #expect(network.retries == 0)
            stage.player.send(.jump(2))
            try await wait(for: "the last track") { stage.player.snapshot.currentIndex == 5 }
            #expect(network.retries == 1, "tracks that are skipped ask for nothing")
            #expect(stage.story.filter { $0.hasSuffix("failed 0") }.count == 4)
            stage.player.send(.volume(5))
            stage.player.send(.seek(.to(.milliseconds(100))))
            try await wait(for: "the seek") { stage.story.contains("seeked 6 at 100") }
            #expect(network.retries == 2)
        }
        var report = ConnectivityReport()
        (report.isOffline, report.isForced) = (true, true)
        let forced = FakeConnectivity(report)
        let other = Stage(pieces, sink: TestSink(allowance: 100), connectivity: forced)
        _ = try await other.play { stage in
            try await wait(for: "music") { stage.player.snapshot.state == .playing }
            stage.player.send(.jump(6))
            try await wait(for: "the jump") { stage.player.snapshot.currentIndex == 5 }
            #expect(stage.player.snapshot.connectivity.isForced)
        }
        #expect(forced.retries == 0)
        #expect(notices(other, "offline").isEmpty, "what was asked for is no news")
    }

    @Test(arguments: RepeatMode.allCases)
    func `a queue of which nothing is cached ends after one round while offline`(mode: RepeatMode) async {
        let pieces = (1...20).map { number in
            var piece = FakeMusic(number: number, frames: 1)
            piece.openFailure = MediaError(.offline, "x", "is not in the cache")
            return piece
        }
        let stage = Stage(pieces, repeatMode: mode)
        let outcome = await stage.play()
        #expect(outcome.summary.failed == 20)
        #expect(stage.readers.count == 20)
    }
}
