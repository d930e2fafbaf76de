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

    @Test func `each retry is reported once, with its countdown in the snapshot`() async throws {
        let stage = Stage([FakeMusic(number: 1, frames: 60_000)], sink: TestSink(allowance: 500))
        try await stage.sound(heard: 500) { stage in
            try await wait(for: "the timer") { stage.clock.sleeperCount == 1 }
            for attempt in 1...3 {
                let time = stage.clock.now + .milliseconds(3_250)
                stage.readers[0].edit { [away] report in
                    report.wait = LoadWait(error: away, attempt: attempt, mostAttempts: 10, retryAt: time)
                }
                for _ in 0..<4 {
                    try await stage.tick()
                    try await wait(for: "the notice") { notices(stage, "reconnecting").count == attempt }
                }
                try await wait(for: "the countdown") {
                    stage.player.snapshot.retryIn == time - stage.clock.now
                }
            }
            #expect(
                notices(stage, "reconnecting")[1]
                    == "http://music.example/1.mp3: the host cannot be found · retry in 3 s (3 of 10)"
            )
            stage.readers[0].edit { $0.wait = nil }
            stage.player.send(.volume(7))
            try await wait(for: "no countdown") { stage.player.snapshot.retryIn == nil }
        }
    }

    @Test func `going offline and online is reported once, with the reason`() async throws {
        let network = FakeConnectivity()
        let stage = Stage(
            [FakeMusic(number: 1, frames: 60_000)],
            sink: TestSink(allowance: 500),
            connectivity: network
        )
        try await stage.sound { stage in
            network.set(offline: true, because: away)
            try await wait(for: "the report") { stage.player.snapshot.connectivity.isOffline }
            network.set(offline: true, because: away)
            network.set(offline: false)
            try await wait(for: "the second report") { !stage.player.snapshot.connectivity.isOffline }
            let reported = notices(stage, "offline")
            #expect(reported == ["The host cannot be found (cached music keeps playing)"])
            #expect(notices(stage, "online") == ["Online again"])
        }
    }

    @Test func `online, a command for music lets dead hosts be tried again`() async throws {
        let network = FakeConnectivity()
        let pieces = (1...2).map { FakeMusic(number: $0, frames: 60_000) }
        let stage = Stage(pieces, sink: TestSink(allowance: 100), connectivity: network)
        try await stage.sound { stage in
            stage.player.send(.volume(5))
            stage.player.send(.jump(2))
            try await wait(for: "the second track") { stage.player.snapshot.currentIndex == 1 }
            #expect(network.retries == 1)
        }
    }

    @Test func `only a command retries the network, and never while offline is forced`() async throws {
        let network = FakeConnectivity()
        var pieces = (1...6).map { FakeMusic(number: $0, frames: 900) }
        for place in 1..<5 { pieces[place].openFailure = MediaError(.offline, "x", "is not in the cache") }
        let stage = Stage(pieces, sink: TestSink(allowance: 100), connectivity: network)
        try await stage.play { stage in
            network.set(offline: true, because: away)
            try await wait(for: "music") { stage.player.snapshot.state == .playing }
            #expect(network.retries == 0)
            stage.player.send(.jump(2))
            try await wait(for: "the last track") { stage.player.snapshot.currentIndex == 5 }
            #expect(network.retries == 1, "skipped tracks retry nothing")
            #expect(stage.story.filter { $0.hasSuffix("failed 0") }.count == 4)
            stage.player.send(.volume(5))
            stage.player.send(.seek(.to(.milliseconds(100))))
            try await wait(for: "the seek") { stage.story.contains("seeked 6 at 100") }
            #expect(network.retries == 2)
        }
        var report = ConnectivityReport()
        report.isOffline = true
        report.isForced = true
        let forced = FakeConnectivity(report)
        let other = Stage(pieces, sink: TestSink(allowance: 100), connectivity: forced)
        try await other.sound { stage in
            stage.player.send(.jump(6))
            try await wait(for: "the jump") { stage.player.snapshot.currentIndex == 5 }
            #expect(stage.player.snapshot.connectivity.isForced)
        }
        #expect(forced.retries == 0)
        #expect(notices(other, "offline").isEmpty, "the listener has chosen it")
    }
}
