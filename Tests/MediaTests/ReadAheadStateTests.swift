import Media
import Testing

@Suite struct ReadAheadStateTests {
    @Test func `held bytes are returned if the reader arrives at them, and dropped if it jumps`() {
        var state = ReadAheadState()
        #expect(state.answered(at: 0, count: 10) == nil)
        #expect(state.answered(at: 10, count: 10) == 20)
        state.arrived(Array(0..<20), at: 20)
        // A part is taken: there is nothing to read ahead while the rest is held.
        #expect(state.take(at: 20, count: 15) == Array(0..<15))
        #expect(state.answered(at: 20, count: 15) == nil)
        #expect(state.take(at: 35, count: 15) == Array(15..<20))
        #expect(state.answered(at: 35, count: 5) == 40)
        // The reader jumped before these came.
        #expect(state.answered(at: 100, count: 5) == nil)
        state.arrived([1], at: 40)
        #expect(state.take(at: 40, count: 1) == nil)
        #expect(state.answered(at: 105, count: 5) == 110)
        state.arrived([1], at: 110)
        #expect(state.answered(at: 0, count: 5) == nil)
        #expect(state.take(at: 110, count: 1) == nil)
        #expect(state.answered(at: 5, count: 5) == 10)
        state.stop()
        state.arrived([1], at: 10)
        #expect(state.take(at: 10, count: 1) == nil)
    }
}
