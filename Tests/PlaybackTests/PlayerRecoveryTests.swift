import Media
import Testing

@testable import Playback

/// The player's behaviour when commands come early, and when files, formats and sinks change during playback.
@Suite struct PlayerRecoveryTests {
    private let format = AudioFormat(sampleRate: 1_000, channelCount: 2)
    private let changed = MediaError(.resourceChanged, "x", "has changed")
    private let broken = MediaError(.cut, "x", "was cut")

    private func info(_ channels: Int = 2) -> StreamInfo {
        var info = StreamInfo(
            format: AudioFormat(sampleRate: 1_000, channelCount: channels),
            bytesPerSecond: 4_000
        )
        info.duration = .seconds(10)
        return info
    }

    private func launch(_ count: Int, start: Int = 1) -> PlayerInput {
        let tracks = (1...count).map { FakeMusic(number: $0, frames: 1).track }
        return .launched(tracks: tracks, problems: [], start: start, position: .zero)
    }

    private func ready(_ id: Int) -> PlayerInput {
        .passReady(PassID(value: id), info(), SeekLanding(frame: 0, isExact: true), isSeekable: true)
    }

    /// Brings the first track to sound.
    private func sounding(_ count: Int, exitsAtEnd: Bool = true) -> PlayerState {
        var state = PlayerState(exitsAtEnd: exitsAtEnd, seed: 1)
        let first = PassID(value: 1)
        for input in [
            launch(count), ready(1), .passGranted(first, start: 0), .passPrimed(first), .outputStarted,
        ] {
            _ = state.handle(input, heard: 0, now: .zero)
        }
        return state
    }

    /// The second track writes after the first, which is being heard and is 900 frames long.
    private func overlapping() -> PlayerState {
        var state = sounding(3)
        let inputs: [PlayerInput] = [
            .passWritten(PassID(value: 1), frames: 900), ready(2), .passGranted(PassID(value: 2), start: 900),
        ]
        for input in inputs { _ = state.handle(input, heard: 100, now: .zero) }
        return state
    }

    private func startedTrack(_ effects: [PlayerEffect]) -> (track: UInt64, at: Duration, reusing: PassID?)? {
        for effect in effects.reversed() {
            if case .startPass(_, let track, let start, let reusing, _) = effect {
                return (track.id.value, start, reusing)
            }
        }
        return nil
    }

