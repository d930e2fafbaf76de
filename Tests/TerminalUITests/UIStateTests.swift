import Media
@testable import TerminalUI
import Testing

/// Fifteen rows leave ten for the list, without blank rows around it.
struct UIStateTests {
    @Test func `the selected track is played, removed and moved by its position in the queue`() {
        var state = queueState(5, rows: 15)
        #expect(state.type("jj\nd") == [.send(.jump(3)), .send(.remove(3))])
        #expect(state.apply(.key(.delete)) == [.send(.remove(3))])
        #expect(
            state.type("JJJK") == [
                .send(.move(3, to: 4)), .send(.move(4, to: 5)), .send(.move(5, to: 4)),
            ]
        )
        #expect(state.queue.list.selected == 3)
    }

    @Test(
        arguments: [
            ("2", "/", "qC"), ("2", "f", "quit"), ("2", "/", "DdxC"), ("4", "f", "abq\u{7F}q"),
            ("5", "f", "Cq"),
            ("2", "f", "?/q"),
        ]
    )
    func `the word typed after a refused key runs no keys`(view: String, key: String, word: String) {
        for end in [Key.escape, .enter, nil] {
            var state = queueState(3)
            state.type(view)
            let opened = state.view
            #expect(state.type(key).isEmpty && state.answer?.isError == true && state.ignoresTyping)
            #expect(state.type(word).isEmpty && state.view == opened && !state.isLeaving)
            if let end {
                #expect(state.apply(.key(end)).isEmpty && state.view == opened)
            } else {
                _ = state.apply(.typingPaused)
            }
            #expect(state.type("m") == [.send(.mute)])
        }
    }

    @Test func `a key that is no letter acts at once after a refused one`() {
        var state = queueState(3)
        state.type("2/")
        #expect(state.apply(.key(.control("c"))).contains(.send(.quit)))
    }

    @Test func `in an empty queue no key sends a command for a track`() {
        var state = queueState(0, rows: 15)
        #expect(state.type("jkgGdJK\n").isEmpty)
        for key in [Key.pageDown, .pageUp, .home, .end, .up, .down] {
            #expect(state.apply(.key(key)).isEmpty)
        }
        #expect(state.queue.list.selected == 0)
    }

    @Test func `the list scrolls no further than it needs, and a shorter list still fills the window`() {
        var state = queueState(100_000, rows: 15)
        #expect(state.queue.list.visible == 0..<9)
        state.type("jjjjjjjjjj")
        #expect(state.queue.list.visible == 2..<11)
        _ = state.apply(.key(.pageDown))
        #expect(state.queue.list.selected == 19)
        for (keys, top) in [("G", 99_991), ("k", 99_991), ("g", 0), ("G", 99_991)] {
            state.type(keys)
            #expect(state.queue.list.visible == top..<top + 9)
        }
        state.show { ($0.tracks, $0.queueRevision) = (manyTracks(12), 1) }
        #expect(state.queue.list.selected == 11 && state.queue.list.visible == 3..<12)
        _ = state.apply(.resized(columns: 80, rows: 24))
        #expect(state.queue.list.visible == 0..<12)
    }

    @Test func `the selection follows the current track until it is moved away`() {
        var state = queueState(50, current: 3, rows: 15)
        #expect(state.queue.list.selected == 3)
        state.show { $0.currentIndex = 4 }
        #expect(state.queue.list.selected == 4)
        state.type("jj")
        state.show { $0.currentIndex = 5 }
        #expect(state.queue.list.selected == 6)
    }

    @Test
    func `a message, and the answer to a mistyped command, stay until a key is pressed with them in view`() {
        var state = queueState(3)
        for _ in 0..<2 { state.show { $0.messages = (1...100).map { message($0, "reconnected") } } }
        #expect(state.message?.text == "reconnected")
        state.type("j")
        #expect(state.message?.text == nil)
        state.show { _ in }
        #expect(state.message?.text == nil)
        // The same text again is a new message, even if the full list drops its oldest.
        state.show { $0.messages = $0.messages.dropFirst() + [message(101, "reconnected")] }
        #expect(state.message?.text == "reconnected")
        // One that arrives while a command is typed is shown after the answer.
        state.type("j:dance")
        state.show { $0.messages.append(message(102, "offline")) }
        #expect(state.type("\n").isEmpty && state.answer?.isError == true)
        #expect(state.answer?.text == "Unknown command \"dance\" (? lists them)")
        state.type("⎋")
        #expect(state.answer == nil && state.message?.text == "offline")
        state.type("j")
        #expect(state.message?.text == nil)
    }

    @Test func `keys run nothing while a command is typed, and Esc cancels it`() {
        var state = queueState(3)
        #expect(state.type(":qdm ").isEmpty && state.commandLine?.text == "qdm ")
        #expect(state.type("⎋").isEmpty && state.commandLine == nil)
        #expect(state.type(":\n:  \n").isEmpty && state.answer == nil)
    }

    @Test func `text pasted into a prompt becomes part of it, as one line and without controls`() {
        var state = queueState(100)
        state.type("/")
        #expect(state.apply(.pasted("42")).isEmpty && state.queue.list.selected == 41)
        #expect(state.type("⎋:add ").isEmpty)
        #expect(state.apply(.pasted("http://x/a.mp3\u{1B}\r\n")).isEmpty)
        #expect(state.commandLine?.text == "add http://x/a.mp3 ")
        #expect(state.type("\n").last == .send(.add("http://x/a.mp3")))
    }

    @Test func `text pasted into the queue is added line by line, and runs no keys`() {
        var state = queueState(3)
        #expect(
            state.apply(.pasted("http://x/a.mp3\r\n\n  /music/b c.mp3 \n#EXTM3U\nq")) == [
                .send(.add("http://x/a.mp3")), .send(.add("/music/b c.mp3")), .send(.add("q")),
            ]
        )
        #expect(state.apply(.pasted(String(repeating: "q\n", count: 1_001))).isEmpty)
        #expect(state.answer?.isError == true)
    }

    @Test func `a line with a user name in its URL is not saved, nor is a mistyped one`() {
        var state = queueState(3)
        let url = "http://me:secret@host.example/a.mp3"
        #expect(state.type(":add \(url)\n:sing\n⎋") == [.send(.add(url))])
        #expect(state.type(":next\n") == [.remember("next"), .send(.next)])
        // In this session they can still be corrected.
        state.type(":↑↑↑")
        #expect(state.commandLine?.text == "add " + url)
    }

    @Test func `the history holds the newest five hundred lines, and none twice in a row`() {
        var state = UIState(columns: 80, rows: 24, history: (0..<600).map(String.init))
        state.type(":599\n⎋:600\n⎋:600\n⎋:")
        let seen = (0..<600).map { _ in
            state.type("↑")
            return state.commandLine?.text
        }
        #expect(seen.prefix(3) == ["600", "599", "598"] && seen.last == "101")
    }

    @Test func `paths are listed and inserted, unless another key came first`() {
        var state = queueState(3)
        #expect(state.type(":add mu\t") == [.listPaths("mu")])
        #expect(state.apply(.listed(word: "m", paths: ["man/"])).isEmpty)
        #expect(state.commandLine?.text == "add mu")
        _ = state.apply(.listed(word: "mu", paths: ["music/", "museum.mp3"]))
        #expect(state.commandLine?.text == "add mus")
        for path in ["museum.mp3", "music/"] {
            state.type("\t")
            #expect(state.commandLine?.text == "add " + path)
        }
    }

    @Test func `quitting stops the player and leaves the screen, by key, command and signal`() {
        for (event, expected) in [
            (.key("q"), [.send(.quit), .leave]), (.endRequested, [.send(.quit)]),
        ] as [(UIEvent, [UIAction])] {
            var state = queueState(1)
            #expect(state.apply(event) == expected && state.isLeaving)
        }
        var state = queueState(1)
        #expect(state.type(":quit\n") == [.remember("quit"), .send(.quit), .leave])
    }

    @Test(arguments: ["2", "4", "5", "6", "?"])
    func `keys that change the queue have no effect in other views`(view: String) {
        var state = queueState(5)
        #expect(state.type(view + "dJKxP\nj").isEmpty)
        #expect(state.queue.list.selected == 0 && state.queue.marks.isEmpty)
        #expect(state.type(" ⎋") == [.send(.toggle)] && state.view == .queue)
    }

    @Test func `Tab cycles through the views, a number opens one, and the help returns to the view before`() {
        var state = queueState(1)
        let seen = (0..<6).map { _ in
            state.type("\t")
            return state.view
        }
        #expect(seen == [.playing, .cache, .network, .messages, .help, .queue])
        _ = state.apply(.key(.backTab))
        #expect(state.view == .help)
        state.type("4?")
        #expect(state.view == .help)
        state.type("?")
        #expect(state.view == .network)
    }

    @Test func `redraw and remaining time are the screen's own`() {
        var state = queueState(1)
        #expect(state.apply(.key(.control("l"))) == [.redrawAll])
        #expect(state.type("t").isEmpty && state.showsRemainingTime)
        #expect(state.answer?.text == "Remaining time")
    }
}
