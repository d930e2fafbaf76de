import Media
import Testing

@testable import Output

/// Our own volume changes come back as signals, like those of other programs.
struct PulseVolumeStateTests {
    private typealias Level = PulseVolumeState.Level

    private let quiet = Level(percent: 40, isMuted: false)
    private let loud = Level(percent: 80, isMuted: false)

    @Test func `the echo of our own setting is not reported`() {
        var state = PulseVolumeState()
        state.chosen(quiet)
        #expect(state.changeSignalled() == .ask)
        #expect(state.answered(quiet) == .none)
        #expect(state.level == quiet)
    }

    @Test func `the change of another program is reported, and counts as chosen`() {
        var state = PulseVolumeState()
        #expect(state.changeSignalled() == .ask)
        #expect(state.answered(loud) == .report(loud))
        #expect(state.isChosen && state.level == loud)
        // The same value again is no change.
        #expect(state.changeSignalled() == .ask)
        #expect(state.answered(loud) == .none)
    }

    @Test func `an answer to a query from before our last setting is ignored, and the query repeated`() {
        var state = PulseVolumeState()
        #expect(state.changeSignalled() == .ask)
        state.chosen(quiet)
        #expect(state.answered(loud) == .ask)
        #expect(state.answered(quiet) == .none)
        #expect(state.level == quiet)
    }

    @Test func `signals during a query lead to one more query`() {
        var state = PulseVolumeState()
        #expect(state.changeSignalled() == .ask)
        #expect(state.changeSignalled() == .none)
        #expect(state.changeSignalled() == .none)
        #expect(state.answered(quiet) == .ask)
        #expect(state.answered(quiet) == .report(quiet))
        #expect(state.changeSignalled() == .ask)
        state.unanswered()
        #expect(state.changeSignalled() == .ask)
    }
}

/// The heard position, computed from the server's reports of its clock.
struct PulsePositionTests {
    private var position = PulsePosition(format: .cd)

    @Test func `silence that the sink plays first does not count as music`() {
        var position = position
        position.took(11_025)
        position.measured(latency: 11_025 + 88_200, isPlaying: true, at: .zero)
        position.moved(to: .seconds(1))
        #expect(position.heard == 0)
        position.moved(to: .milliseconds(2_100))
        #expect(position.heard == 4_410)
    }

    @Test func `the position moves only while the server plays`() {
        var position = position
        position.took(44_100)
        position.moved(to: .seconds(5))
        position.measured(latency: 44_100, isPlaying: false, at: .seconds(5))
        position.moved(to: .seconds(6))
        #expect(position.heard == 0)
        position.measured(latency: 44_100, isPlaying: true, at: .seconds(6))
        position.moved(to: .milliseconds(6_500))
        position.stopped()
        position.moved(to: .seconds(9))
        #expect(position.heard == 22_050)
    }

    @Test func `the heard position never goes back and never exceeds the frames taken`() {
        var position = position
        position.took(1_000)
        position.measured(latency: 200, isPlaying: true, at: .zero)
        position.measured(latency: 700, isPlaying: true, at: .zero)
        #expect(position.heard == 800)
        position.moved(to: .seconds(1))
        #expect(position.heard == 1_000)
        position.took(500)
        #expect(position.heard == 1_000)
        position.flushed()
        position.moved(to: .seconds(2))
        #expect(position.heard == 1_500)
    }
}
