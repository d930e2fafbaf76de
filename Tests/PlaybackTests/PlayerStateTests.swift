import Media
import TestSupport
import Testing

@testable import Playback

@Suite struct PlayerStateTests {
    private let format = AudioFormat(sampleRate: 1_000, channelCount: 2)

    private func info(_ seconds: Int = 10) -> StreamInfo {
        var info = StreamInfo(format: format, bytesPerSecond: 4_000)
        info.duration = .seconds(seconds)
        return info
    }

    private func state(_ count: Int, _ mode: RepeatMode = .off) -> PlayerState {
        var state = PlayerState(exitsAtEnd: true, repeatMode: mode, seed: 1)
        let tracks = (1...count).map { FakeMusic(number: $0, frames: 1).track }
        _ = state.handle(
            .launched(tracks: tracks, problems: [], start: 1, position: .zero),
            heard: 0,
            now: .zero
        )
        return state
    }

    private func ready(_ id: Int) -> PlayerInput {
        .passReady(PassID(value: id), info(), SeekLanding(frame: 0, isExact: true), isSeekable: true)
    }

    /// Brings the first track to sound.
    private func sounding(_ count: Int, _ mode: RepeatMode = .off) -> PlayerState {
        var state = state(count, mode)
        for input in [
            ready(1), .passGranted(PassID(value: 1), start: 0), .passPrimed(PassID(value: 1)), .outputStarted,
        ] {
            _ = state.handle(input, heard: 0, now: .zero)
        }
        return state
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `every effect is legal and every track that was current ends once, whatever happens`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = PlayerState(exitsAtEnd: seed % 2 == 0, opensEachTrack: seed % 5 == 0, seed: seed)
        var world = ModelWorld(seed: seed)
        let tracks = (1...Int.random(in: 1...5, using: &random)).map {
            FakeMusic(number: $0, frames: 1).track
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) { world.command(&state) }
        world.tell(.launched(tracks: tracks, problems: [], start: 1, position: .zero), &state)
        for _ in 0..<150 where !world.isFinished { world.step(&state) }
        if !world.isFinished { world.tell(.command(.quit), &state) }
        #expect(world.isFinished)
        #expect(world.liveCount == 0, "every pass was cancelled")
    }

    @Test func `what old passes say is dropped`() {
        var state = sounding(2)
        _ = state.handle(.command(.seek(.to(.seconds(5)))), heard: 100, now: .zero)
        let old = PassID(value: 1)
        let error = MediaError(.cut, "x", "was cut")
        for input in [
            ready(1), .passWritten(old, frames: 5), .passFailed(old, error, frames: 5), .passPrimed(old),
            .drained,
            .passGranted(old, start: 3), .formatChanged(old, info(), frames: 3), .outputEvent(.underrun),
        ] as [PlayerInput] {
            #expect(state.handle(input, heard: 100, now: .zero).isEmpty)
        }
        #expect(state.position == .seconds(5))
    }

    @Test func `the playing event tells where the sound began, before what ended since`() {
        var state = state(2)
        let inputs = [ready(1), .passGranted(PassID(value: 1), start: 0)]
        for input in inputs { _ = state.handle(input, heard: 0, now: .zero) }
        _ = state.handle(.passPrimed(PassID(value: 1)), heard: 0, now: .zero)
        let effects = state.handle(.outputStarted, heard: 288, now: .zero)
        #expect(effects.first == .emit(.playing(index: 1, position: .zero, isExact: true)))
        #expect(state.position == .milliseconds(288))
    }

    @Test func `a written next track that is removed is not heard`() {
        var state = sounding(3)
        _ = state.handle(.passWritten(PassID(value: 1), frames: 900), heard: 100, now: .zero)
        for input in [ready(2), .passGranted(PassID(value: 2), start: 900)] {
            _ = state.handle(input, heard: 200, now: .zero)
        }
        let effects = state.handle(.command(.remove(2)), heard: 300, now: .zero)
        #expect(effects.contains(.cancelPass(PassID(value: 2), keepsResource: false)))
        #expect(state.currentTrack?.id == Track.ID(1))
        #expect(state.position == .milliseconds(300))
    }

    @Test func `a prepared track that is no longer the next is let go of`() {
        var state = sounding(3)
        _ = state.handle(.passWritten(PassID(value: 1), frames: 900), heard: 100, now: .zero)
        let effects = state.handle(.command(.setRepeat(.one)), heard: 200, now: .zero)
        #expect(effects.first == .cancelPass(PassID(value: 2), keepsResource: false))
        guard
            case .startPass(PassID(value: 3), let track, at: .zero, reusing: nil, refresh: false) = effects
                .last
        else {
            Issue.record("the current track is prepared to be heard again")
            return
        }
        #expect(track.id == Track.ID(1))
    }

    @Test func `skipping before the sources are known ends nothing`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        #expect(state.handle(.command(.next), heard: 0, now: .zero).isEmpty)
        #expect(state.phase == .launching)
    }

    @Test func `ticks are wanted only while there is something to tell`() {
        var state = sounding(1)
        #expect(state.needsTicks)
        _ = state.handle(.command(.pause), heard: 10, now: .zero)
        #expect(!state.needsTicks)
        _ = state.handle(.command(.stop), heard: 10, now: .zero)
        #expect(!state.needsTicks)
    }

    @Test func `a problem of a source counts as lost, a notice does not`() {
        var state = state(1)
        let error = MediaError(.notFound, "x", "is not there")
        #expect(state.handle(.added([], problems: [error]), heard: 0, now: .zero).first == .countLostSource)
        #expect(state.handle(.notice(error), heard: 0, now: .zero).count == 1)
    }

    @Test func `previous goes to the start of a track that is under way`() {
        var state = sounding(2)
        let effects = state.handle(.command(.previous), heard: 3_500, now: .zero)
        #expect(!effects.contains { if case .endTrack = $0 { true } else { false } })
        #expect(state.position == .zero)
    }
}
