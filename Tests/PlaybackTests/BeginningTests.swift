import Media
import Testing

@testable import Playback

/// The track, and the position in it, at which music begins.
@Suite struct BeginningTests {
    private let tracks = numbered(1...4)

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a start track is played first even in a shuffled order`(seed: UInt64) {
        var state = PlayerState(exitsAtEnd: true, isShuffled: true, seed: seed)
        #expect(state.send(.launched(tracks)).start?.track.id == tracks[0].id)
    }

    @Test func `a track continues at its saved position, and a seek to its start leads to the start`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let long = tracks[1].id
        state.resumePoint = { $0.id == long ? .seconds(600) : nil }
        #expect(state.send(.launched(tracks, start: nil)).start?.position == .zero)
        #expect(state.send(.next).start?.position == .seconds(600))
        state.send(.ready(2))
        #expect(state.send(.seek(.to(.zero))).start?.position == .zero)
    }

    @Test(arguments: [(RepeatMode.off, Duration.seconds(600)), (.one, .zero)])
    func `a prepared track continues at its saved position, unless it is the current one repeated`(
        mode: RepeatMode,
        start: Duration
    ) {
        var state = PlayerState(exitsAtEnd: true, repeatMode: mode, seed: 1)
        state.send(.launched(tracks, start: nil), .ready(1))
        state.sound(1)
        state.resumePoint = { _ in .seconds(600) }
        let written = state.send(.passWritten(1, frames: 10), heard: 5)
        #expect(written.start?.position == start)
    }
}
