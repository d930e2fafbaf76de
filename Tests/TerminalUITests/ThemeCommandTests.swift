import Media
import Testing

@testable import TerminalUI

struct ThemeCommandTests {
    private static func theme(_ name: String, playing: Int = 1) -> Theme {
        var colors = ColorTable()
        _ = colors.set(.index(playing), for: "playing")
        return Theme(name, colors: colors)
    }

    private static let choices =
        Theme.plain.map { ThemeChoice($0) } + [
            ThemeChoice(theme("ember")), ThemeChoice("broken", problem: "broken.toml:2: colors.sky is wrong"),
        ]

    /// The names of the theme after each key.
    private static func shown(_ keys: String, in state: inout UIState) -> [String] {
        keys.map { key in
            state.type(String(key))
            return state.theme.name
        }
    }

    @Test func `the command alone offers all themes, each of which is shown as one moves, until Esc`() {
        var state = queueState(3)
        #expect(state.type(":theme\n") == [.remember("theme"), .listThemes("")])
        _ = state.apply(.themes(Self.choices, word: ""))
        #expect(state.commandLine?.text == "theme ")
        let names = ["auto", "dark", "light", "mono", "ember", "broken"]
        #expect(state.commandLine?.offer.candidates == names)
        #expect(
            Self.shown("↓↓↓↑↓↓↓↓⎋", in: &state) == [
                "auto", "dark", "light", "dark", "light", "mono", "ember", "auto", "auto",
            ]
        )
        #expect(state.typed == nil && state.theme == .auto)
    }

    @Test func `Enter keeps the theme that is shown`() {
        var state = queueState(3)
        state.type(":theme\n")
        _ = state.apply(.themes(Self.choices, word: ""))
        #expect(state.type("↓↓\n") == [.remember("theme dark"), .listThemes("")])
        #expect(state.theme == .dark && state.answer == .notice("Theme dark"))
        _ = state.apply(.themes(Self.choices, word: ""))
        state.type("j")
        #expect(state.theme == .dark)
    }

    @Test func `Tab completes a name, and a whole name is shown while it is typed`() {
        var state = queueState(3)
        #expect(state.type(":theme e\t") == [.listThemes("e")])
        _ = state.apply(.themes(Self.choices, word: "d"))
        #expect(state.commandLine?.text == "theme e", "another word was asked for")
        _ = state.apply(.themes(Self.choices, word: "e"))
        #expect(state.commandLine?.text == "theme ember" && state.theme.name == "ember")
        #expect(Self.shown("!⌫", in: &state) == ["auto", "ember"])
    }

    @Test func `a theme that was not read yet is shown once it is, and a file is read again each time`() {
        var state = queueState(3)
        #expect(state.type(":theme ember\n") == [.remember("theme ember"), .listThemes("")])
        #expect(state.theme == .auto && state.answer == nil)
        _ = state.apply(.themes(Self.choices, word: ""))
        #expect(state.theme.name == "ember" && state.answer == .notice("Theme ember"))
        state.type(":theme ember\n")
        let edited = Self.theme("ember", playing: 2)
        _ = state.apply(.themes([ThemeChoice(edited)], word: ""))
        #expect(state.theme == edited)
    }

    @Test(arguments: [
        ("embers", "No theme is called \"embers\" – did you mean ember? (Tab lists them)"),
        ("broken", "broken.toml:2: colors.sky is wrong"),
    ])
    func `a wrong name or a broken file changes nothing, and the line stays to be edited`(
        name: String,
        reason: SafeText
    ) {
        var state = queueState(3)
        state.type(":theme \(name)\n")
        _ = state.apply(.themes(Self.choices, word: ""))
        #expect(state.answer == .error(reason) && state.theme == .auto)
        #expect(state.commandLine?.text == "theme " + name)
    }

    @Test func `the theme at the start is the user's`() {
        let state = UIState(columns: 80, rows: 24, theme: .light)
        #expect(state.theme == .light)
    }
}
