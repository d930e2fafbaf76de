import Media
import Testing

@testable import Playback

/// The sleep timer: its machine, and the player that it pauses.
struct SleepTests {
    @Test func `the music fades out in the last five seconds, and then pauses`() {
        var timer = SleepTimer()
        timer.set(.time(.seconds(60)))
        #expect(timer.untilDue == .seconds(55) && timer.step(untilPoint: nil) == .none)
        timer.played(.seconds(55))
        #expect(timer.step(untilPoint: nil) == .fade(left: .seconds(5), length: .seconds(5)))
        #expect(timer.step(untilPoint: nil) == .none, "the fade begins once")
        timer.played(.seconds(2))
        #expect(timer.rest(untilPoint: nil) == .fade(left: .seconds(3), length: .seconds(5)))
        #expect(timer.untilDue == .seconds(3))
        timer.played(.seconds(3))
        #expect(timer.step(untilPoint: nil) == .pause && timer == SleepTimer())
    }

    @Test func `a timer of less than five seconds fades out for as long`() {
        var timer = SleepTimer()
        timer.set(.time(.seconds(2)))
        #expect(timer.untilDue == .zero)
        #expect(timer.step(untilPoint: nil) == .fade(left: .seconds(2), length: .seconds(2)))
    }

    @Test func `the end of a track is no matter of time, but its last five seconds fade`() {
        var timer = SleepTimer()
        timer.set(.after(.track))
        timer.played(.seconds(100))
        #expect(timer.untilDue == nil && timer.step(untilPoint: nil) == .none)
        #expect(timer.step(untilPoint: .seconds(6)) == .none)
        #expect(timer.step(untilPoint: .seconds(4)) == .fade(left: .seconds(4), length: .seconds(4)))
        #expect(timer.step(untilPoint: .zero) == .none, "the stop at the end pauses")
    }

    @Test func `the player pauses at its place, at full volume for the next play`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        #expect(
            state.send(.sleep(.time(.seconds(8)))).contains(
                .emit(.remark(code: "sleep", message: "Pauses after 0:08 of music"))
            )
        )
        #expect(state.send(.tick, heard: 2_000, now: .seconds(2)).fade == nil)
        #expect(state.sleepReport == SleepReport(left: .seconds(6)))
        #expect(
            state.send(.tick, heard: 3_000, now: .seconds(3)).fade
                == .fade(left: .seconds(5), length: .seconds(5))
        )
        let effects = state.send(.tick, heard: 8_000, now: .seconds(8))
        #expect(effects.first == .pauseOutput && effects.last == .endFade)
        #expect(effects.contains(.emit(.paused(index: 1, position: .seconds(8), isExact: true))))
        #expect(state.snapshotState == .paused && state.sleepReport == nil)
        #expect(state.send(.play, heard: 8_000, now: .seconds(100)).contains(.startOutput))
        #expect(state.send(.tick, heard: 8_100, now: .seconds(101)).fade == nil)
    }

    @Test func `the timer stands still while paused, and needs no ticks`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        state.send(.sleep(.time(.seconds(60))))
        state.send(.pause, heard: 1_000, now: .seconds(1))
        #expect(!state.needsTicks)
        state.send(.play, heard: 1_000, now: .seconds(500))
        #expect(state.sleepReport == SleepReport(left: .seconds(59)))
    }

    @Test func `taking it back in the fade ends the fade`() {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        state.send(.sleep(.time(.seconds(3))))
        #expect(state.send(.tick, heard: 100, now: .milliseconds(100)).fade != nil)
        #expect(state.send(.sleep(nil), heard: 200, now: .milliseconds(200)).contains(.endFade))
        #expect(state.sleepReport == nil)
    }

    @Test func `a seek in the fade goes on with it`() throws {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        state.send(.sleep(.time(.seconds(4))))
        state.send(.tick, heard: 100, now: .milliseconds(100))
        let seek = try #require(state.send(.seek(.to(.zero)), heard: 100, now: .seconds(1)).start)
        state.send(.ready(seek.id), .passGranted(seek.id, start: 0), .passPrimed(seek.id), now: .seconds(1))
        let effects = state.send(.outputStarted, now: .seconds(2))
        #expect(effects.fade == .fade(left: .seconds(2), length: .milliseconds(3_900)))
    }

    @Test func `after the track it waits before the next one, and says so once`() {
        var state = PlayerState.sounding(3, exitsAtEnd: false)
        state.send(.ready(2))
        state.send(.sleep(.after(.track)))
        #expect(state.sleepReport == SleepReport(left: .seconds(10), point: .track))
        #expect(state.stopPoint == .track)
        state.send(.passWritten(1, frames: 10_000), heard: 5_000, now: .seconds(5))
        #expect(
            state.send(.tick, heard: 5_000, now: .seconds(5)).fade
                == .fade(left: .seconds(5), length: .seconds(5))
        )
        let effects = state.send(.drained, heard: 10_000, now: .seconds(10))
        #expect(state.snapshotState == .stopped && state.queue.current == 1 && state.sleepReport == nil)
        #expect(
            effects.contains(.endFade)
                && effects.contains(
                    .emit(.remark(code: "sleep", message: "Paused by the sleep timer"))
                )
        )
    }

    @Test func `the time until the end of an album is the sum of its tracks, if they are known`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        let tracks = (0..<4).map { index in
            let tags = TrackTags(album: index < 3 ? "a" : "b")
            var track = Track(id: Track.ID(UInt64(index)), location: .file("/m/\(index).mp3"), tags: tags)
            track.duration = .seconds(100)
            return track
        }
        state.send(.launched(tracks), .ready(1))
        state.sound(1)
        state.send(.sleep(.after(.album)))
        #expect(state.sleepReport == SleepReport(left: .seconds(210), point: .album))
        // Another stop takes its place.
        state.send(.stopAfter(nil))
        #expect(state.sleepReport == nil && state.stopPoint == nil)
    }
}

extension [PlayerEffect] {
    /// The fade that these effects begin.
    fileprivate var fade: PlayerEffect? { first { if case .fade = $0 { true } else { false } } }
}
