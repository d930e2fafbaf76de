import Media
@testable import TerminalUI
import Testing

/// Messages and answers at the bottom that are longer than one line.
struct NoticeTests {
    private static let advice: SafeText =
        "http://music.example/private/b.mp3: asks for a user name and password (401); put them into ~/.netrc"

    private func screen(_ columns: Int, _ rows: Int = 24) -> [String] {
        screenState(PlayerSnapshot(), columns: columns, rows: rows).showing(Self.advice).screen
    }

    @Test func `a message too long for one row takes two, so that its advice is read`() {
        let screen = screen(80)
        #expect(
            screen[22] == " http://music.example/private/b.mp3: asks for a user name and password (401);"
        )
        #expect(screen[23] == " put them into ~/.netrc")
    }

    @Test(arguments: [PlayerSnapshot.State.opening, .buffering])
    func `while the status says why the player waits, a message takes one row`(wait: PlayerSnapshot.State) {
        var player = PlayerSnapshot()
        player.state = wait
        let screen = screenState(player).showing(Self.advice).screen
        #expect(screen[22].hasPrefix(wait == .opening ? " Opening" : " Buffering"))
        #expect(
            screen[23] == " http://music.example/private/b.mp3: asks for a user name and pass… 5 shows all"
        )
    }

    @Test func `a message that fits leaves the status in place`() {
        let screen = screen(102)
        #expect(screen[22].hasPrefix(" Stopped   vol ▮▮▮▮▮▮▮▮▮▮ 100%"))
        #expect(screen[23] == " " + Self.advice.string)
    }

    @Test func `a message too long for two rows ends with the key that shows all of it`() {
        let screen = screen(44)
        #expect(screen[22] == " http://music.example/private/b.mp3: asks")
        #expect(screen[23] == " for a user name and password … 5 shows all")
        // In a very narrow window the text matters more.
        #expect(self.screen(20)[22...] == [" http://music.examp", " le/private/b.mp3:…"])
    }

    @Test func `a window of two rows shows one row of a message, and its key`() {
        #expect(
            screen(60, 2)[1] == " http://music.example/private/b.mp3: asks for … 5 shows all"
        )
    }

    @Test func `the reason why a line failed takes two rows above the line`() {
        var state = screenState(PlayerSnapshot(), columns: 60)
        state.type(":played loud\n")
        #expect(state.screen[21] == " played takes numbers of tracks, as in 3 5-7, or nothing")
        #expect(state.screen[22] == " for this track" && state.screen[23].hasPrefix(" :played loud"))
    }

    @Test func `the key is gone with the message, and the view has all of it`() {
        var state = screenState(PlayerSnapshot(), columns: 44).showing(Self.advice)
        state.type("5")
        #expect(state.screen[22].hasPrefix(" Stopped") && state.screen[23].hasPrefix(" ? help"))
        #expect(state.screen[state.layout.listRows].joined(separator: " ").contains("~/.netrc"))
    }
}

extension UIState {
    /// This state after a message.
    fileprivate func showing(_ text: SafeText) -> UIState {
        var state = self
        let message = PlayerMessage(number: 1, time: .zero, text: text)
        state.show { $0.messages = [message] }
        return state
    }
}
