import Media
import TerminalUI
import Testing

struct UIStateTests {
    private static func state(tracks: Int, current: Int? = nil, rows: Int = 15) -> UIState {
        var state = UIState(columns: 80, rows: rows)
        var snapshot = PlayerSnapshot()
        snapshot.tracks = manyTracks(tracks)
        snapshot.currentIndex = current
        _ = state.apply(.snapshot(snapshot))
        return state
    }

    private static func type(_ text: String, into state: inout UIState) -> [UIAction] {
        text.flatMap { state.apply(.key($0 == "\n" ? .enter : .character($0))) }
    }

    @Test func `the selected track is played, removed and moved by its place in the queue`() {
        var state = Self.state(tracks: 5)
        #expect(Self.type("jj\n", into: &state) == [.send(.jump(3))])
        #expect(Self.type("d", into: &state) == [.send(.remove(3))])
        #expect(state.apply(.key(.delete)) == [.send(.remove(3))])
        #expect(Self.type("J", into: &state) == [.send(.move(3, to: 4))])
        #expect(Self.type("JJ", into: &state) == [.send(.move(4, to: 5))])
        #expect(Self.type("K", into: &state) == [.send(.move(5, to: 4))])
        #expect(state.queue.list.selected == 3)
    }

    @Test func `an empty queue takes every key without a command for a track`() {
        var state = Self.state(tracks: 0)
        #expect(Self.type("jkgGdJK\n", into: &state).isEmpty)
        for key in [Key.pageDown, .pageUp, .home, .end, .up, .down] {
            #expect(state.apply(.key(key)).isEmpty)
        }
        #expect(state.queue.list.selected == 0)
    }

    @Test func `the list scrolls no further than it needs`() {
        // Fifteen rows leave ten for the list, and no air around it.
        var state = Self.state(tracks: 100_000)
        #expect(state.queue.list.visible == 0..<10)
        _ = Self.type("jjjjjjjjjj", into: &state)
        #expect(state.queue.list.visible == 1..<11)
        _ = state.apply(.key(.pageDown))
        #expect(state.queue.list.selected == 20)
        _ = Self.type("G", into: &state)
        #expect(state.queue.list.visible == 99_990..<100_000)
        _ = Self.type("k", into: &state)
        #expect(state.queue.list.visible == 99_990..<100_000)
        _ = Self.type("g", into: &state)
        #expect(state.queue.list.visible == 0..<10)
    }

    @Test func `a list that shrinks keeps a selection and fills the window`() {
        var state = Self.state(tracks: 100)
        _ = Self.type("G", into: &state)
        var snapshot = PlayerSnapshot()
        snapshot.tracks = manyTracks(12)
        _ = state.apply(.snapshot(snapshot))
        #expect(state.queue.list.selected == 11)
        #expect(state.queue.list.visible == 2..<12)
        _ = state.apply(.resized(columns: 80, rows: 24))
        #expect(state.queue.list.visible == 0..<12)
    }

    @Test func `the selection follows the music until it is moved away`() {
        var state = Self.state(tracks: 50, current: 3)
        #expect(state.queue.list.selected == 3)
        var snapshot = state.player
        snapshot.currentIndex = 4
        _ = state.apply(.snapshot(snapshot))
        #expect(state.queue.list.selected == 4)
        _ = Self.type("jj", into: &state)
        snapshot.currentIndex = 5
        _ = state.apply(.snapshot(snapshot))
        #expect(state.queue.list.selected == 6)
    }

    @Test(
        arguments: [
            (":seek 50%\n", .send(.seek(.percent(50)))), (":volume +5\n", .send(.changeVolume(by: 5))),
            (":add http://x/a b\n", .send(.add("http://x/a b"))), (":jump 7\n", .send(.jump(7))),
        ] as [(String, UIAction)]
    )
    func `a typed command is sent`(typed: String, action: UIAction) {
        var state = Self.state(tracks: 3)
        #expect(Self.type(typed, into: &state).last == action)
        #expect(state.commandLine == nil)
    }

