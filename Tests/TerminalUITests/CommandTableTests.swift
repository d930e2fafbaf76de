import Media
import Testing

@testable import TerminalUI

struct CommandTableTests {
    /// A line for every row of the table and every form of argument.
    private static let samples: [(line: String, command: UICommand)] = [
        ("play", .player(.play)), ("pause", .player(.pause)), ("toggle", .player(.toggle)),
        ("stop", .player(.stop)), ("stop reading", .player(.stopReading)), ("next", .player(.next)),
        ("previous", .player(.previous)),
        ("jump 3", .player(.jump(3))), ("seek -1:00", .player(.seek(.by(.seconds(-60))))),
        ("seek 90", .player(.seek(.to(.seconds(90))))), ("seek 12.5%", .player(.seek(.percent(12.5)))),
        ("volume 0", .player(.volume(0))), ("volume +5", .player(.changeVolume(by: 5))),
        ("volume -5", .player(.changeVolume(by: -5))), ("mute", .player(.mute)),
        ("device", .player(.listDevices)), ("device a b", .player(.setDevice("a b"))),
        ("device default", .player(.setDevice(nil))),
        ("shuffle", .player(.setShuffle(nil))), ("shuffle now", .player(.shuffleNow)),
        ("shuffle on", .player(.setShuffle(true))), ("shuffle  off ", .player(.setShuffle(false))),
        ("repeat", .player(.setRepeat(nil))), ("repeat off", .player(.setRepeat(.off))),
        ("gain", .player(.setGain(nil))), ("gain album", .player(.setGain(.album))),
        ("add  My Song.mp3 ", .player(.add("My Song.mp3"))),
        ("add http://a/b c", .player(.add("http://a/b c"))),
        ("remove 7 1-9 ", .player(.remove(TrackNumbers(places: RangeSet(0..<9))))),
        ("move 3   1", .player(.move(3, to: 1))),
        ("move 5-6 9 1", .player(.move(TrackNumbers(places: RangeSet([4..<6, 8..<9])), to: 1))),
        ("sort source", .player(.sort(.source))), ("clear", .player(.clear)), ("undo", .player(.undo)),
        ("save /tmp/My list.m3u8", .player(.save("/tmp/My list.m3u8"))), ("reload", .player(.reload)),
        ("pin", .player(.pin(nil))), ("pin 2", .player(.pin(2))),
        ("download", .player(.download(nil))), ("download 2", .player(.download(2))),
        ("download pause", .player(.changeDownloads(.pause, .all))),
        ("download continue 2", .player(.changeDownloads(.resume, .numbers(2)))),
        ("played", .player(.setPlayed(true, nil))),
        ("played 2", .player(.setPlayed(true, 2))),
        ("unplayed 1-2", .player(.setPlayed(false, TrackNumbers(places: RangeSet(0..<2))))),
        ("unplayed", .player(.setPlayed(false, nil))),
        ("sort feed", .player(.sort(.feed))), ("played-selected", .playedSelected),
        ("chapter 3", .player(.chapter(.number(3)))), ("chapter next", .player(.chapter(.next))),
        ("chapter previous", .player(.chapter(.previous))),
        ("status", .player(.status)), ("list", .player(.list)),
        ("  quit \r", .player(.quit)), ("view cache", .show(.cache)), ("next-view", .nextView(by: 1)),
        ("previous-view", .nextView(by: -1)), ("select-down", .selectBy(1)), ("select-up", .selectBy(-1)),
        ("page-down", .selectByPage(1)), ("page-up", .selectByPage(-1)), ("select-first", .selectFirst),
        ("select-last", .selectLast), ("select-current", .selectCurrent), ("play-selected", .playSelected),
        ("remove-selected", .removeSelected), ("pin-selected", .pinSelected),
        ("download-selected", .downloadSelected), ("downloads", .show(.downloads)),
        (
            "play-next 3 5-7",
            .player(.playNext(TrackNumbers(places: RangeSet([2..<3, 4..<7])), after: .track))
        ),
        ("play-later 3", .player(.playNext(3, after: .album))), ("fold", .toggleFold),
        ("play-next-selected", .playNextSelected(after: .track)),
        ("play-later-selected", .playNextSelected(after: .album)),
        ("ahead 2h", .player(.setAhead(.time(.seconds(7_200))))), ("ahead off", .player(.setAhead(nil))),
        ("stop after track", .player(.stopAfter(.track))), ("stop  after  off", .player(.stopAfter(nil))),
        ("sleep 30m", .player(.sleep(.time(.seconds(1_800))))),
        ("sleep end", .player(.sleep(.after(.track)))),
        ("sleep album", .player(.sleep(.after(.album)))), ("sleep off", .player(.sleep(nil))),
        ("move-down", .moveSelected(by: 1)), ("move-up", .moveSelected(by: -1)), ("mark", .toggleMark),
        ("mark-all", .markAll), ("unmark-all", .unmarkAll), ("search", .search(nil)),
        ("search  a b", .search("a b")), ("search-next", .nextMatch(1)), ("search-previous", .nextMatch(-1)),
        ("filter", .filter(nil)), ("filter a", .filter("a")), ("time-left", .toggleRemainingTime),
        ("theme", .theme(nil)), ("theme  My own ", .theme("My own")), ("sound", .toggleSound),
        ("levels", .toggleLevels), ("command", .openCommandLine("")),
        ("command add", .openCommandLine("add ")),
        ("facts", .showFacts), ("help", .toggleHelp), ("back", .back), ("redraw", .redraw),
        ("close-or-quit", .closeOrQuit),
    ]

