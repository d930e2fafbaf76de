import Media
import Output
import Testing

/// The heard position, computed from the server's reports of its clock.
struct PulsePositionTests {
    private var position = PulsePosition(format: .cd)

    @Test func `silence that the sink plays first is not taken for music`() {
        var position = position
        position.took(11_025)
        position.measured(latency: 11_025 + 88_200, isPlaying: true, at: .zero)
        position.moved(to: .seconds(1))
        #expect(position.heard == 0)
        position.moved(to: .milliseconds(2_100))
        #expect(position.heard == 4_410)
    }

    @Test func `time moves the music only while the server plays it`() {
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

    @Test func `what is heard never goes back and never passes what was taken`() {
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
