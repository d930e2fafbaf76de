internal import Media

/// All commands, in the order of the help.
///
/// The keys, the `:` line, standard input, completion and the help are all generated from these rows.
package enum CommandTable {
    package static let rows = playing + views + lists + queue + others

    private static let byName = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0) })

    static func row(named name: String) -> CommandRow? { byName[name] }

    private static let playing: [CommandRow] = [
        CommandRow("play", .player(.play), "play"),
        CommandRow("pause", .player(.pause), "pause"),
        CommandRow("toggle", .player(.toggle), "play/pause", keys: [.character(" ")]),
        CommandRow("stop", .player(.stop), "stop"),
        CommandRow("next", .player(.next), "next track", keys: [.character(">")]),
        CommandRow("previous", .player(.previous), "previous track", keys: [.character("<")]),
        CommandRow(
            "jump",
            "N",
            "play track N",
            usage: "the number of a track, from 1",
            parse: { argument in
                guard let number = Int(argument), number >= 1 else { return nil }
                return .player(.jump(number))
            },
            print: { if case .player(.jump(let number)) = $0 { "\(number)" } else { nil } }
        ),
        CommandRow(
            "seek",
            "M:SS",
            "seek; also 50% or +10",
            usage: "+S, -S, M:SS, H:MM:SS or N%",
            keys: [
                .init([.right], "forward 5 s", "+5"), .init([.left], "back 5 s", "-5"),
                .init([.character(".")], "forward 1 min", "+60"),
                .init([.character(",")], "back 1 min", "-60"),
            ],
            parse: { SeekTarget(parsing: $0).map { .player(.seek($0)) } },
            print: { if case .player(.seek(let target)) = $0 { target.text } else { nil } }
        ),
        CommandRow(
            "volume",
            "N",
            "0 to 100; also +5, -5",
            usage: "0 to 100, +N or -N",
            keys: [
                .init([.character("+"), .character("=")], "volume up", "+5"),
                .init([.character("-")], "volume down", "-5"),
            ],
            parse: { argument in
                guard let number = Int(argument), (-100...100).contains(number) else { return nil }
                let isChange = argument.hasPrefix("+") || argument.hasPrefix("-")
                return .player(isChange ? .changeVolume(by: number) : .volume(number))
            },
            print: { command in
                switch command {
                case .player(.volume(let percent)): "\(percent)"
                case .player(.changeVolume(let change)): "\(change < 0 ? "" : "+")\(change)"
                default: nil
                }
            }
        ),
        CommandRow("mute", .player(.mute), "mute or unmute", keys: [.character("m")]),
        CommandRow(
            "shuffle",
            "now",
            "shuffle the queue once",
            completion: .words(["now"]),
            usage: "now, which reorders the queue itself, or no argument",
            keys: [
                .init([.character("s")], "shuffle on or off"),
                .init([.character("Z")], "shuffle the queue once", "now"),
            ],
            parse: { $0.isEmpty ? .player(.shuffle) : $0 == "now" ? .player(.shuffleNow) : nil },
            print: { $0 == .player(.shuffle) ? "" : $0 == .player(.shuffleNow) ? "now" : nil }
        ),
        CommandRow(
            "repeat",
            "MODE",
            "off, one, all",
            completion: .words(RepeatMode.allCases.map(\.rawValue)),
            usage: "off, one or all",
            keys: [.init([.character("r")], "repeat: off, all, one")],
            parse: { argument in
                if argument.isEmpty { return .player(.setRepeat(nil)) }
                return RepeatMode(rawValue: argument).map { .player(.setRepeat($0)) }
            },
            print: { if case .player(.setRepeat(let mode)) = $0 { mode?.rawValue ?? "" } else { nil } }
        ),
        CommandRow(
            "gain",
            "MODE",
            "off, track, album",
            completion: .words(GainMode.allCases.map(\.rawValue)),
            usage: "off, track or album",
            keys: [.init([.character("R")], "gain: off, track, album")],
            parse: { argument in
                if argument.isEmpty { return .player(.setGain(nil)) }
                return GainMode(rawValue: argument).map { .player(.setGain($0)) }
            },
            print: { if case .player(.setGain(let mode)) = $0 { mode?.rawValue ?? "" } else { nil } }
        ),
        CommandRow("reload", .player(.reload), "re-download this track"),
        CommandRow("status", .player(.status), "print state and position", reach: .lines),
        CommandRow(
            "time-left",
            .toggleRemainingTime,
            "elapsed/remaining time",
            reach: .keys,
            keys: [.character("t")]
        ),
        CommandRow("sound", .toggleSound, "spectrum and levels", reach: .screen, keys: [.character("v")]),
    ]

    private static let views: [CommandRow] = [
        CommandRow("next-view", .nextView(by: 1), "next view", reach: .screen, keys: [.tab]),
        CommandRow("previous-view", .nextView(by: -1), "previous view", reach: .screen, keys: [.backTab]),
        CommandRow(
            "view",
            "NAME",
            "open a view; Tab: names",
            reach: .screen,
            completion: .words(ViewName.allCases.map(\.rawValue)),
            usage: "one of " + ViewName.allCases.map(\.rawValue).joined(separator: ", "),
            keys: [
                .init([.character("1")], "queue", "queue"),
                .init([.character("2")], "current track", "playing"),
                .init([.character("3")], "cached tracks", "cache"),
                .init([.character("4")], "network requests", "network"),
                .init([.character("5")], "messages", "messages"),
                .init([.character("6")], "keys and commands", "help"),
            ],
            parse: { ViewName(rawValue: $0).map { .show($0) } },
            print: { if case .show(let view) = $0 { view.rawValue } else { nil } }
        ),
        CommandRow("help", .toggleHelp, "show or hide the keys", reach: .keys, keys: [.character("?")]),
        CommandRow("back", .back, "leave filter or view", reach: .screen, keys: [.escape]),
    ]

    private static let lists: [CommandRow] = [
        CommandRow("select-down", .selectBy(1), "next row", reach: .keys, keys: [.character("j"), .down]),
        CommandRow("select-up", .selectBy(-1), "previous row", reach: .keys, keys: [.character("k"), .up]),
        CommandRow(
            "page-down",
            .selectByPage(1),
            "page down",
            reach: .keys,
            keys: [.pageDown, .control("f")]
        ),
        CommandRow("page-up", .selectByPage(-1), "page up", reach: .keys, keys: [.pageUp, .control("b")]),
        CommandRow("select-first", .selectFirst, "first row", reach: .keys, keys: [.character("g"), .home]),
        CommandRow("select-last", .selectLast, "last row", reach: .keys, keys: [.character("G"), .end]),
        CommandRow(
            "select-current",
            .selectCurrent,
            "select the playing track",
            reach: .keys,
            keys: [.character("i")]
        ),
        CommandRow("play-selected", .playSelected, "play; in cache: add", reach: .keys, keys: [.enter]),
        CommandRow(
            "remove-selected",
            .removeSelected,
            "remove; in cache: delete",
            reach: .keys,
            keys: [.character("d"), .delete]
        ),
        // Not `p`, which pauses many players: pressing it by mistake must not fill the disk.
        CommandRow("pin-selected", .pinSelected, "pin or unpin", reach: .keys, keys: [.character("P")]),
    ]

    private static let queue: [CommandRow] = [
        CommandRow(
            "search",
            "TEXT",
            "select the next match",
            reach: .screen,
            usage: "a text",
            keys: [.init([.character("/")], "search")],
            parse: { .search($0.isEmpty ? nil : $0) },
            print: { if case .search(let text) = $0 { text ?? "" } else { nil } }
        ),
        CommandRow("search-next", .nextMatch(1), "next match", reach: .screen, keys: [.character("n")]),
        CommandRow(
            "search-previous",
            .nextMatch(-1),
            "previous match",
            reach: .screen,
            keys: [.character("N")]
        ),
        CommandRow(
            "filter",
            "TEXT",
            "show only matches",
            reach: .screen,
            usage: "a text",
            keys: [.init([.character("f")], "show only matches")],
            parse: { .filter($0.isEmpty ? nil : $0) },
            print: { if case .filter(let text) = $0 { text ?? "" } else { nil } }
        ),
        CommandRow("mark", .toggleMark, "mark for d, P, J and K", reach: .screen, keys: [.character("x")]),
        CommandRow("mark-all", .markAll, "mark all rows shown", reach: .screen, keys: [.character("*")]),
        CommandRow("unmark-all", .unmarkAll, "unmark all", reach: .screen, keys: [.character("X")]),
        CommandRow("move-down", .moveSelected(by: 1), "move down", reach: .keys, keys: [.character("J")]),
        CommandRow("move-up", .moveSelected(by: -1), "move up", reach: .keys, keys: [.character("K")]),
        CommandRow(
            "add",
            "SOURCE",
            "add a file, list or URL",
            completion: .path,
            usage: "a file or URL",
            parse: { $0.isEmpty ? nil : .player(.add($0)) },
            print: { if case .player(.add(let source)) = $0 { source } else { nil } }
        ),
        CommandRow(
            "remove",
            "3 5-7",
            "remove these tracks",
            usage: "numbers of tracks, from 1, as in 3 5-7",
            parse: { TrackNumbers(parsing: $0.split(separator: " ")).map { .player(.remove($0)) } },
            print: { if case .player(.remove(let tracks)) = $0 { tracks.text } else { nil } }
        ),
        CommandRow(
            "move",
            "5-7 1",
            "move to position 1",
            usage: "numbers of tracks and their new position, as in 5-7 1",
            parse: { argument in
                let words = argument.split(separator: " ")
                guard let numbers = TrackNumbers(parsing: words.dropLast()),
                    let target = words.last.flatMap({ Int($0) }), target >= 1
                else { return nil }
                return .player(.move(numbers, to: target))
            },
            print: { command in
                guard case .player(.move(let tracks, let target)) = command else { return nil }
                return "\(tracks.text) \(target)"
            }
        ),
        CommandRow(
            "pin",
            "N",
            "pin or unpin track N",
            usage: "the number of a track, from 1, or no argument for the current one",
            parse: { argument in
                if argument.isEmpty { return .player(.pin(nil)) }
                guard let number = Int(argument), number >= 1 else { return nil }
                return .player(.pin(number))
            },
            print: { command in
                guard case .player(.pin(let number)) = command else { return nil }
                return number.map { "\($0)" } ?? ""
            }
        ),
        CommandRow(
            "sort",
            "KEY",
            "sort by title; Tab: more",
            completion: .words(SortKey.allCases.map(\.rawValue)),
            usage: "title, artist, duration or source",
            parse: { SortKey(rawValue: $0).map { .player(.sort($0)) } },
            print: { if case .player(.sort(let key)) = $0 { key.rawValue } else { nil } }
        ),
        CommandRow(
            "save",
            "PATH",
            "write an M3U8 playlist",
            completion: .path,
            usage: "the path of the playlist to write",
            parse: { $0.isEmpty ? nil : .player(.save($0)) },
            print: { if case .player(.save(let path)) = $0 { path } else { nil } }
        ),
        CommandRow("clear", .player(.clear), "clear the queue", keys: [.character("C")]),
        CommandRow("undo", .player(.undo), "undo the last change", keys: [.character("u")]),
    ]

    private static let others: [CommandRow] = [
        CommandRow(
            "command",
            "TEXT",
            "open this line with TEXT",
            reach: .keys,
            usage: "the beginning of a command",
            keys: [
                .init([.character(":")], "type a command"), .init([.character("S")], "sort", "sort"),
                .init([.character("a")], "add a file or URL", "add"),
                .init([.character("w")], "save as a playlist", "save"),
            ],
            // With a blank, so that the argument can be typed at once.
            parse: { .openCommandLine($0.isEmpty ? "" : $0 + " ") },
            print: { command in
                guard case .openCommandLine(let text) = command else { return nil }
                return text.isEmpty ? "" : String(text.dropLast())
            }
        ),
        CommandRow("redraw", .redraw, "redraw the screen", reach: .screen, keys: [.control("l")]),
        CommandRow("quit", .player(.quit), "quit", keys: [.character("q")]),
    ]
}
