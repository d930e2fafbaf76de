import Media
@testable import TerminalUI
import Testing

/// The spectrum on the screen: when it is shown, and when it moves.
struct SoundOnScreenTests {
    private let picture = SoundPicture(
        bands: (0..<24).map { Float($0) / 23 },
        levels: [SoundPicture.Level(peak: 1, rms: 0.1), SoundPicture.Level(peak: 0.5, rms: 0.1)]
    )

    @Test func `the key shows and hides the spectrum, and the player starts and stops the analysis`() {
        var state = fullState()
        #expect(state.sound == nil && !state.movesSound && state.layout.soundRows.isEmpty)
        let rows = state.layout.listRows
        #expect(state.type("v") == [.watchSound(true)])
        #expect(state.sound != nil && state.movesSound)
        #expect(state.layout.soundRows.upperBound == rows.upperBound)
        #expect(state.layout.listRows.upperBound < state.layout.soundRows.lowerBound)
        #expect(state.type("v") == [.watchSound(false)])
        #expect(state.sound == nil && !state.movesSound && state.layout.listRows == rows)
    }

    @Test(arguments: [PlayerSnapshot.State.paused, .stopped, .opening, .buffering, .ended])
    func `the spectrum moves only while music plays`(player: PlayerSnapshot.State) {
        var state = screenState(sampleSnapshot { $0.state = player })
        state.type("v")
        #expect(!state.movesSound, "so that no timer runs and nothing is drawn")
    }

    @Test func `in a pause the bars stand still, and at the end they disappear`() {
        var state = fullState()
        state.type("v")
        _ = state.apply(.sound(picture, at: .seconds(1)))
        state.show { $0.state = .paused }
        #expect(state.sound?.bands == picture.bands)
        state.show { $0.state = .ended }
        #expect(state.sound == SoundBars())
    }

    @Test func `the screen with the spectrum`() {
        var state = fullState()
        // Seen with a key, the message is gone from the bottom line.
        state.type("j")
        let before = state.screen
        state.type("V")
        _ = state.apply(.sound(picture, at: .seconds(1)))
        let lines = state.screen
        let drawn = Array(lines[state.layout.soundRows])
        #expect(drawn.count == 5)
        let expected = """
                                                                      ▁▁ ▂▂ ▄▄ ▅▅ ▇▇ ██
                                                    ▁▁ ▂▂ ▃▃ ▅▅ ▆▆ ██ ██ ██ ██ ██ ██ ██
                                     ▂▂ ▃▃ ▅▅ ▆▆ ▇▇ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██
                   ▁▁ ▃▃ ▄▄ ▆▆ ▇▇ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██ ██
            """
        #expect(drawn.dropLast().joined(separator: "\n") == expected)
        #expect(drawn[4].hasPrefix(" L ▄▄▄") && drawn[4].contains("R ▄▄▄"))
        // All other rows are unchanged, except the answer.
        #expect(lines.suffix(5).dropLast() == before.suffix(5).dropLast())
        #expect(lines.last == " Spectrum on" && lines.prefix(6) == before.prefix(6))
        #expect(state.type("V").isEmpty && state.answer?.text == "Levels off")
        #expect(state.screen[state.layout.soundRows].allSatisfy { !$0.hasPrefix(" L ") })
        #expect(state.type("vV") == [.watchSound(false), .watchSound(true)] && state.showsLevels)
    }

    @Test func `the spectrum alone has no levels`() {
        var state = fullState()
        state.type("v")
        _ = state.apply(.sound(picture, at: .seconds(1)))
        #expect(state.screen[state.layout.soundRows].allSatisfy { !$0.hasPrefix(" L ") })
    }

    @Test(arguments: [(80, 9), (40, 10), (1, 1), (16, 4), (500, 200), (20, 14)])
    func `the list has priority over the spectrum`(columns: Int, rows: Int) {
        var state = fullState(columns: columns, rows: rows)
        let before = state.layout.listRows.count
        state.type("v")
        _ = state.apply(.sound(picture, at: .seconds(1)))
        #expect(state.layout.listRows.count >= min(before, 4))
        #expect(state.layout.soundRows.count <= max(0, before / 2))
        if state.layout.soundRows.isEmpty {
            #expect(state.answer?.text == "The spectrum needs a larger window")
            #expect(!state.movesSound)
        }
        _ = ScreenView(glyphs: .ascii).draw(state)
    }
}
