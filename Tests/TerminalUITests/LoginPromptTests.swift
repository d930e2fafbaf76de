import Media
@testable import TerminalUI
import Testing

/// The question for a log-in on the bottom line.
struct LoginPromptTests {
    private static let origin = "http://music.example:8000"

    private func question(
        _ origin: String = origin,
        realm: SafeText = "Music",
        isRefused: Bool = false,
        canBeKept: Bool = true
    ) -> LoginQuestion {
        LoginQuestion(number: 7, origin: origin, realm: realm, isRefused: isRefused, canBeKept: canBeKept)
    }

    private func asked(_ question: LoginQuestion, columns: Int = 80, rows: Int = 24) -> UIState {
        var state = screenState(queueSnapshot(manyTracks(3), current: 1), columns: columns, rows: rows)
        #expect(state.apply(.login(question)).isEmpty)
        return state
    }

    private func login(_ isKept: Bool) -> [UIAction] {
        [.answer(7, .login(WebURL.UserInfo(user: "me", password: "a:b q"), isKept: isKept))]
    }

    @Test func `scheme, host and realm are named, and without encryption there is a warning`() {
        let screen = asked(question()).screen
        let text = screen.dropLast().suffix(3).joined(separator: " ")
        #expect(text.contains("http://music.example:8000 wants a log-in"))
        #expect(text.contains("not encrypted"))
        #expect(text.contains("for “Music”"))
        #expect(screen.last == " User name: ▏")
        let safe = asked(question("https://music.example", isRefused: true)).screen.joined()
        #expect(safe.contains("https://music.example refused the log-in") && !safe.contains("encrypted"))
    }

    @Test func `the password is shown as bullets, and Enter uses the log-in for the session`() {
        var state = asked(question())
        #expect(state.type("me\n").isEmpty && state.type("a:b q").isEmpty)
        #expect(state.screen.last == " Password: •••••▏")
        _ = state.apply(.key(.left))
        #expect(state.screen.last == " Password: ••••▏•")
        #expect(!state.screen.joined().contains("a:b"))
        #expect(state.type("\n").isEmpty)
        #expect(state.type("\n") == login(false))
        #expect(state.login == nil && state.screen.last?.contains("Password") == false)
    }

    @Test func `k keeps the log-in, and says so`() {
        var state = asked(question())
        #expect(state.type("me\na:b q\nxk") == login(true))
        _ = state.apply(.loginKept(nil))
        #expect(state.answer?.text == "Log-in kept")
        _ = state.apply(.loginKept(MediaError(.unreadable, "/x/netrc", "can't parse it")))
        #expect(state.answer?.isError == true)
    }

    @Test func `without a file nobody is asked if it is kept`() {
        var state = asked(question(canBeKept: false))
        #expect(state.type("me\na:b q\n") == login(false))
    }

    @Test(arguments: ["", "me", "me\n", "me\nwo", "me\nword\n"])
    func `Esc declines at every step`(typed: String) {
        for key in [Key.escape, .control("c")] {
            var state = asked(question())
            state.type(typed)
            #expect(state.apply(.key(key)) == [.answer(7, .declined)])
            #expect(state.login == nil && !state.isLeaving)
        }
    }

    @Test func `nothing of it enters the history, and no letter of it runs as a key`() {
        var state = asked(question())
        #expect(
            state.type("q:/C\n" + "Cdq/:\n\n") == [
                .answer(7, .login(WebURL.UserInfo(user: "q:/C", password: "Cdq/:"), isKept: false))
            ]
        )
        state.type(":")
        _ = state.apply(.key(.up))
        #expect(state.commandLine?.text == "")
        // Neither the other way.
        var recalling = asked(question())
        _ = recalling.apply(.key(.up))
        _ = recalling.apply(.key(.tab))
        #expect(recalling.screen.last == " User name: ▏")
    }

    @Test func `a pasted password loses only its line break`() {
        var state = asked(question())
        state.type("me\n")
        #expect(state.apply(.pasted("a:b q\n")).isEmpty)
        #expect(state.type("\n\n") == login(false))
    }

    @Test func `an empty user name is not entered`() {
        var state = asked(question())
        #expect(state.type("\n\nme\n").isEmpty && state.screen.last == " Password: ▏")
    }

    @Test func `a line that is being typed is finished first`() {
        var state = screenState(queueSnapshot(manyTracks(3), current: 1))
        state.type(":vol")
        _ = state.apply(.login(question()))
        #expect(state.login == nil && state.commandLine?.text == "vol")
        _ = state.apply(.key(.escape))
        _ = state.apply(.login(question()))
        #expect(state.login != nil)
    }

    @Test func `a window too small to show who asks does not ask`() {
        #expect(asked(question(), columns: 12, rows: 4).login == nil)
        let narrow = asked(question(), columns: 40, rows: 10).screen.joined(separator: " ")
        #expect(narrow.contains("http://music.example:8000"))
    }

    @Test func `neither a message nor a click replaces the question`() {
        var state = asked(question())
        for kind in [MouseEvent.Kind.press, .release, .wheelDown, .doublePress] {
            #expect(state.apply(.mouse(MouseEvent(kind, column: 9, row: 20))).isEmpty)
            #expect(state.screen.joined().contains("wants a log-in"))
        }
        state.show { $0.messages.append(message(9, "something else")) }
        #expect(state.screen.joined().contains("wants a log-in"))
        state.type("m")
        #expect(state.screen.joined().contains("wants a log-in"))
    }
}
