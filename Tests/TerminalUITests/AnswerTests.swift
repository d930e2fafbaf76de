import Media
@testable import TerminalUI
import Testing

/// The line with which the screen answers keys and commands.
struct AnswerTests {
    /// Three tracks, of which the second plays.
    private func playing(_ change: (inout PlayerSnapshot) -> Void = { _ in }) -> UIState {
        var player = queueSnapshot(manyTracks(3), current: 1)
        player.state = .playing
        player.volume = 80
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
        (":status\n", "Playing 2 of 3: 2, 0:00"), ("p", "p is not bound (? for help)"),
        ("\u{E9}", "\u{E9} is not bound (? for help)"),
    ])
    func `every key and command answers with one line`(keys: String, answer: SafeText) {
        var state = playing()
        state.type(keys)
        #expect(state.answer?.text == answer && state.screen[23] == " " + answer.string)
    }

    @Test(arguments: [("→", "Next track"), (":seek +5\n", "Next track"), ("←", "Back 5 s")])
    func `a step past the end goes on to the next track, by key and by command`(
        keys: String,
        answer: SafeText
    ) {
        var state = playing { ($0.position, $0.duration, $0.hasNext) = (.seconds(4), .seconds(8), true) }
        state.type(keys)
        #expect(state.answer?.text == answer)
        state.show { $0.hasNext = false }
        state.type("→")
        #expect(state.answer?.text == "End of the queue")
        state.show { $0.position = .seconds(2) }
        state.type("→")
        #expect(state.answer?.text == "Forward 5 s")
    }

    @Test func `the ends of the queue, and a track that starts again, are named`() {
        var state = playing { ($0.hasNext, $0.previousRestarts) = (false, true) }
        state.type(">")
        #expect(state.answer?.text == "End of the queue")
        state.type("<")
        #expect(state.answer?.text == "From the beginning")
    }

    @Test(arguments: [
        (":jump 9\n", "No track 9 (there are 3)"), (":remove 2-4\n", "No track 4 (there are 3)"),
        (":move 1 7\n", "No track 7 (there are 3)"),
        (":dance\n", "Unknown command \"dance\" (? lists them)"),
        (":volume loud\n", "volume takes 0 to 100, +N or -N"),
    ])
    func `a line that failed stays to be edited, with the reason above it`(keys: String, reason: String) {
        var state = playing()
        #expect(state.type(keys).allSatisfy { if case .remember = $0 { true } else { false } })
        #expect(state.commandLine?.text == String(keys.dropFirst().dropLast()))
        #expect(state.screen[22] == " " + reason && state.screen[23].hasPrefix(" " + keys.dropLast()))
        // Corrected, it runs, and what failed is in the history.
        state.type("⌫")
        #expect(state.answer == nil && state.screen[22].hasPrefix(" Playing"))
        state.type("⎋:↑")
        #expect(state.commandLine?.text == String(keys.dropFirst().dropLast()))
    }

    @Test(arguments: [
        ("jmup 3", " – did you mean jump?"), ("serach", " – did you mean search?"),
        ("vol 5", " (? lists them)"),
        ("xyzzy", " (? lists them)"),
    ])
    func `a misspelled command gets a guess, or the way to the list`(line: String, advice: String) {
        var state = playing()
        state.type(":\(line)\n")
        let name = line.prefix { $0 != " " }
        #expect(state.screen[22] == " Unknown command \"\(name)\"" + advice)
        #expect(state.commandLine?.text == line)
    }

    @Test func `the key that lists the commands works in the line of an unknown one until that is edited`() {
        var state = playing()
        state.type(":xyzzy\n?")
        #expect(state.commandLine == nil && state.view == .help)
        state.type("?:xyzzy\n⌫?")
        #expect(state.commandLine?.text == "xyzz?" && state.view != .help)
        // In other lines that failed, it may be a part of what is corrected.
        state.type("⎋:seek x\n?")
        #expect(state.commandLine?.text == "seek x?" && state.view != .help)
    }

    @Test(arguments: ["q", "q!", "wq", "quit"])
    func `the screen quits as vi does`(line: String) {
        var state = playing()
        #expect(state.type(":\(line)\n").suffix(2) == [.send(.quit), .leave])
        #expect(throws: ParsedCommand.Failure.self, "scripts write whole names") {
            try ParsedCommand(parsing: "q")
        }
    }

    @Test func `if add or save fails later, the line is opened again, unless another key was pressed since`()
    {
        let error: SafeText = "/tmp: is a folder"
        var state = playing()
        let fail = { (player: inout PlayerSnapshot) in
            player.messages = [PlayerMessage(number: 1, time: .zero, text: error, failed: .save("/tmp"))]
        }
        state.type(":save /tmp\n")
        state.show(fail)
        #expect(state.commandLine?.text == "save /tmp" && state.screen[22] == " /tmp: is a folder")
        state = playing()
        state.type(":save /tmp\nj")
        state.show(fail)
        #expect(state.commandLine == nil)
        #expect(state.screen[23] == " /tmp: is a folder (: and Up bring the line back)")
        state.type(":↑")
        #expect(state.commandLine?.text == "save /tmp")
        state.type("⎋")
        #expect(state.screen[23].hasPrefix(" ? help"), "the key has marked the message as seen")
    }

    @Test(arguments: [
        ("missing.mp3", "", "add missing.mp3"), ("http://h/a b.mp3", "", "add http://h/a b.mp3"),
        // A key was pressed since, or the line has a password.
        ("missing.mp3", "j", nil), ("http://me:secret@h/a.mp3", "", nil),
    ])
    func `a start that failed leaves its source as a line to be edited`(
        source: String,
        keys: String,
        line: String?
    ) {
        var state = screenState(PlayerSnapshot())
        state.type(keys)
        state.show {
            $0.messages = [PlayerMessage(number: 1, time: .zero, text: "no such file", failed: .add(source))]
        }
        #expect(state.commandLine?.text == line)
        #expect(state.screen.contains { $0.hasPrefix(" no such file") })
    }

    @Test(arguments: [
        // Another line was typed since, or none: what was pasted fails the same way.
        ":save /tmp\n:volume 5\n", "",
    ])
    func `a line that Up does not bring back is not promised`(keys: String) {
        var state = playing()
        state.type(keys)
        state.show {
            $0.messages = [
                PlayerMessage(number: 1, time: .zero, text: "/tmp: is a folder", failed: .save("/tmp"))
            ]
        }
        #expect(state.screen[23] == " /tmp: is a folder")
    }

    @Test func `also keys that change nothing are answered`() {
        var state = playing()
        state.type("⎋")
        #expect(state.screen[23] == " Nothing to close")
        #expect(state.apply(.key(.control("l"))) == [.redrawAll] && state.screen[23] == " Redrawn")
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
            #expect(state.answer == nil && state.message?.text == "Restored 3 tracks")
            _ = state.apply(event)
            #expect(state.notice == nil && state.screen[23].hasPrefix(" ? help"))
            state.type("Z")
            _ = state.apply(event)
            #expect(state.notice == nil && state.screen[23].hasPrefix(" ? help"))
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
