import Media
import Testing

@testable import Playback

/// Commands that come early, and resources and formats that change or fail during playback.
@Suite struct PlayerRecoveryTests {
    private let changed = MediaError(.resourceChanged, "x", "has changed")
    private let broken = MediaError(.cut, "x", "was cut")

    /// The first of three tracks is written, 900 frames long, and sounds; the second is being prepared.
    private func preparing() -> PlayerState {
        var state = PlayerState.sounding(3)
        state.send(.passWritten(1, frames: 900), heard: 100)
        return state
    }

    /// As `preparing`, but the second track already writes after the first.
    private func overlapping() -> PlayerState {
        var state = preparing()
        state.send(.ready(2), .passGranted(2, start: 900), heard: 100)
        return state
    }

    @Test func `commands before the tracks are known are carried out afterwards, in order, but quit at once`()
    {
        var quitting = PlayerState(exitsAtEnd: true, seed: 1)
        #expect(quitting.send(.quit) == [.finish(fatal: nil)])
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        for command in [.next, .jump(3), .seek(.to(.seconds(2))), .pause] as [PlayerCommand] {
            #expect(state.send(command).isEmpty && state.phase == .launching)
        }
        #expect(state.send(.volume(30)).first == .setVolume(30, isMuted: false))
        let effects = state.send(.launched(numbered(1...4)))
        #expect(effects.start?.track.id.value == 3)
        #expect(state.position == .seconds(2) && state.isPaused && state.volume == 30)
    }

    @Test func `skipping to a prepared track that failed opens it again`() {
        var state = preparing()
        state.send(.passFailed(2, broken, frames: 0), heard: 100)
        #expect(state.send(.next, heard: 100).start?.track.id.value == 2)
    }

    private var locked: MediaError {
        var error = MediaError(.httpStatus, "x", "asks for a log-in")
        error.mayAskLater = true
        return error
    }

    @Test func `a next track that wants a log-in is opened again in its turn, when the user can be asked`() {
        var state = preparing()
        #expect(state.send(.passFailed(2, locked, frames: 0), heard: 100).start == nil)
        let turn = state.send(.drained, heard: 900)
        #expect(turn.start?.track.id.value == 2 && turn.start?.isLowPriority == false)
        #expect(state.announcer.failures.isEmpty)
        state.send(.passFailed(3, broken, frames: 0))
        #expect(state.announcer.failures.count == 1)
    }

    @Test func `a next track that becomes the current one while it is refused is opened again`() {
        var state = preparing()
        state.send(.next, heard: 100)
        #expect(state.send(.passFailed(2, locked, frames: 0)).start?.track.id.value == 2)
        var pass = 3
        while state.send(.passFailed(PassID(value: pass), locked, frames: 0)).start?.track.id.value == 2 {
            pass += 1
        }
        #expect(pass <= 5, "but not for ever")
    }

    @Test func `a next track that has changed is prepared anew, three times`() {
        var state = preparing()
        let effects = state.send(.passFailed(2, changed, frames: 0), heard: 100)
        #expect(effects.first == .cancelPass(2, keepsResource: false))
        #expect(effects.start?.track.id.value == 2)
        #expect(state.announcer.failures.isEmpty)
        var pass = 3
        while state.send(.passFailed(PassID(value: pass), changed, frames: 0), heard: 100).start != nil {
            pass += 1
        }
        #expect(pass == 5)
        #expect(state.announcer.failures.isEmpty, "and reported when its turn comes")
        let turn = state.send(.drained, heard: 900)
        #expect(turn.start?.track.id.value == 3)
        #expect(state.announcer.failures.count == 1)
    }

    @Test func `of a track that changed the frames written are heard, then the new file goes on there`() {
        var state = PlayerState.sounding(1)
        #expect(state.send(.passFailed(1, changed, frames: 400), heard: 100) == [.finishRing, .drain])
        #expect(state.position == .milliseconds(100))
        let start = state.send(.drained, heard: 400).start
        #expect(start == PassStart(id: 2, track: numbered([1])[0], position: .milliseconds(400)))
        #expect(state.announcer.failures.isEmpty)
    }

    @Test func `a track that changed goes on before the next one, even if that is ready`() {
        var state = PlayerState.sounding(2)
        #expect(state.send(.tick, heard: 100).start?.track.id.value == 2)
        state.send(.ready(2), heard: 100)
        #expect(state.send(.passFailed(1, changed, frames: 400), heard: 200) == [.finishRing, .drain])
        let start = state.send(.drained, heard: 400).start
        #expect(start == PassStart(id: 3, track: numbered([1])[0], position: .milliseconds(400)))
    }

