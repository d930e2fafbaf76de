import Media
import Testing

@testable import Desktop

@Suite struct MPRISStateTests {
    /// A dialogue with the state: what the player is, and when, in; the signals out.
    private struct Dialogue {
        var state = MPRISState()

        init(_ snapshot: PlayerSnapshot) { state.appeared(with: MPRISState.Moment(snapshot, at: .zero)) }

        /// The changed properties, in the order of their names, and `Seeked` with its position in ms.
        mutating func hears(_ snapshot: PlayerSnapshot, at seconds: Double) -> [String] {
            let moment = MPRISState.Moment(snapshot, at: .seconds(seconds))
            let isNeeded = state.needsSignals(for: moment)
            let signals = state.signals(for: moment)
            #expect(isNeeded || signals.isEmpty)
            #expect(!state.needsSignals(for: moment))
            return signals.flatMap { signal -> [String] in
                switch signal.arguments.first {
                case .int64(let place): return ["Seeked \(place / 1_000)"]
                default:
                    guard case .map(let values) = signal.arguments[1] else { return [] }
                    return values.keys.sorted()
                }
            }
        }
    }

    private func at(_ seconds: Double, _ change: (inout PlayerSnapshot) -> Void = { _ in }) -> PlayerSnapshot
    {
        playing {
            $0.position = .seconds(seconds)
            change(&$0)
        }
    }

    @Test func `music that plays on needs no signal`() {
        var dialogue = Dialogue(at(10))
        #expect(dialogue.hears(at(10.3), at: 0.25) == [])
        #expect(dialogue.hears(at(70), at: 60.2) == [])
    }

    @Test func `only what has changed is signalled, and the position never`() {
        var dialogue = Dialogue(at(10))
        #expect(dialogue.hears(at(11) { $0.volume = 30 }, at: 1) == ["Volume"])
        #expect(dialogue.hears(at(11.5) { $0.isMuted = true }, at: 1.5) == ["Volume"])
        #expect(dialogue.hears(at(12) { $0.repeatMode = .all }, at: 2) == ["LoopStatus", "Volume"])
        #expect(dialogue.hears(at(12), at: 2) == ["LoopStatus"])
        #expect(dialogue.hears(at(12) { $0.state = .paused }, at: 2) == ["PlaybackStatus"])
    }

    @Test func `a change that listeners can't see is none`() {
        var dialogue = Dialogue(at(10))
        // Other tracks, and a state that listeners take for playing.
        #expect(dialogue.hears(at(10) { $0.tracks.removeLast() }, at: 0) == [])
        #expect(dialogue.hears(at(10.2) { $0.state = .buffering }, at: 0.2) == [])
    }

    @Test(arguments: [2.0, 150.0])
    func `a jump is told with the new place, once`(place: Double) {
        var dialogue = Dialogue(at(10))
        #expect(dialogue.hears(at(place), at: 1) == ["Seeked \(Int(place * 1_000))"])
        #expect(dialogue.hears(at(place + 1), at: 2) == [])
    }

    @Test func `the next track begins without a jump, and one that begins elsewhere with one`() {
        var dialogue = Dialogue(at(199))
        #expect(dialogue.hears(at(0.1) { $0.currentIndex = 0 }, at: 1) == ["Metadata"])
        #expect(dialogue.hears(at(42) { $0.currentIndex = 2 }, at: 2) == ["Metadata", "Seeked 42000"])
    }

    @Test func `the same track from its beginning again is a jump back`() {
        var dialogue = Dialogue(at(198))
        #expect(dialogue.hears(at(0), at: 2) == ["Seeked 0"])
    }

    @Test func `a seek while paused is told at once`() {
        var dialogue = Dialogue(at(10) { $0.state = .paused })
        #expect(dialogue.hears(at(10) { $0.state = .paused }, at: 100) == [])
        #expect(dialogue.hears(at(11) { $0.state = .paused }, at: 101) == ["Seeked 11000"])
    }

    @Test func `a pause keeps the place, and playing goes on from it`() {
        var dialogue = Dialogue(at(10))
        #expect(dialogue.hears(at(20) { $0.state = .paused }, at: 10) == ["PlaybackStatus"])
        #expect(dialogue.hears(at(20) { $0.state = .paused }, at: 99) == [])
        #expect(dialogue.hears(at(20), at: 100) == ["PlaybackStatus"])
        #expect(dialogue.hears(at(21), at: 101) == [])
    }

    @Test func `a wait for bytes is told once, and again when the music goes on`() {
        var dialogue = Dialogue(at(10))
        let waiting = at(20) { $0.state = .buffering }
        #expect(dialogue.hears(waiting, at: 10.2) == [])
        #expect(dialogue.hears(waiting, at: 10.6) == ["Seeked 20000"])
        #expect(dialogue.hears(waiting, at: 15) == [])
        #expect(dialogue.hears(at(20), at: 16) == ["Seeked 20000"])
        #expect(dialogue.hears(at(21), at: 17) == [])
    }

    @Test func `a slow start is corrected once the music is heard`() {
        var dialogue = Dialogue(at(100))
        let opening = at(0) {
            $0.currentIndex = 2
            $0.state = .opening
        }
        #expect(dialogue.hears(opening, at: 1) == ["Metadata"])
        #expect(dialogue.hears(opening, at: 4) == [])
        #expect(dialogue.hears(at(0) { $0.currentIndex = 2 }, at: 5) == ["Seeked 0"])
    }

    @Test func `music that was stopped begins at its beginning`() {
        var dialogue = Dialogue(at(100))
        #expect(dialogue.hears(at(0) { $0.state = .stopped }, at: 1) == ["CanSeek", "PlaybackStatus"])
        #expect(dialogue.hears(at(0), at: 60) == ["CanSeek", "PlaybackStatus"])
        #expect(dialogue.hears(at(1), at: 61) == [])
    }

    @Test func `without a bus there are no signals, and those who join later ask`() {
        var dialogue = Dialogue(at(10))
        dialogue.state.disappeared()
        #expect(dialogue.hears(at(90) { $0.volume = 1 }, at: 1) == [])
        dialogue.state.appeared(with: MPRISState.Moment(at(90), at: .seconds(2)))
        #expect(dialogue.hears(at(91), at: 3) == [])
    }
}
