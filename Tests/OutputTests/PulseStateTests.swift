import Media
import Testing

@testable import Output

/// Our own volume changes come back as signals, like those of other programs.
struct PulseVolumeStateTests {
    private typealias Level = PulseVolumeState.Level

    private let quiet = Level(percent: 40, isMuted: false)
    private let loud = Level(percent: 80, isMuted: false)

    @Test func `our own setting is not reported, but the change of another program is, once`() {
        var state = PulseVolumeState()
        state.chosen(quiet)
        for (answer, expected) in [(quiet, .none), (loud, .report(loud)), (loud, .none)]
            as [(Level, PulseVolumeState.Action)]
        {
            #expect(state.changeSignalled() == .ask)
            #expect(state.answered(answer) == expected)
            #expect(state.level == answer)
        }
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
        #expect((1...3).map { _ in state.changeSignalled() } == [.ask, .none, .none])
        #expect([state.answered(quiet), state.answered(quiet)] == [.ask, .report(quiet)])
        #expect(state.changeSignalled() == .ask)
        state.unanswered()
        #expect(state.changeSignalled() == .ask)
    }
}

/// The heard position, computed from the server's reports of its clock.
struct PulsePositionTests {
    @Test func `silence that the sink plays first does not count as music`() {
        var position = PulsePosition(format: .cd)
        position.took(11_025)
        position.measured(latency: 11_025 + 88_200, isPlaying: true, at: .zero)
        position.moved(to: .seconds(1))
        #expect(position.heard == 0)
        position.moved(to: .milliseconds(2_100))
        #expect(position.heard == 4_410)
    }

    @Test func `the position moves only while the server plays`() {
        var position = PulsePosition(format: .cd)
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
        var position = PulsePosition(format: .cd)
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
