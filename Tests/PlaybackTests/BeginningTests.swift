import Media
import Testing

@testable import Playback

/// With which track, and where in it, music begins.
@Suite struct BeginningTests {
    private let tracks = (1...4).map { FakeMusic(number: $0, frames: 1).track }

    /// The track and the place of each pass that these effects start.
    private func begun(_ effects: [PlayerEffect]) -> [(track: Track.ID, start: Duration)] {
        effects.compactMap { effect in
            guard case .startPass(_, let track, let start, _, _) = effect else { return nil }
            return (track.id, start)
        }
    }

    private func launched(_ state: inout PlayerState, start: Int?) -> [PlayerEffect] {
        state.handle(
            .launched(tracks: tracks, problems: [], start: start, position: .zero),
            heard: 0,
            now: .zero
        )
    }

    private func ready(_ id: Int) -> PlayerInput {
        var info = StreamInfo(format: AudioFormat(sampleRate: 1_000, channelCount: 2), bytesPerSecond: 4_000)
        info.duration = .seconds(3_600)
        return .passReady(PassID(value: id), info, SeekLanding(frame: 0, isExact: true), isSeekable: true)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a track that was named is begun with also when the order is shuffled`(seed: UInt64) {
        var state = PlayerState(exitsAtEnd: true, isShuffled: true, seed: seed)
        #expect(begun(launched(&state, start: 1)).map(\.track) == [tracks[0].id])
        var free = PlayerState(exitsAtEnd: true, isShuffled: true, seed: seed)
        _ = launched(&free, start: nil)
        #expect(free.queue.current == free.queue.last || free.queue.next(after: free.queue.current) != nil)
    }

    @Test func `a track goes on where it was left, and a seek to its start still leads there`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let long = tracks[1].id
        state.resumePoint = { $0.id == long ? .seconds(600) : nil }
        #expect(begun(launched(&state, start: nil)).map(\.start) == [.zero])
        #expect(begun(state.handle(.command(.next), heard: 0, now: .zero)).map(\.start) == [.seconds(600)])
        _ = state.handle(ready(2), heard: 0, now: .zero)
        let sought = begun(state.handle(.command(.seek(.to(.zero))), heard: 0, now: .zero))
        #expect(sought.map(\.start) == [.zero])
    }

    @Test(arguments: [(RepeatMode.off, Duration.seconds(600)), (.one, .zero)])
    func `what is prepared goes on where it was left, unless the track repeats itself`(
        mode: RepeatMode,
        start: Duration
    ) {
        var state = PlayerState(exitsAtEnd: true, repeatMode: mode, seed: 1)
        _ = launched(&state, start: nil)
        for input in [
            ready(1), .passGranted(PassID(value: 1), start: 0), .passPrimed(PassID(value: 1)), .outputStarted,
        ] {
            _ = state.handle(input, heard: 0, now: .zero)
        }
        state.resumePoint = { _ in .seconds(600) }
        let written = state.handle(.passWritten(PassID(value: 1), frames: 10), heard: 5, now: .zero)
        #expect(begun(written).map(\.start) == [start])
    }
}
