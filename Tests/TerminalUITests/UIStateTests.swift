import Media
import TerminalUI
import Testing

struct UIStateTests {
    @Test func `the selected track is played, removed and moved by its position in the queue`() {
        var state = queueState(5, rows: 15)
        #expect(state.type("jj\n") == [.send(.jump(3))])
        #expect(state.type("d") == [.send(.remove(3))])
        #expect(state.apply(.key(.delete)) == [.send(.remove(3))])
        #expect(state.type("J") == [.send(.move(3, to: 4))])
        #expect(state.type("JJ") == [.send(.move(4, to: 5))])
        #expect(state.type("K") == [.send(.move(5, to: 4))])
        #expect(state.queue.list.selected == 3)
    }

    @Test func `in an empty queue no key sends a command for a track`() {
        var state = queueState(0, rows: 15)
        #expect(state.type("jkgGdJK\n").isEmpty)
        for key in [Key.pageDown, .pageUp, .home, .end, .up, .down] {
            #expect(state.apply(.key(key)).isEmpty)
        }
        #expect(state.queue.list.selected == 0)
    }

    @Test func `the list scrolls no further than it needs`() {
        // Fifteen rows leave ten for the list, without blank rows around it.
        var state = queueState(100_000, rows: 15)
        #expect(state.queue.list.visible == 0..<10)
        state.type("jjjjjjjjjj")
        #expect(state.queue.list.visible == 1..<11)
        _ = state.apply(.key(.pageDown))
        #expect(state.queue.list.selected == 20)
        state.type("G")
        #expect(state.queue.list.visible == 99_990..<100_000)
        state.type("k")
        #expect(state.queue.list.visible == 99_990..<100_000)
        state.type("g")
        #expect(state.queue.list.visible == 0..<10)
    }

    @Test func `a list that shrinks keeps a selection and fills the window`() {
        var state = queueState(100, rows: 15)
        state.type("G")
        var snapshot = PlayerSnapshot()
        snapshot.tracks = manyTracks(12)
        _ = state.apply(.snapshot(snapshot))
        #expect(state.queue.list.selected == 11)
        #expect(state.queue.list.visible == 2..<12)
        _ = state.apply(.resized(columns: 80, rows: 24))
        #expect(state.queue.list.visible == 0..<12)
    }

    @Test func `the selection follows the current track until it is moved away`() {
        var state = queueState(50, current: 3, rows: 15)
        #expect(state.queue.list.selected == 3)
        var snapshot = state.player
        snapshot.currentIndex = 4
        _ = state.apply(.snapshot(snapshot))
        #expect(state.queue.list.selected == 4)
        state.type("jj")
        snapshot.currentIndex = 5
        _ = state.apply(.snapshot(snapshot))
        #expect(state.queue.list.selected == 6)
    }

