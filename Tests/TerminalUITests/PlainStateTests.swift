import Media
@testable import TerminalUI
import Testing

struct PlainStateTests {
    private static func state() -> PlainState {
        var state = PlainState(keyMap: .standard, history: [], glyphs: .ascii)
        let tracks = (1...3).map { number in
            track(number, "/music/\(number).mp3", TrackTags(title: SafeText("Song \(number)")), seconds: 12)
        }
        var snapshot = queueSnapshot(tracks, current: 0)
        snapshot.state = .playing
        snapshot.position = .seconds(5)
        snapshot.duration = .seconds(12)
        _ = state.receive(snapshot)
        return state
    }

    @Test func `the keys are those of the screen`() {
        var state = Self.state()
        #expect(state.typed(" ").actions == [.send(.toggle)])
        #expect(state.typed(">").actions == [.send(.next)])
        #expect(state.typed("q").actions == [.send(.quit), .leave])
        #expect(state.typed("~").actions.isEmpty)
    }

    @Test func `Esc stops the reading of sources, and nothing else`() {
        var state = Self.state()
        #expect(state.typed(.escape).actions.isEmpty)
        var snapshot = queueSnapshot([])
        snapshot.isReading = true
        _ = state.receive(snapshot)
        snapshot.awaitedSource = "list.m3u"
        #expect(state.receive(snapshot) == ["Esc stops reading"] && state.receive(snapshot).isEmpty)
        let reply = state.typed(.escape)
        #expect(reply.actions == [.send(.stopReading)] && reply.lines == ["Stopped reading"])
    }

    @Test func `the selected row is printed and played`() {
        var state = Self.state()
        #expect(state.typed("j").lines == ["2 Song 2, 0:12"])
        #expect(state.typed(.end).lines == ["3 Song 3, 0:12"])
        #expect(state.typed(.down).lines.isEmpty)
        #expect(state.typed(.enter).actions == [.send(.jump(3))])
    }

    @Test func `the position is printed by key and by command`() {
        var state = Self.state()
        let position: [SafeText] = ["Playing 1 of 3: Song 1, 0:05 of 0:12"]
        #expect(state.typed("t").lines == position)
        _ = state.typed(":")
        #expect(state.wantsLine)
        let answer = state.entered("status")
        #expect(answer.lines == position && answer.actions == [.remember("status")] && !state.wantsLine)
    }

    @Test func `a line runs its command, a wrong one is explained, and Ctrl-D cancels it`() {
        var state = Self.state()
        _ = state.typed(":")
        #expect(state.entered("seek 50%").actions.last == .send(.seek(.percent(50))))
        _ = state.typed(":")
        #expect(state.entered("dance").lines == ["Unknown command \"dance\" (? lists them)"])
        _ = state.typed(":")
        #expect(state.entered(nil).actions.isEmpty && !state.wantsLine)
    }

    @Test(arguments: [("/", "search"), ("f", "filter")] as [(Character, String)])
    func `the text of a search runs no keys`(key: Character, name: String) {
        var state = Self.state()
        let asked = state.typed(.character(key))
        #expect(asked.actions.isEmpty && state.wantsLine && asked.lines.count == 1)
        #expect(
            asked.lines.first?.string.hasSuffix(" needs the full-screen mode (Enter leaves this line)")
                == true
        )
        #expect(state.begun == SafeText(name + " "))
        let reply = state.entered("dddd")
        #expect(reply.actions.isEmpty && reply.lines.count == 1 && !state.wantsLine)
    }

    @Test func `a line typed ahead of its prompt is accepted`() {
        var state = Self.state()
        var actions: [UIAction] = []
        for key in ":next".map(Key.character) { actions += state.typed(key).actions }
        #expect(actions.isEmpty && state.wantsLine && state.begun == "next")
        let answer = state.typed(.enter)
        #expect(answer.actions == [.remember("next"), .send(.next)] && !state.wantsLine)
    }

    @Test func `changes of volume and modes are printed`() {
        var state = Self.state()
        var snapshot = PlayerSnapshot()
        snapshot.volume = 85
        snapshot.isMuted = true
        snapshot.isShuffled = true
        snapshot.repeatMode = .one
        snapshot.gainMode = .album
        #expect(
            state.receive(snapshot) == ["Volume 85 %", "Muted", "Shuffle on", "Repeat one", "Gain album"]
        )
        #expect(state.receive(snapshot).isEmpty)
    }

    @Test func `the help is printed, and commands that need a screen are explained`() throws {
        var state = Self.state()
        let help = state.typed("?").lines
        #expect(help.contains("Space: play/pause") && help.contains("?: show or hide the keys"))
        var bound = PlainState(
            keyMap: KeyMap.standard.binding(.function(1), to: try ParsedCommand(parsing: "time-left")),
            history: [],
            glyphs: .ascii
        )
        #expect(bound.typed(.function(1)).lines == ["Stopped"])
        for (line, expected) in [
            ("time-left", "Stopped"), ("search x", "Search needs the full-screen mode"),
            ("help", "Space: play/pause"),
        ] as [(String, SafeText)] {
            _ = bound.typed(":")
            let answer = bound.entered(line)
            #expect(answer.lines.contains(expected) && answer.actions.isEmpty && !bound.wantsLine)
        }
    }

    @Test func `pasted sources are added`() {
        var state = Self.state()
        let answer = state.pasted("/music/4.mp3\nqd\n")
        #expect(!answer.actions.contains(.leave) && !answer.actions.isEmpty)
        #expect(answer.actions.allSatisfy { if case .send(.add) = $0 { true } else { false } })
    }
}
