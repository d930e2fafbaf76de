import Media
import Testing

@testable import Playback

/// Commands that wait for tracks, and those of a script, which take turns.
struct HeldCommandTests {
    private func tracks(_ numbers: some Sequence<Int>) -> ResolvedTracks {
        ResolvedTracks(tracks: numbered(numbers))
    }

    private let nothing = ResolvedTracks(tracks: [])

    @Test func `any number of lists is answered with what is known, so that a stop behind them is read`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        for _ in 1...5 {
            #expect(state.send(.scripted(.list)) == [.answer([.emitList])])
        }
        #expect(state.send(.scripted(.stop)) == [.stopReading] && state.heldCommands.count == 0)
    }

    @Test(arguments: [PlayerCommand.save("x"), .next, .clear, .add("y")])
    func `a script's quit waits for a command before it that needs the tracks`(command: PlayerCommand) {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(.scripted(command), .scripted(.quit))
        #expect(state.phase == .launching && state.heldCommands.count == 2)
        state.send(.launched(numbered(1...2)))
        #expect(state.phase == .over && state.isQuit)
    }

    @Test func `a script's list is saved before its quit, once all tracks are read`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(.scripted(.save("x")), .scripted(.quit))
        let first = state.send(.launched(tracks(1...1), start: nil, position: .zero, isComplete: false))
        #expect(first.saves.isEmpty && state.phase == .active)
        let last = state.send(.launchedMore(tracks(2...2), isComplete: true))
        #expect(last.saves == ["x 2"] && last.last == .finish(fatal: nil))
    }

    @Test(arguments: [true, false])
    func `a typed quit overtakes, and so does a script's if nothing waits`(isTyped: Bool) {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        if isTyped { state.send(.scripted(.save("x"))) }
        let effects = state.send(isTyped ? .command(.quit) : .scripted(.quit))
        #expect(effects.saves.isEmpty && effects.last == .finish(fatal: nil))
        let message: SafeText = "Not saved: x (the tracks were not known yet)"
        #expect(effects.contains(.emit(.notice(code: "bad-command", message: message))) == isTyped)
    }

    @Test func `a script's commands act on the queue in their order`() {
        var state = PlayerState.sounding(1)
        state.send(.scripted(.add("2")), .scripted(.save("x")), .scripted(.clear), .scripted(.add("3")))
        // They do not hold up the control of the music.
        state.send(.scripted(.save("y")), .scripted(.quit), .scripted(.volume(3)), .scripted(.pause))
        #expect(state.volume == 3 && state.isPaused)
        let more = state.send(.added(numbered(2...2), problems: [], isLast: false))
        #expect(more.saves.isEmpty && state.queue.tracks.count == 2)
        let added = state.send(.added([], problems: []))
        #expect(added.saves == ["x 2"] && added.contains(.resolve("3")) && state.queue.tracks.isEmpty)
        let last = state.send(.added(numbered(3...3), problems: []))
        #expect(last.saves == ["y 1"] && last.last == .finish(fatal: nil))
    }

    @Test(arguments: [
        PlayerCommand.sort(.title), .shuffleNow, .clear, .clearOthers, .remove(2), .move(1, to: 2), .undo,
    ])
    func `a script's change of the queue waits for the addition before it`(command: PlayerCommand) {
        var state = PlayerState.sounding(2)
        state.send(.scripted(.add("LIST")), .scripted(command), .scripted(.add("more")))
        #expect(state.heldCommands.count == 2 && state.queue.tracks.map(\.id.value) == [1, 2])
        #expect(state.send(.added(numbered(3...4), problems: [])).contains(.resolve("more")))
        #expect(state.heldCommands.count == 0)
    }

    @Test func `a script's additions are read at the same time`() {
        var state = PlayerState.sounding(1)
        let effects = state.send(.scripted(.add("a"))) + state.send(.scripted(.add("b")))
        #expect(effects.contains(.resolve("a")) && effects.contains(.resolve("b")))
    }

    @Test(arguments: [true, false])
    func `commands are carried out although the sources have no track`(exitsAtEnd: Bool) {
        var state = PlayerState(exitsAtEnd: exitsAtEnd, seed: 1)
        state.send(.scripted(.add("good.mp3")), .scripted(.save("x")))
        let effects = state.send(.launched(nothing, start: nil, position: .zero, isComplete: true))
        #expect(effects.contains(.resolve("good.mp3")) && state.phase != .over)
        let added = state.send(.added(numbered(1...1), problems: []))
        #expect(added.saves == ["x 1"] && (added.start != nil) == exitsAtEnd)
    }

    @Test func `typed commands act at once, although a list waits to be saved`() {
        var state = PlayerState.sounding(3)
        state.send(.command(.add("4")), .command(.save("x")), .command(.remove(2)))
        #expect(state.queue.tracks.map(\.id.value) == [1, 3])
        #expect(state.send(.added(numbered(4...4), problems: [])).saves == ["x 3"])
    }

    @Test(arguments: [PlayerCommand.remove(1), .clear])
    func `a held command that empties the queue ends the player after those behind it`(command: PlayerCommand)
    {
        var state = PlayerState.sounding(1)
        state.send(.scripted(.add("gone")), .scripted(command), .scripted(.save("x")))
        let last = state.send(.added([], problems: []))
        #expect(last.saves == ["x 0"] && state.queue.tracks.isEmpty)
        #expect((last.last == .finish(fatal: nil)) == (command != .clear))

        // What is added behind it plays.
        state = PlayerState.sounding(1)
        state.send(.scripted(.add("gone")), .scripted(command), .scripted(.add("2")))
        #expect(state.send(.added([], problems: [])).contains(.resolve("2")) && state.phase != .over)
    }

    @Test(
        arguments: [PlayerCommand.next, .remove(1)],
        [PlayerCommand.pause, .seek(.to(.seconds(1))), .save("x")]
    )
    func `a held command that ends the queue at launch ends the player, whatever is held behind it`(
        command: PlayerCommand,
        later: PlayerCommand
    ) {
        for isReadingOn in [false, true] {
            var state = PlayerState(exitsAtEnd: true, seed: 1)
            state.send(.scripted(command), .scripted(later))
            let first = PlayerInput.launched(
                tracks(1...1),
                start: nil,
                position: .zero,
                isComplete: !isReadingOn
            )
            let launched = state.send(first)
            guard isReadingOn else {
                #expect(launched.last == .finish(fatal: nil))
                continue
            }
            #expect(state.phase != .over)
            #expect(state.send(.launchedMore(nothing, isComplete: true)).last == .finish(fatal: nil))
        }
    }

    @Test func `the end of the queue waits for additions and what waits for them`() {
        let failure = PlayerInput.passFailed(1, MediaError(.notAudio, "1", "noise"), frames: 0)
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(.launched(numbered(1...1)), .scripted(.add("2")), failure)
        #expect(state.phase == .ended)
        #expect(state.send(.added(numbered(2...2), problems: [])).start?.track.id.value == 2)

        state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(.launched(numbered(1...1)), .scripted(.add("2")), .scripted(.save("x")), failure)
        let last = state.send(.added([], problems: [MediaError(.notFound, "2", "gone")]))
        #expect(last.saves == ["x 1"] && last.last == .finish(fatal: nil))

        state = PlayerState(exitsAtEnd: true, seed: 1)
        let first = PlayerInput.launched(tracks(1...1), start: nil, position: .zero, isComplete: false)
        state.send(first, .scripted(.save("x")), failure)
        let complete = state.send(.launchedMore(nothing, isComplete: true))
        #expect(complete.saves == ["x 1"] && complete.last == .finish(fatal: nil))
    }
}
