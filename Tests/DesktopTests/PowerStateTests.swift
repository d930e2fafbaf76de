import Media
import Testing

@testable import Desktop

@Suite struct PowerStateTests {
    /// The state once logind is there and the player is paused.
    private func ready(blocks: Bool = false, resumes: Bool = false) -> PowerState {
        var state = PowerState(blocks: blocks, resumes: resumes, music: .paused)
        #expect(state.logindAppeared() == [.hold(.delay)])
        return state
    }

    /// The state once the playing music is paused for the sleep and the machine sleeps.
    private func asleep(resumes: Bool = false) -> PowerState {
        var state = ready(resumes: resumes)
        _ = state.musicChanged(to: .playing)
        _ = state.sleepNears()
        _ = state.musicChanged(to: .paused)
        _ = state.placeSaved()
        return state
    }

    // MARK: While music plays

    @Test(arguments: [PowerState.Music.paused, .silent])
    func `the machine may not sleep while music plays, and may once it is paused, stopped or ended`(
        end: PowerState.Music
    ) {
        var state = ready(blocks: true)
        #expect(state.musicChanged(to: .playing) == [.hold(.block)])
        #expect(state.musicChanged(to: .playing) == [])
        #expect(state.musicChanged(to: end) == [.release(.block)])
    }

    @Test func `a player for which the user has chosen nothing blocks nothing`() {
        var state = ready()
        #expect(state.musicChanged(to: .playing) == [] && state.musicChanged(to: .paused) == [])
    }

    @Test func `an interruption does not let go, unless nobody knows until when`() {
        var state = ready(blocks: true)
        #expect(state.musicChanged(to: .awaited) == [])
        _ = state.musicChanged(to: .playing)
        #expect(state.musicChanged(to: .awaited) == [] && state.musicChanged(to: .playing) == [])
        #expect(state.musicChanged(to: .stalled) == [.release(.block)])
        #expect(state.musicChanged(to: .awaited) == [])
        #expect(state.musicChanged(to: .playing) == [.hold(.block)])
    }

    @Test func `music that plays already when logind appears, or appears again, blocks too`() {
        var state = PowerState(blocks: true, resumes: false, music: .playing)
        #expect(state.logindAppeared() == [.hold(.delay), .hold(.block)])
        #expect(state.logindAppeared() == [.hold(.delay), .hold(.block)])
        _ = state.musicChanged(to: .paused)
        #expect(state.logindAppeared() == [.hold(.delay)])
    }

    @Test func `what a snapshot says of the music`() {
        func music(_ state: PlayerSnapshot.State, isOffline: Bool = false) -> PowerState.Music {
            PowerState.Music(
                playing {
                    $0.state = state
                    $0.connectivity.isOffline = isOffline
                }
            )
        }
        #expect(music(.playing, isOffline: true) == .playing && music(.paused) == .paused)
        #expect(music(.opening) == .awaited && music(.buffering) == .awaited)
        #expect(music(.buffering, isOffline: true) == .stalled)
        #expect(music(.stopped) == .silent && music(.ended) == .silent)
    }

    // MARK: Sleep

    @Test(arguments: [PowerState.Music.playing, .awaited, .stalled])
    func `before the machine sleeps the music is paused, its place saved, and only then the machine let go`(
        music: PowerState.Music
    ) {
        var state = ready(blocks: true)
        _ = state.musicChanged(to: .playing)
        _ = state.musicChanged(to: music)
        #expect(state.sleepNears() == [.pause])
        #expect(state.placeSaved() == [])
        let paused = state.musicChanged(to: .paused)
        #expect(paused == (music == .stalled ? [.savePlace] : [.release(.block), .savePlace]))
        #expect(state.placeSaved() == [.release(.delay)])
        #expect(state.woke() == [.hold(.delay)])
    }

    @Test func `without music the place is saved at once`() {
        var state = ready()
        #expect(state.sleepNears() == [.savePlace])
        #expect(state.placeSaved() == [.release(.delay)])
        #expect(state.woke() == [.hold(.delay)])
        // Each sleep is as the first.
        #expect(state.sleepNears() == [.savePlace])
    }

    @Test func `after the sleep nothing plays by itself, unless the user has chosen that`() {
        var state = asleep()
        #expect(state.woke() == [.hold(.delay)])
        state = asleep(resumes: true)
        #expect(state.woke() == [.hold(.delay), .play])
        #expect(state.woke() == [])
    }

    @Test func `what was paused before stays so`() {
        var state = ready(resumes: true)
        _ = state.sleepNears()
        _ = state.placeSaved()
        #expect(state.woke() == [.hold(.delay)])
    }

    @Test(arguments: [[PowerState.Music.silent], [.playing, .paused]])
    func `what somebody has stopped or played meanwhile stays so`(changes: [PowerState.Music]) {
        var state = asleep(resumes: true)
        for change in changes { _ = state.musicChanged(to: change) }
        #expect(state.woke() == [.hold(.delay)])
    }

    @Test func `a sleep that is called off before the place is saved leaves the machine delayed`() {
        var state = ready(resumes: true)
        _ = state.musicChanged(to: .playing)
        _ = state.sleepNears()
        #expect(state.woke() == [.play])
        #expect(state.musicChanged(to: .paused) == [] && state.placeSaved() == [])
        #expect(state.musicChanged(to: .playing) == [])
        #expect(state.sleepNears() == [.pause])
        #expect(state.sleepNears() == [])
    }

    @Test func `a logind that has started again knows of no sleep`() {
        var state = asleep(resumes: true)
        #expect(state.logindAppeared() == [.hold(.delay)])
        #expect(state.woke() == [])
        #expect(state.sleepNears() == [.savePlace])
    }
}
