import Media
import TerminalUI
import Testing

@testable import Reprise

@Suite struct ScreenSettingsTests {
    private func screen(_ file: String) throws -> ScreenSettings {
        let configuration = Configuration(parsing: file, name: "config.toml")
        if let error = configuration.errors.first { throw error }
        return configuration.screen
    }

    @Test func `keys and colours of the file reach the screen`() throws {
        let screen = try screen(
            """
            [keys]
            "Ctrl-N" = "next"
            j = ""
            F5 = "seek 50%"
            "space" = "stop"
            [colors]
            playing = "208"
            in-flight = "bright-red"
            cached = "default"
            """
        )
        #expect(screen.keyMap.entry(for: .control("n"))?.command == .player(.next))
        #expect(screen.keyMap.entry(for: .character("j"))?.command == nil)
        #expect(screen.keyMap.entry(for: .function(5))?.command == .player(.seek(.percent(50))))
        #expect(screen.keyMap.entry(for: .character(" "))?.command == .player(.stop))
        var expected = ColorTable()
        for (name, color) in [("playing", .index(208)), ("in-flight", .index(9)), ("cached", .standard)]
            as [(String, ColorChoice)]
        {
            let isKnown = expected.set(color, for: name)
            #expect(isKnown)
        }
        #expect(screen.colors == expected)
    }

    @Test(arguments: [
        ("[keys]\nx = \"sing\"", "2: keys.x can't run this: Unknown command \"sing\""),
        ("[keys]\nx = \"jump x\"", "2: keys.x can't run this: jump takes the number of a track, from 1"),
        ("[keys]\nCtrl-C = \"next\"", "2: keys.Ctrl-C can't be bound: the terminal handles it itself"),
        (
            "[keys]\nspace = \"next\"\n\nSpace = \"stop\"",
            "4: keys.Space is bound in line 2 already; a key can do one thing"
        ),
        (
            "[colors]\nplaying = \"crimson\"",
            "2: colors.playing takes default, a name such as red or bright-red, 0 to 255, or #rrggbb"
        ),
        (
            "[colors]\nsky = \"blue\"",
            "2: colors.sky is not a part of the screen (reprise config lists them)"
        ),
    ])
    func `a mistake is named with file and line`(file: String, refusal: String) {
        #expect { try screen(file) } throws: { "\($0)".hasPrefix("config.toml:" + refusal) }
    }

    @Test func `config shows every key and colour, and where each comes from`() throws {
        let file = "[keys]\n\"ctrl-n\" = \"next\"\ns = \"\"\n[colors]\nplaying = \"208\"\n"
        let configuration = Configuration(parsing: file, name: "c")
        let lines = configuration.listing(with: [], style: TextStyle(columns: nil)).map {
            $0.split(separator: " ").joined(separator: " ")
        }
        for line in ["keys.> next default", "keys.Ctrl-N next c:2", "keys.s c:3", "colors.playing 208 c:5"] {
            #expect(lines.contains(line), "\(line)")
        }
        for line in [
            "colors.playing 208 c:5", "colors.cached cyan (67) default",
            "colors.error bright-red (210) default",
            "colors.title default default",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        let light = configuration.listing(with: ["--theme", "light"], style: TextStyle(columns: nil))
        #expect(light.contains { $0.split(separator: " ") == ["colors.cached", "blue", "(25)", "default"] })
        let paper = configuration.listing(with: ["--theme", "paper"], style: TextStyle(columns: nil))
        #expect(paper.contains { $0.split(separator: " ") == ["colors.background", "#fbf7ee", "default"] })
        #expect(paper.contains { $0.split(separator: " ") == ["colors.playing", "208", "c:5"] })
    }
}
