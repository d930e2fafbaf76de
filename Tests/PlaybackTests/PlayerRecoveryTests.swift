import Media
import Testing

@testable import Playback

/// The player's behaviour when commands come early, and when files, formats and sinks change during playback.
@Suite struct PlayerRecoveryTests {
    private let changed = MediaError(.resourceChanged, "x", "has changed")
    private let broken = MediaError(.cut, "x", "was cut")

    /// The second track writes after the first, which is being heard and is 900 frames long.
    private func overlapping() -> PlayerState {
        var state = PlayerState.sounding(3)
        state.send(.passWritten(1, frames: 900), .ready(2), .passGranted(2, start: 900), heard: 100)
        return state
    }

    @Test func `commands before the tracks are known are carried out afterwards, in order`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        for command in [.jump(3), .seek(.to(.seconds(2))), .pause] as [PlayerCommand] {
            #expect(state.send(command).isEmpty)
        }
        #expect(state.send(.volume(30)).count == 1)
        let effects = state.send(.launched(numbered(1...4)))
        #expect(effects.start?.track.id.value == 3)
        #expect(state.position == .seconds(2))
        #expect(state.isPaused)
        #expect(state.volume == 30)
    }

    @Test func `quit works before the tracks are known`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        #expect(state.send(.quit) == [.finish(fatal: nil)])
    }

    @Test func `skipping to a prepared track that failed opens it again`() {
        var state = PlayerState.sounding(3)
        state.send(.passWritten(1, frames: 900), heard: 100)
        state.send(.passFailed(2, broken, frames: 0), heard: 100)
        let effects = state.send(.next, heard: 100)
        #expect(effects.start?.track.id.value == 2)
    }

    @Test func `a next track that has changed is prepared anew`() {
        var state = PlayerState.sounding(3)
        state.send(.passWritten(1, frames: 900), heard: 100)
        let effects = state.send(.passFailed(2, changed, frames: 0), heard: 100)
        #expect(effects.first == .cancelPass(2, keepsResource: false))
        #expect(effects.start?.track.id.value == 2)
        #expect(state.announcer.failures.isEmpty)
        state.send(.passFailed(3, changed, frames: 0), heard: 100)
        #expect(state.announcer.failures.isEmpty, "once is enough, and its turn comes later")
        let turn = state.send(.drained, heard: 900)
        #expect(turn.start?.track.id.value == 3)
        #expect(state.announcer.failures.count == 1)
    }

    @Test func `a next track that changed before its first frame is prepared anew`() {
        var state = overlapping()
        let effects = state.send(.passFailed(2, changed, frames: 0), heard: 100)
        #expect(effects.start?.track.id.value == 2)
        let granted = state.send(.ready(3), heard: 100)
        #expect(granted.contains(.grant(3, holds: false)))
    }

    @Test func `a next track that changed after some frames continues after them`() {
        var state = overlapping()
        let failing = state.send(.passFailed(2, changed, frames: 400), heard: 100)
        #expect(failing == [.finishRing, .drain])
        let effects = state.send(.drained, heard: 1_300)
        #expect(effects.start?.track.id.value == 2)
        #expect(effects.start?.position == .milliseconds(400))
        #expect(effects.start?.reusing == nil)
        #expect(state.announcer.failures.isEmpty)
        #expect(state.currentTrack?.id.value == 2)
        let end = state.send(.stop)
        #expect(
            end.first == .endTrack(3, index: 2, .skipped, frames: 400, stalls: 0, nil)
        )
    }

    @Test func `a track that plays again is no longer marked as failed`() {
        var state = PlayerState.sounding(2)
        state.send(.passFailed(1, broken, frames: 0))
        #expect(state.announcer.failures.count == 1)
        state.send(.jump(1))
        let pass = state.lane.passes[0].id
        state.send(.ready(pass), .passGranted(pass, start: 0), .passPrimed(pass))
        #expect(state.announcer.failures.count == 1)
        state.send(.outputStarted)
        #expect(state.announcer.failures.isEmpty)
    }

    @Test func `the failure of a removed track is forgotten`() {
        var state = PlayerState.sounding(2)
        state.send(.passFailed(1, broken, frames: 0))
        state.send(.remove(1))
        #expect(state.announcer.failures.isEmpty)
    }

    @Test func `a seek is reported even if another command restarts the pass`() {
        var state = PlayerState.sounding(1)
        state.send(.seek(.to(.seconds(5))), heard: 100)
        state.send(.reload, heard: 100)
        let effects = state.send(.ready(3), heard: 100)
        #expect(effects.contains { if case .emit(.seeked) = $0 { true } else { false } })
        state.send(.reload, heard: 100)
        let later = state.send(.ready(4), heard: 100)
        #expect(!later.contains { if case .emit(.seeked) = $0 { true } else { false } })
    }

    @Test func `previous after the end begins the last track`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        state.send(.next, heard: 100)
        state.send(.next)
        #expect(state.phase == .ended)
        #expect(state.send(.previous).start?.track.id.value == 2)
    }

    @Test func `a pass that changed its format does not count as prepared`() {
        var state = overlapping()
        let second: PassID = 2
        state.send(.formatChanged(second, .music(channels: 1), frames: 300), heard: 100)
        #expect(state.lane.prepared == nil)
        #expect(state.send(.tick, heard: 200).allSatisfy { $0.isEvent })
        let effects = state.send(.next, heard: 200)
        #expect(effects.contains(.cancelPass(second, keepsResource: false)))
        #expect(effects.start?.track.id.value == 2)
    }

    @Test func `the position continues when the sample rate changes in mid-track`() {
        var state = PlayerState.sounding(1)
        let pass: PassID = 1
        state.send(.formatChanged(pass, .music(sampleRate: 500), frames: 900), heard: 100)
        #expect(state.position == .milliseconds(100))
        state.send(.drained, heard: 900)
        #expect(state.position == .milliseconds(900))
        state.send(.passGranted(pass, start: 0))
        #expect(state.position == .milliseconds(900))
        state.send(.passPrimed(pass), .outputStarted)
        state.send(.tick, heard: 500)
        #expect(state.position == .milliseconds(1_900))
    }

    @Test func `a start track beyond the last one is reported`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let effects = state.send(.launched(numbered(1...9), start: 99))
        #expect(effects.contains(.emit(.notice(code: "bad-command", message: "No track 99"))))
        #expect(effects.start?.track.id.value == 9)
    }
}

extension PlayerEffect {
    fileprivate var isEvent: Bool { if case .emit = self { true } else { false } }
}
