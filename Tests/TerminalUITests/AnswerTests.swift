import Media
import TerminalUI
import Testing

/// The line with which the screen answers keys and commands.
struct AnswerTests {
    /// Three tracks, of which the second plays.
    private func playing(_ change: (inout PlayerSnapshot) -> Void = { _ in }) -> UIState {
        var player = queueSnapshot(manyTracks(3), current: 1)
        (player.state, player.volume) = (.playing, 80)
        change(&player)
        return screenState(player)
    }

    @Test(arguments: [
        (" ", "Paused"), (">", "Next track"), ("<", "Previous track"), (".", "Forward 1 min"),
        ("Z", "Shuffled 3 tracks · u undo"), ("C", "Cleared 2 tracks · u undo"),
        ("d", "Removed 1 track · u undo"), ("J", "Moved 1 track to position 3 · u undo"),
        (":clear\n", "Cleared 3 tracks · u undo"), (":sort title\n", "Sorted by title · u undo"),
        (":jump 3\n", "Track 3"), (":seek 1:02\n", "To 1:02"), (":stop\n", "Stopped"),
        (":volume 80\n", "Volume 80 %"),
        (":remove 1-2\n", "Removed 2 tracks · u undo"), ("x", "1 marked"), ("*X", "Nothing is marked"),
        ("v", "Spectrum on"), ("t", "Remaining time"), ("n", "No search yet"),
        (":status\n", "Playing 2 of 3: 2.mp3, 0:00"), ("p", "p is not bound (? for help)"),
        ("\u{E9}", "\u{E9} is not bound (? for help)"),
    ])
    func `every key and command answers with one line`(keys: String, answer: SafeText) {
        var state = playing()
        state.type(keys)
        #expect(state.answer?.text == answer && state.screen[23] == answer.string)
    }

    @Test(arguments: [
        (":jump 9\n", "No track 9 (there are 3)"), (":remove 2-4\n", "No track 4 (there are 3)"),
        (":move 1 7\n", "No track 7 (there are 3)"), (":sing\n", "Unknown command \"sing\" (? lists them)"),
        (":volume loud\n", "volume takes 0 to 100, +N or -N"),
    ])
    func `a line that failed stays to be edited, with the reason above it`(keys: String, reason: String) {
        var state = playing()
        #expect(state.type(keys).allSatisfy { if case .remember = $0 { true } else { false } })
        #expect(state.commandLine?.text == String(keys.dropFirst().dropLast()))
        #expect(state.screen[22] == reason && state.screen[23].hasPrefix(keys.dropLast()))
        // Corrected, it runs, and what failed is in the history.
        state.type("⌫")
        #expect(state.answer == nil && state.screen[22].hasPrefix("Playing"))
        state.type("⎋:↑")
        #expect(state.commandLine?.text == String(keys.dropFirst().dropLast()))
    }

    @Test func `an empty queue and a stopped player say why nothing happens`() {
        for (keys, answer) in [
            ("d", "The queue is empty"), ("\n", "The queue is empty"), (" ", "The queue is empty"),
            ("Z", "The queue is empty"), ("i", "Nothing is playing"), ("*", "Nothing is marked"),
        ] as [(String, SafeText)] {
            var state = queueState(0)
            #expect(state.type(keys).isEmpty)
            #expect(state.answer?.text == answer)
        }
        var stopped = queueState(3)
        #expect(stopped.type(":pause\n").allSatisfy { $0 == .remember("pause") })
        #expect(stopped.answer?.text == "Nothing is playing")
        // The player holds commands back until the tracks are known.
        var opening = queueState(0)
        opening.show { $0.state = .opening }
        #expect(opening.type("Z") == [.send(.shuffleNow)] && opening.answer == nil)
    }

    @Test func `settings are answered with their new values, whoever changed them`() {
        var state = playing()
        #expect(state.answer == nil, "the first snapshot is no change")
        #expect(state.type("-") == [.send(.changeVolume(by: -5))])
        state.show { $0.volume = 75 }
        #expect(state.answer?.text == "Volume 75 %")
        for (change, answer) in [
            ({ $0.isMuted = true }, "Muted"), ({ $0.isShuffled = true }, "Shuffle on"),
            ({ $0.repeatMode = .all }, "Repeat all"), ({ $0.gainMode = .album }, "Gain album"),
        ] as [((inout PlayerSnapshot) -> Void, SafeText)] {
            state.show(change)
            #expect(state.answer?.text == answer)
        }
        state.show { $0.volume = 0 }
        state.show { $0.isMuted = false }
        state.type("-")
        #expect(state.answer?.text == "Volume 0 %", "nothing changes")
    }

    @Test func `the newest line is shown, and goes with a key, a click, or time`() {
        for event in [.key("j"), .mouse(MouseEvent(.press, column: 0, row: 12)), .noticeExpired] as [UIEvent]
        {
            var state = playing()
            state.type("Z")
            state.show { $0.messages = [message(1, "Restored 3 tracks")] }
            #expect(state.answer == nil && state.message == "Restored 3 tracks")
            _ = state.apply(event)
            #expect(state.notice == nil && state.screen[23].hasPrefix("? help"))
            state.type("Z")
            _ = state.apply(event)
            #expect(state.notice == nil && state.screen[23].hasPrefix("? help"))
        }
    }

    @Test func `the line goes ten seconds after it came, and a new one gets its own ten`() {
        var timer = NoticeTimer()
        timer.show(nil, at: .seconds(1))
        #expect(timer.delay(at: .seconds(1)) == nil)
        timer.show([1, 0], at: .seconds(2))
        timer.show([1, 0], at: .seconds(9))
        #expect(timer.delay(at: .seconds(9)) == .seconds(3))
        timer.show([2, 0], at: .seconds(9))
        #expect(timer.delay(at: .seconds(18)) == .seconds(1))
        #expect(timer.delay(at: .seconds(30)) == .zero)
        timer.show(nil, at: .seconds(30))
        #expect(timer.delay(at: .seconds(30)) == nil)
    }
}