    @Test func `every command can be typed, and every row of the table is a command`() throws {
        for (line, command) in Self.samples {
            #expect(try ParsedCommand(parsing: line).command == command, "\(line)")
        }
        let used = try Self.samples.map { try ParsedCommand(parsing: $0.line).row.name }
        #expect(Set(used) == Set(CommandTable.rows.map(\.name)))
    }

    @Test(arguments: [
        "", "   ", "fly", "Play", "play now", "jump", "jump 0", "jump -1", "jump x", "stop now",
        "jump 99999999999999999999", "download later", "download pause x",
        "remove", "remove 0", "remove 0-2", "remove 3-1", "remove 1-",
        "remove -3", "remove 1-2-3", "remove 1,2", "remove ٣", "remove 1-99999999999999999999", "move 1",
        "move 1-2", "stop after", "stop after lunch", "sleep", "sleep 0", "sleep track", "play-next",
        "play-later 0", "move 0 1", "move 1 2-3",
        "move a b", "ahead", "ahead 0", "ahead 5M", "undo 2", "sort", "sort loudness", "shuffle later",
        "shuffle on now", "shuffle ON", "shuffle 1", "seek", "seek x", "chapter", "chapter 0", "chapter x",
        "volume", "volume 101", "volume -101",
        "volume loud", "repeat twice", "gain loud",
        "gain 3", "add", "save  ", "pin 0", "pin x", "played 0", "played x", "unplayed 3-1", "view",
        "view cellar", "back now", "\u{1B}[2J",
    ])
    func `a wrong line is refused with a reason in one line`(line: String) {
        #expect { try ParsedCommand(parsing: line) } throws: { error in
            let text = "\(error)"
            return text.contains(" ") && !text.contains { "\n\u{1B}".contains($0) } && text.count <= 80
        }
    }

    @Test func `every key of the table runs its command with its argument, and no key is bound twice`() {
        let uses = CommandTable.rows.flatMap { row in row.keyUses.map { (row, $0) } }
        let keys = uses.flatMap(\.1.keys)
        #expect(Set(keys).count == keys.count)
        for (row, use) in uses {
            let command = row.command(use.argument)
            #expect(command != nil, "\(row.name) \(use.argument)")
            for key in use.keys { #expect(KeyMap.standard.entry(for: key)?.command == command) }
        }
    }

    @Test func `the help is plain ASCII and fits half of an 80-column window`() {
        for row in CommandTable.rows {
            for use in row.keyUses {
                #expect(!use.help.isEmpty && use.help.columns <= 25)
                let shown = use.help.string + use.keys.map(\.name.string).joined()
                #expect(shown.utf8.allSatisfy { $0 < 0x7F })
            }
            guard row.isListedAsLine else { continue }
            #expect("\(row.name) \(row.syntax)".count <= 12 && row.help.columns <= 25, "\(row.name)")
            #expect(row.help.string.utf8.allSatisfy { $0 < 0x7F })
        }
    }
}