    @Test func `a mistyped command is explained until the next key`() {
        var state = Self.state(tracks: 3)
        #expect(Self.type(":sing\n", into: &state).isEmpty)
        #expect(
            state.answer?.text == "Unknown command \"sing\" (? lists them)"
                && state.answer?.isError == true
        )
        _ = Self.type("j", into: &state)
        #expect(state.answer == nil)
    }

    @Test func `a message stays until a key is pressed with it in view`() {
        var state = Self.state(tracks: 3)
        var snapshot = state.player
        snapshot.messages = [message(1, "reconnected")]
        _ = state.apply(.snapshot(snapshot))
        _ = state.apply(.snapshot(snapshot))
        #expect(state.message == "reconnected")
        _ = Self.type("j", into: &state)
        #expect(state.message == nil)
        _ = state.apply(.snapshot(snapshot))
        #expect(state.message == nil)
        // The same words once more are news.
        snapshot.messages.append(message(2, "reconnected"))
        _ = state.apply(.snapshot(snapshot))
        #expect(state.message == "reconnected")
    }

    @Test func `a message that comes while a command is typed is shown after it`() {
        var state = Self.state(tracks: 3)
        var snapshot = state.player
        _ = Self.type(":sing", into: &state)
        snapshot.messages = [message(1, "reconnected")]
        _ = state.apply(.snapshot(snapshot))
        _ = Self.type("\n", into: &state)
        #expect(state.answer != nil)
        _ = Self.type("j", into: &state)
        #expect(state.answer == nil && state.message == "reconnected")
        _ = Self.type("j", into: &state)
        #expect(state.message == nil)
    }

    @Test func `of a full list of messages a new one is told from the last`() {
        var state = Self.state(tracks: 3)
        var snapshot = state.player
        snapshot.messages = (1...100).map { message($0, "reconnected") }
        _ = state.apply(.snapshot(snapshot))
        _ = Self.type("j", into: &state)
        #expect(state.message == nil)
        snapshot.messages = Array(snapshot.messages.dropFirst()) + [message(101, "reconnected")]
        _ = state.apply(.snapshot(snapshot))
        #expect(state.message == "reconnected")
    }

    @Test func `keys fire nothing while a command is typed, and Esc leaves it`() {
        var state = Self.state(tracks: 3)
        #expect(Self.type(":qdm ", into: &state).isEmpty)
        #expect(state.commandLine?.text == "qdm ")
        #expect(state.apply(.key(.escape)).isEmpty)
        #expect(state.commandLine == nil)
        #expect(Self.type(":\n:  \n", into: &state).isEmpty)
        #expect(state.answer == nil)
    }

    @Test func `pasted text goes into the command line, as one line and without controls`() {
        var state = Self.state(tracks: 3)
        #expect(Self.type(":add ", into: &state).isEmpty)
        #expect(state.apply(.pasted("http://x/a.mp3\u{1B}\r\n")).isEmpty)
        #expect(state.commandLine?.text == "add http://x/a.mp3 ")
        #expect(state.apply(.key(.enter)).last == .send(.add("http://x/a.mp3")))
    }

    @Test func `what is pasted in the queue is added, a line each, and fires no keys`() {
        var state = Self.state(tracks: 3)
        #expect(
            state.apply(.pasted("http://x/a.mp3\r\n\n  /music/b c.mp3 \n#EXTM3U\nq")) == [
                .send(.add("http://x/a.mp3")), .send(.add("/music/b c.mp3")), .send(.add("q")),
            ]
        )
        #expect(state.apply(.pasted(String(repeating: "q\n", count: 1_001))).isEmpty)
        #expect(state.answer?.isError == true)
    }

    @Test func `a line that names a user of a server is not written down, a mistyped one neither`() {
        var state = Self.state(tracks: 3)
        let line = "add http://me:secret@host.example/a.mp3"
        #expect(Self.type(":\(line)\n", into: &state) == [.send(.add(String(line.dropFirst(4))))])
        #expect(Self.type(":sing\n", into: &state).isEmpty)
        #expect(Self.type(":next\n", into: &state) == [.remember("next"), .send(.next)])
        // In this session they can be mended all the same.
        _ = Self.type(":", into: &state)
        for _ in 0..<3 { _ = state.apply(.key(.up)) }
        #expect(state.commandLine?.text == line)
    }

    @Test func `paths are asked for and put in, unless another key came first`() {
        var state = Self.state(tracks: 3)
        _ = Self.type(":add mu", into: &state)
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

    @Test func `quitting tells the player and leaves, by key, command and signal`() {
        var byKey = Self.state(tracks: 1)
        #expect(Self.type("q", into: &byKey) == [.send(.quit), .leave])
        #expect(byKey.isLeaving)
        var byCommand = Self.state(tracks: 1)
        #expect(Self.type(":quit\n", into: &byCommand) == [.remember("quit"), .send(.quit), .leave])
        var bySignal = Self.state(tracks: 1)
        #expect(bySignal.apply(.endRequested) == [.send(.quit)])
        #expect(bySignal.isLeaving)
    }

    @Test func `a player that is over ends the screen`() {
        var state = Self.state(tracks: 1)
        var snapshot = state.player
        snapshot.isOver = true
        #expect(state.apply(.snapshot(snapshot)) == [.leave])
    }

    @Test(arguments: ["2", "4", "5", "6", "?"])
    func `a view that hides the queue hides it from keys that change it`(key: String) {
        var state = Self.state(tracks: 5)
        #expect(Self.type(key + "dJKxP\nj", into: &state).isEmpty)
        #expect(state.queue.list.selected == 0 && state.queue.marks.isEmpty)
        #expect(Self.type(" ", into: &state) == [.send(.toggle)])
        _ = state.apply(.key(.escape))
        #expect(state.view == .queue)
    }

    @Test func `Tab goes round the views, and a number opens one`() {
        var state = Self.state(tracks: 1)
        var seen: [ViewName] = []
        for _ in 0..<6 {
            _ = state.apply(.key(.tab))
            seen.append(state.view)
        }
        #expect(seen == [.playing, .cache, .network, .messages, .help, .queue])
        _ = state.apply(.key(.backTab))
        #expect(state.view == .help)
        _ = Self.type("4?", into: &state)
        #expect(state.view == .help)
        // The help leads back to where it was asked for.
        _ = Self.type("?", into: &state)
        #expect(state.view == .network)
    }

    @Test func `redraw and remaining time are the screen's own`() {
        var state = Self.state(tracks: 1)
        #expect(state.apply(.key(.control("l"))) == [.redrawAll])
        #expect(Self.type("t", into: &state).isEmpty)
        #expect(state.showsRemainingTime)
    }
}