    @Test func `a mistyped command is explained until the next key`() {
        var state = queueState(3, rows: 15)
        #expect(state.type(":sing\n").isEmpty)
        #expect(
            state.answer?.text == "Unknown command \"sing\" (? lists them)"
                && state.answer?.isError == true
        )
        state.type("j")
        #expect(state.answer == nil)
    }

    @Test func `a message stays until a key is pressed with it in view`() {
        var state = queueState(3, rows: 15)
        var snapshot = state.player
        snapshot.messages = (1...100).map { message($0, "reconnected") }
        _ = state.apply(.snapshot(snapshot))
        _ = state.apply(.snapshot(snapshot))
        #expect(state.message == "reconnected")
        state.type("j")
        #expect(state.message == nil)
        _ = state.apply(.snapshot(snapshot))
        #expect(state.message == nil)
        // The same text again is a new message, even if the full list drops its oldest.
        snapshot.messages = snapshot.messages.dropFirst() + [message(101, "reconnected")]
        _ = state.apply(.snapshot(snapshot))
        #expect(state.message == "reconnected")
    }

    @Test func `a message that comes while a command is typed is shown after it`() {
        var state = queueState(3, rows: 15)
        var snapshot = state.player
        state.type(":sing")
        snapshot.messages = [message(1, "reconnected")]
        _ = state.apply(.snapshot(snapshot))
        state.type("\n")
        #expect(state.answer != nil)
        state.type("j")
        #expect(state.answer == nil && state.message == "reconnected")
        state.type("j")
        #expect(state.message == nil)
    }

    @Test func `keys run nothing while a command is typed, and Esc cancels it`() {
        var state = queueState(3, rows: 15)
        #expect(state.type(":qdm ").isEmpty)
        #expect(state.commandLine?.text == "qdm ")
        #expect(state.apply(.key(.escape)).isEmpty)
        #expect(state.commandLine == nil)
        #expect(state.type(":\n:  \n").isEmpty)
        #expect(state.answer == nil)
    }

    @Test func `pasted text goes into the command line, as one line and without controls`() {
        var state = queueState(3, rows: 15)
        #expect(state.type(":add ").isEmpty)
        #expect(state.apply(.pasted("http://x/a.mp3\u{1B}\r\n")).isEmpty)
        #expect(state.commandLine?.text == "add http://x/a.mp3 ")
        #expect(state.apply(.key(.enter)).last == .send(.add("http://x/a.mp3")))
    }

    @Test func `text pasted into the queue is added line by line, and runs no keys`() {
        var state = queueState(3, rows: 15)
        #expect(
            state.apply(.pasted("http://x/a.mp3\r\n\n  /music/b c.mp3 \n#EXTM3U\nq")) == [
                .send(.add("http://x/a.mp3")), .send(.add("/music/b c.mp3")), .send(.add("q")),
            ]
        )
        #expect(state.apply(.pasted(String(repeating: "q\n", count: 1_001))).isEmpty)
        #expect(state.answer?.isError == true)
    }

    @Test func `a line with a user name in its URL is not saved, nor is a mistyped one`() {
        var state = queueState(3, rows: 15)
        let line = "add http://me:secret@host.example/a.mp3"
        #expect(state.type(":\(line)\n") == [.send(.add(String(line.dropFirst(4))))])
        #expect(state.type(":sing\n").isEmpty)
        #expect(state.type(":next\n") == [.remember("next"), .send(.next)])
        // In this session they can still be corrected.
        state.type(":")
        for _ in 0..<3 { _ = state.apply(.key(.up)) }
        #expect(state.commandLine?.text == line)
    }

    @Test func `the history holds the newest five hundred lines, and none twice in a row`() {
        var state = UIState(columns: 80, rows: 24, history: (0..<600).map(String.init))
        state.type(":599\n:600\n:600\n:")
        var seen: [String?] = []
        for _ in 0..<600 {
            _ = state.apply(.key(.up))
            seen.append(state.commandLine?.text)
        }
        #expect(seen.prefix(3) == ["600", "599", "598"] && seen.last == "101")
    }

    @Test func `paths are listed and inserted, unless another key came first`() {
        var state = queueState(3, rows: 15)
        state.type(":add mu")
        #expect(state.apply(.key(.tab)) == [.listPaths("mu")])
        #expect(state.apply(.listed(word: "m", paths: ["man/"])).isEmpty)
        #expect(state.commandLine?.text == "add mu")
        _ = state.apply(.listed(word: "mu", paths: ["music/", "museum.mp3"]))
        #expect(state.commandLine?.text == "add mus")
        _ = state.apply(.key(.tab))
        #expect(state.commandLine?.text == "add museum.mp3")
        _ = state.apply(.key(.tab))
        #expect(state.commandLine?.text == "add music/")
    }

    @Test func `quitting stops the player and leaves the screen, by key, command and signal`() {
        var byKey = queueState(1, rows: 15)
        #expect(byKey.type("q") == [.send(.quit), .leave])
        #expect(byKey.isLeaving)
        var byCommand = queueState(1, rows: 15)
        #expect(byCommand.type(":quit\n") == [.remember("quit"), .send(.quit), .leave])
        var bySignal = queueState(1, rows: 15)
        #expect(bySignal.apply(.endRequested) == [.send(.quit)])
        #expect(bySignal.isLeaving)
    }

    @Test(arguments: ["2", "4", "5", "6", "?"])
    func `keys that change the queue have no effect in other views`(key: String) {
        var state = queueState(5, rows: 15)
        #expect(state.type(key + "dJKxP\nj").isEmpty)
        #expect(state.queue.list.selected == 0 && state.queue.marks.isEmpty)
        #expect(state.type(" ") == [.send(.toggle)])
        _ = state.apply(.key(.escape))
        #expect(state.view == .queue)
    }

    @Test func `Tab cycles through the views, and a number opens one`() {
        var state = queueState(1, rows: 15)
        var seen: [ViewName] = []
        for _ in 0..<6 {
            _ = state.apply(.key(.tab))
            seen.append(state.view)
        }
        #expect(seen == [.playing, .cache, .network, .messages, .help, .queue])
        _ = state.apply(.key(.backTab))
        #expect(state.view == .help)
        state.type("4?")
        #expect(state.view == .help)
        // The help returns to the view it was opened from.
        state.type("?")
        #expect(state.view == .network)
    }

    @Test func `redraw and remaining time are the screen's own`() {
        var state = queueState(1, rows: 15)
        #expect(state.apply(.key(.control("l"))) == [.redrawAll])
        #expect(state.type("t").isEmpty)
        #expect(state.showsRemainingTime)
    }
}