    @Test func `a track goes on after three changes of its file, and fails at the fourth`() {
        var state = PlayerState.sounding(1)
        for pass in 1...4 {
            let id = PassID(value: pass)
            if pass > 1 {
                // Each pass lands where the last one ended.
                let landing = SeekLanding(frame: FrameCount(300 * (pass - 1)), isExact: true)
                state.send(.passReady(id, .music(seconds: 60), landing))
                state.sound(id)
            }
            state.send(.passFailed(id, changed, frames: 300), heard: 100)
            let start = state.send(.drained, heard: 300).start
            #expect(start?.position == (pass < 4 ? .milliseconds(300 * pass) : nil))
        }
        #expect(state.announcer.failures.count == 1)
    }

    @Test func `of changes before the first sound, the fourth fails the track, too`() {
        var state = PlayerState.sounding(1)
        var pass = 1
        while state.send(.passFailed(PassID(value: pass), changed, frames: 0)).start != nil { pass += 1 }
        #expect(pass == 4 && state.announcer.failures.count == 1)
    }

    @Test func `that a file has changed is said once a minute, of each file`() {
        var state = PlayerState.sounding(1)
        let said = [0, 1, 59, 61, 62, 130].map { second in
            !state.send(.notice(changed), now: .seconds(second)).isEmpty
        }
        #expect(said == [true, false, false, true, false, true])
        #expect(!state.send(.notice(MediaError(.resourceChanged, "y", "too")), now: .seconds(131)).isEmpty)
        #expect(state.announcer.messages.count == 4)
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
        #expect(effects.start == PassStart(id: 3, track: numbered([2])[0], position: .milliseconds(400)))
        #expect(state.announcer.failures.isEmpty && state.queue.currentTrack?.id.value == 2)
        var report = PlayerEvent.EndReport(index: 2, reason: .skipped)
        report.frames = 400
        report.isBrief = true
        #expect(state.send(.stop).first == .endTrack(3, report))
    }

    @Test func `a track stays marked as failed until it is heard again or removed`() {
        var state = PlayerState.sounding(2)
        state.send(.passFailed(1, broken, frames: 0))
        var removed = state
        removed.send(.remove(1))
        #expect(removed.announcer.failures.isEmpty)
        state.send(.jump(1))
        let pass = state.lane.passes[0].id
        state.send(.ready(pass), .passGranted(pass, start: 0), .passPrimed(pass))
        #expect(state.announcer.failures.count == 1)
        state.send(.outputStarted)
        #expect(state.announcer.failures.isEmpty)
    }

    @Test func `a seek is reported once, even if another command restarts the pass`() {
        var state = PlayerState.sounding(1)
        state.send(.seek(.to(.seconds(5))), heard: 100)
        for (pass, isReported) in [(3, true), (4, false)] {
            state.send(.reload, heard: 100)
            let effects = state.send(.ready(PassID(value: pass)), heard: 100)
            #expect(effects.contains { if case .emit(.seeked) = $0 { true } else { false } } == isReported)
        }
    }

    @Test func `a pass that changed its format does not count as prepared`() {
        var state = overlapping()
        state.send(.formatChanged(2, .music(channels: 1), frames: 300), heard: 100)
        #expect(state.lane.prepared == nil)
        #expect(state.send(.tick, heard: 200).allSatisfy { $0.isEvent })
        let effects = state.send(.next, heard: 200)
        #expect(effects.contains(.cancelPass(2, keepsResource: false)))
        #expect(effects.start?.track.id.value == 2)
    }

    @Test func `the position continues when the sample rate changes in mid-track`() {
        var state = PlayerState.sounding(1)
        state.send(.formatChanged(1, .music(sampleRate: 500), frames: 900), heard: 100)
        #expect(state.position == .milliseconds(100))
        state.send(.drained, heard: 900)
        #expect(state.position == .milliseconds(900))
        state.send(.passGranted(1, start: 0))
        #expect(state.position == .milliseconds(900))
        state.send(.passPrimed(1), .outputStarted)
        state.send(.tick, heard: 500)
        #expect(state.position == .milliseconds(1_900))
    }

    @Test func `a start track beyond the last one is reported`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let effects = state.send(.launched(numbered(1...9), start: 99))
        let message: SafeText = "--start 99: there is no such track; playing the last one, 9"
        #expect(effects.contains(.emit(.notice(code: "not-found", message: message))))
        #expect(effects.start?.track.id.value == 9)
    }
}

extension PlayerEffect {
    fileprivate var isEvent: Bool { if case .emit = self { true } else { false } }
}
