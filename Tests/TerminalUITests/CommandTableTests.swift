import Media
import Testing

@testable import TerminalUI

struct CommandTableTests {
    /// Commands of every case, and of every form of argument.
    private static let samples: [UICommand] =
        [
            .play, .pause, .toggle, .stop, .next, .previous, .jump(3), .seek(.by(.seconds(-2.5))),
            .seek(.to(.seconds(90))), .seek(.percent(12.5)), .volume(0), .volume(100), .changeVolume(by: 5),
            .changeVolume(by: -5), .mute, .shuffle, .shuffleNow, .setRepeat(nil), .setRepeat(.one),
            .setGain(nil), .setGain(.album), .add("http://a/b c.mp3"),
            .remove(TrackNumbers(places: RangeSet([2..<3, 4..<7]))), .move(3, to: 1), .sort(.artist), .clear,
            .undo, .save("/tmp/My list.m3u8"), .reload, .pin(nil), .pin(2), .status, .quit,
        ].map(UICommand.player) + ViewName.allCases.map(UICommand.show)
        + [
            .nextView(by: 1), .nextView(by: -1), .selectBy(1), .selectBy(-1), .selectByPage(1),
            .selectByPage(-1), .selectFirst, .selectLast, .selectCurrent, .playSelected, .removeSelected,
            .pinSelected, .moveSelected(by: 1), .moveSelected(by: -1), .toggleMark, .markAll, .unmarkAll,
            .search(nil), .search("a b"), .nextMatch(1), .nextMatch(-1), .filter(nil), .filter("a"),
            .toggleRemainingTime, .toggleSound, .openCommandLine(""), .openCommandLine("add "), .toggleHelp,
            .back, .redraw,
        ]

    /// The name of the command's case. A new case does not compile before it is counted here and sampled above.
    private static func caseName(of command: UICommand) -> Substring {
        switch command {
        case .player(let command): caseName(of: command)
        case .show, .nextView, .selectBy, .selectByPage, .selectFirst, .selectLast, .selectCurrent,
            .playSelected, .removeSelected, .pinSelected, .moveSelected, .toggleMark, .markAll, .unmarkAll,
            .search, .nextMatch, .filter, .toggleRemainingTime, .toggleSound, .openCommandLine, .toggleHelp,
            .back, .redraw:
            "\(command)".prefix { $0 != "(" }
        }
    }

    private static func caseName(of command: PlayerCommand) -> Substring {
        switch command {
        case .play, .pause, .toggle, .stop, .next, .previous, .jump, .seek, .volume, .changeVolume, .mute,
            .shuffle, .shuffleNow, .setRepeat, .setGain, .add, .remove, .move, .sort, .clear, .undo, .save,
            .reload, .pin, .status, .quit:
            "\(command)".prefix { $0 != "(" }
        }
    }

    private static let caseCount = 23 + 26

    @Test func `every case has exactly one row, and its line is parsed to the same command`() throws {
        #expect(Set(Self.samples.map(Self.caseName)).count == Self.caseCount)
        for command in Self.samples {
            #expect(CommandTable.rows.filter { $0.argument(of: command) != nil }.count == 1, "\(command)")
            #expect(try UICommand(parsing: command.line) == command, "\(command)")
        }
        let used = Set(Self.samples.map(\.row.name))
        #expect(used == Set(CommandTable.rows.map(\.name)), "and no row is without a command")
    }

    @Test(
        arguments: [
            ("  quit \r", .player(.quit)),
            ("remove 7 1-9 ", .player(.remove(TrackNumbers(places: RangeSet(0..<9))))),
            ("move 3   1", .player(.move(3, to: 1))), ("add  My Song.mp3 ", .player(.add("My Song.mp3"))),
            ("move 5-6 9 1", .player(.move(TrackNumbers(places: RangeSet([4..<6, 8..<9])), to: 1))),
            ("seek -1:00", .player(.seek(.by(.seconds(-60))))), ("repeat off", .player(.setRepeat(.off))),
            ("gain off", .player(.setGain(.off))), ("sort source", .player(.sort(.source))),
            ("view queue", .show(.queue)), ("search  a", .search("a")),
        ] as [(String, UICommand)]
    )
    func `a line is its command`(line: String, expected: UICommand) throws {
        #expect(try UICommand(parsing: line) == expected)
    }

    @Test(
        arguments: [
            "", "   ", "fly", "Play", "play now", "jump", "jump 0", "jump -1", "jump x",
            "jump 99999999999999999999", "remove", "remove 0", "remove 0-2", "remove 3-1", "remove 1-",
            "remove -3", "remove 1-2-3", "remove 1,2", "remove ٣", "remove 1-99999999999999999999", "move 1",
            "move 1-2", "move 0 1", "move 1 2-3", "move a b", "undo 2", "sort", "sort loudness",
            "shuffle later", "seek", "seek x", "volume", "volume 101", "volume -101", "volume loud",
            "repeat twice", "gain loud", "gain 3", "add", "save  ", "pin 0", "pin x", "view", "view cellar",
            "back now",
        ]
    )
    func `a wrong line is refused with a reason in one line`(line: String) {
        #expect {
            try UICommand(parsing: line)
        } throws: { error in
            let text = "\(error)"
            return text.contains(" ") && !text.contains("\n") && text.count <= 80
        }
    }

    @Test func `an unknown command is repeated without its controls`() {
        #expect {
            try UICommand(parsing: "\u{1B}[2J")
        } throws: {
            "\($0)" == "Unknown command \"\u{FFFD}[2J\""
        }
    }

    @Test func `every key of the table runs its command with its argument, and no key is bound twice`() {
        let uses = CommandTable.rows.flatMap { row in row.keyUses.map { (row, $0) } }
        let keys = uses.flatMap(\.1.keys)
        #expect(Set(keys).count == keys.count)
        for (row, use) in uses {
            let command = row.command(use.argument)
            #expect(command != nil, "\(row.name) \(use.argument)")
            for key in use.keys { #expect(KeyMap.standard.command(for: key) == command) }
        }
    }

    @Test func `the help is plain ASCII and fits half of an 80-column window`() {
        for row in CommandTable.rows {
            for use in row.keyUses {
                #expect(!use.help.isEmpty && use.help.columns <= 25)
                #expect(
                    (use.help.string + use.keys.map(\.name.string).joined()).utf8.allSatisfy { $0 < 0x7F }
                )
            }
            guard row.isListedAsLine else { continue }
            #expect("\(row.name) \(row.syntax)".count <= 12 && row.help.columns <= 25, "\(row.name)")
            #expect(row.help.string.utf8.allSatisfy { $0 < 0x7F })
        }
    }
}