    @Test func `commands that come before the sources are known are obeyed afterwards, in order`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        for command in [.jump(3), .seek(.to(.seconds(2))), .pause] as [PlayerCommand] {
            #expect(state.handle(.command(command), heard: 0, now: .zero).isEmpty)
        }
        #expect(state.handle(.command(.volume(30)), heard: 0, now: .zero).count == 1)
        let effects = state.handle(launch(4), heard: 0, now: .zero)
        #expect(startedTrack(effects)?.track == 3)
        #expect(state.position == .seconds(2))
        #expect(state.isPaused)
        #expect(state.volume == 30)
    }

    @Test func `quitting is obeyed before the sources are known`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        #expect(state.handle(.command(.quit), heard: 0, now: .zero) == [.finish(fatal: nil)])
    }

    @Test func `a listener who goes on to a track that failed ahead has it tried again`() {
        var state = sounding(3)
        _ = state.handle(.passWritten(PassID(value: 1), frames: 900), heard: 100, now: .zero)
        _ = state.handle(.passFailed(PassID(value: 2), broken, frames: 0), heard: 100, now: .zero)
        let effects = state.handle(.command(.next), heard: 100, now: .zero)
        #expect(startedTrack(effects)?.track == 2)
    }

    @Test func `a next track that has changed is prepared anew`() {
        var state = sounding(3)
        _ = state.handle(.passWritten(PassID(value: 1), frames: 900), heard: 100, now: .zero)
        let effects = state.handle(.passFailed(PassID(value: 2), changed, frames: 0), heard: 100, now: .zero)
        #expect(effects.first == .cancelPass(PassID(value: 2), keepsResource: false))
        #expect(startedTrack(effects)?.track == 2)
        #expect(state.failures.isEmpty)
        _ = state.handle(.passFailed(PassID(value: 3), changed, frames: 0), heard: 100, now: .zero)
        #expect(state.failures.isEmpty, "once is enough, and its turn comes later")
        let turn = state.handle(.drained, heard: 900, now: .zero)
        #expect(startedTrack(turn)?.track == 3)
        #expect(state.failures.count == 1)
    }

    @Test func `a next track that changed before its first frame is prepared anew`() {
        var state = overlapping()
        let effects = state.handle(.passFailed(PassID(value: 2), changed, frames: 0), heard: 100, now: .zero)
        #expect(startedTrack(effects)?.track == 2)
        let granted = state.handle(ready(3), heard: 100, now: .zero)
        #expect(granted.contains(.grant(PassID(value: 3), holds: false)))
    }

    @Test func `a next track that changed after some frames goes on behind them`() {
        var state = overlapping()
        let failing = state.handle(
            .passFailed(PassID(value: 2), changed, frames: 400),
            heard: 100,
            now: .zero
        )
        #expect(failing == [.finishRing, .drain])
        let effects = state.handle(.drained, heard: 1_300, now: .zero)
        #expect(startedTrack(effects).map { $0.track } == 2)
        #expect(startedTrack(effects).map { $0.at } == .milliseconds(400))
        #expect(startedTrack(effects).map { $0.reusing } == .some(nil))
        #expect(state.failures.isEmpty)
        #expect(state.currentTrack?.id.value == 2)
        let end = state.handle(.command(.stop), heard: 0, now: .zero)
        #expect(
            end.first == .endTrack(PassID(value: 3), index: 2, .skipped, frames: 400, stalls: 0, nil)
        )
    }

    @Test func `a track that plays again is no longer marked as failed`() {
        var state = sounding(2)
        _ = state.handle(.passFailed(PassID(value: 1), broken, frames: 0), heard: 0, now: .zero)
        #expect(state.failures.count == 1)
        _ = state.handle(.command(.jump(1)), heard: 0, now: .zero)
        let pass = state.lane.passes[0].id
        for input in [ready(pass.value), .passGranted(pass, start: 0), .passPrimed(pass)] {
            _ = state.handle(input, heard: 0, now: .zero)
        }
        #expect(state.failures.count == 1)
        _ = state.handle(.outputStarted, heard: 0, now: .zero)
        #expect(state.failures.isEmpty)
    }

    @Test func `the failure of a removed track is forgotten`() {
        var state = sounding(2)
        _ = state.handle(.passFailed(PassID(value: 1), broken, frames: 0), heard: 0, now: .zero)
        _ = state.handle(.command(.remove(1)), heard: 0, now: .zero)
        #expect(state.failures.isEmpty)
    }

    @Test func `a seek is answered though something else began the pass anew`() {
        var state = sounding(1)
        _ = state.handle(.command(.seek(.to(.seconds(5)))), heard: 100, now: .zero)
        _ = state.handle(.command(.reload), heard: 100, now: .zero)
        let effects = state.handle(ready(3), heard: 100, now: .zero)
        #expect(effects.contains { if case .emit(.seeked) = $0 { true } else { false } })
        _ = state.handle(.command(.reload), heard: 100, now: .zero)
        let later = state.handle(ready(4), heard: 100, now: .zero)
        #expect(!later.contains { if case .emit(.seeked) = $0 { true } else { false } })
    }

    @Test func `previous after the end begins the last track`() {
        var state = sounding(2, exitsAtEnd: false)
        _ = state.handle(.command(.next), heard: 100, now: .zero)
        _ = state.handle(.command(.next), heard: 0, now: .zero)
        #expect(state.phase == .ended)
        #expect(startedTrack(state.handle(.command(.previous), heard: 0, now: .zero))?.track == 2)
    }

    @Test func `a pass that changed its format is no prepared one`() {
        var state = overlapping()
        let second = PassID(value: 2)
        _ = state.handle(.formatChanged(second, info(1), frames: 300), heard: 100, now: .zero)
        #expect(state.preparedTrack == nil)
        #expect(state.handle(.tick, heard: 200, now: .zero).allSatisfy { $0.isEvent })
        let effects = state.handle(.command(.next), heard: 200, now: .zero)
        #expect(effects.contains(.cancelPass(second, keepsResource: false)))
        #expect(startedTrack(effects)?.track == 2)
    }

    @Test func `the position goes on where it was when the rate changes in mid-track`() {
        var state = sounding(1)
        let pass = PassID(value: 1)
        var halved = info()
        halved.format = AudioFormat(sampleRate: 500, channelCount: 2)
        _ = state.handle(.formatChanged(pass, halved, frames: 900), heard: 100, now: .zero)
        #expect(state.position == .milliseconds(100))
        _ = state.handle(.drained, heard: 900, now: .zero)
        #expect(state.position == .milliseconds(900))
        _ = state.handle(.passGranted(pass, start: 0), heard: 0, now: .zero)
        #expect(state.position == .milliseconds(900))
        for input in [.passPrimed(pass), .outputStarted] as [PlayerInput] {
            _ = state.handle(input, heard: 0, now: .zero)
        }
        _ = state.handle(.tick, heard: 500, now: .zero)
        #expect(state.position == .milliseconds(1_900))
    }

    @Test func `a start behind the last track is told of`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let effects = state.handle(launch(9, start: 99), heard: 0, now: .zero)
        #expect(effects.contains(.emit(.notice(code: "bad-command", message: "No track 99"))))
        #expect(startedTrack(effects)?.track == 9)
    }
}

extension PlayerEffect {
    fileprivate var isEvent: Bool { if case .emit = self { true } else { false } }
}
