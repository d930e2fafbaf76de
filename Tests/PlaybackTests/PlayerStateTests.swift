import Media
import TestSupport
import Testing

@testable import Playback

@Suite struct PlayerStateTests {
    @Test(arguments: 0..<300 as Range<UInt64>)
    func `every effect is legal and every track that was current ends once, whatever happens`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = PlayerState(
            exitsAtEnd: seed % 2 == 0,
            joining: seed % 5 == 0 ? .never : .exactly,
            seed: seed
        )
        var world = ModelWorld(seed: seed)
        let tracks = numbered(1...Int.random(in: 1...5, using: &random))
        for _ in 0..<Int.random(in: 0...3, using: &random) { world.command(&state) }
        for _ in 0..<(seed % 3) { world.script(&state) }
        let isInParts = seed % 4 == 0
        let first = ResolvedTracks(tracks: tracks)
        world.send(.launched(first, start: 1, position: .zero, isComplete: !isInParts), &state)
        for _ in 0..<75 where !world.isFinished { world.step(&state) }
        if isInParts, !world.isFinished {
            let rest = ResolvedTracks(tracks: numbered([900]))
            world.send(.launchedMore(rest, isComplete: true), &state)
        }
        for _ in 0..<75 where !world.isFinished { world.step(&state) }
        let isOver = world.isFinished
        if !isOver { world.send(.command(.quit), &state) }
        #expect(world.isFinished)
        #expect(world.unsaved.isEmpty, "every list was saved, or reported")
        #expect(!isOver || state.isQuit || world.unreadAdditions.isEmpty, "every addition was read")
        #expect(world.liveCount == 0, "every pass was cancelled")
    }

    @Test func `inputs from old passes are dropped`() {
        var state = PlayerState.sounding(2)
        state.send(.seek(.to(.seconds(5))), heard: 100)
        let old: PassID = 1
        let error = MediaError(.cut, "x", "was cut")
        for input in [
            .ready(1), .passWritten(old, frames: 5), .passFailed(old, error, frames: 5), .passPrimed(old),
            .drained, .passGranted(old, start: 3), .formatChanged(old, .music(), frames: 3),
            .outputEvent(.underrun),
        ] as [PlayerInput] {
            #expect(state.send(input, heard: 100).isEmpty)
        }
        #expect(state.position == .seconds(5))
    }

    @Test func `the playing event has the position at which the sound began, not the present one`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(.launched(numbered(1...2)), .ready(1), .passGranted(1, start: 0), .passPrimed(1))
        let effects = state.send(.outputStarted, heard: 288)
        #expect(effects.first == .emit(.playing(index: 1, position: .zero, isExact: true)))
        #expect(state.position == .milliseconds(288))
    }

    @Test func `an input that pauses the sink is decided by what was heard until it paused`() {
        var state = PlayerState.sounding(2)
        #expect(state.handle(.command(.pause), heard: 100, now: .zero) == [.pauseOutput])
        #expect(!state.isPaused && state.position == .zero)
        let effects = state.handle(.outputPaused, heard: 130, now: .zero)
        let paused = PlayerEvent.paused(index: 1, position: .milliseconds(130), isExact: true)
        #expect(state.isPaused && effects.contains(.emit(paused)) && !effects.contains(.pauseOutput))
        // Nobody waits for this pause.
        #expect(state.handle(.outputPaused, heard: 130, now: .zero).isEmpty)
    }

    @Test func `the sink goes on if the track that an input ends was heard to its end meanwhile`() {
        var state = PlayerState.sounding(2)
        state.send(.passWritten(1, frames: 900), .ready(2), .passGranted(2, start: 900), heard: 800)
        let input = PlayerInput.command(.remove(TrackNumbers(1)))
        #expect(state.handle(input, heard: 899, now: .zero) == [.pauseOutput])
        let effects = state.handle(.outputPaused, heard: 901, now: .zero)
        #expect(effects.last == .startOutput && effects.start == nil)
        #expect(state.lane.current?.track.id == numbered([2])[0].id)
    }

    @Test func `the pass of a prepared track is cancelled if the track is no longer the next`() {
        var state = PlayerState.sounding(3)
        state.send(.passWritten(1, frames: 900), heard: 100)
        let effects = state.send(.setRepeat(.one), heard: 200)
        #expect(effects.first == .cancelPass(2, keepsResource: false))
        #expect(effects.start == PassStart(id: 3, track: numbered([1])[0], position: .zero))
    }

    @Test func `ticks are needed only while a track plays`() {
        var state = PlayerState.sounding(1)
        #expect(state.needsTicks)
        state.send(.pause, heard: 10)
        #expect(!state.needsTicks)
        state.send(.stop, heard: 10)
        #expect(!state.needsTicks)
    }

    @Test func `a problem of a source counts as lost, a notice does not`() {
        var state = PlayerState.sounding(1)
        let error = MediaError(.notFound, "x", "is not there")
        #expect(state.send(.added([], problems: [error])).first == .countLostSource)
        #expect(state.send(.notice(error)).count == 1)
    }

    @Test
    func `previous goes to the start of a track that is under way, and after the end to the last track`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        #expect(!state.send(.previous, heard: 3_500).endsTrack && state.position == .zero)
        for _ in 0..<2 { state.send(.next) }
        #expect(state.phase == .ended)
        #expect(state.send(.previous).start?.track.id.value == 2)
    }

    private let tracks = numbered(1...4)

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a start track is played first even in a shuffled order`(seed: UInt64) {
        var state = PlayerState(exitsAtEnd: true, isShuffled: true, seed: seed)
        #expect(state.send(.launched(tracks)).start?.track.id == tracks[0].id)
    }

    @Test func `a track continues at its saved position, and a seek to its start leads to the start`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let long = tracks[1].id
        state.queue.memory = FakeMemory(places: [long: .seconds(600)])
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
        state.queue.memory = FakeMemory(
            places: Dictionary(uniqueKeysWithValues: tracks.map { ($0.id, .seconds(600)) })
        )
        let written = state.send(.passWritten(1, frames: 10), heard: 5)
        #expect(written.start?.position == start)
    }
}
