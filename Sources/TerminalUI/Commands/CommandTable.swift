internal import Media

/// All commands, in the order of the manual.
///
/// The keys, the `:` line, standard input, completion and the help are all generated from these rows.
package enum CommandTable {
    /// The groups of the help.
    static let groups: [(name: SafeText, rows: [CommandRow])] = [
        ("Play", playing), ("Move", moving), ("Queue", queue), ("View", views),
    ]
    package static let rows = groups.flatMap(\.rows)

    private static let byName = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0) })

    static func row(named name: String) -> CommandRow? { byName[name] }

    private static let playing: [CommandRow] = [
        CommandRow("play", .player(.play), "play"),
        CommandRow("pause", .player(.pause), "pause"),
        CommandRow("toggle", .player(.toggle), "play/pause", keys: [" "]),
        CommandRow(
            "stop",
            "WHEN",
            "stop playing; Tab: more",
            completion: .words(["reading", "after track", "after album", "after off"]),
            usage: "reading, after track, after album, after off or no argument"
        ) { argument in
            switch argument.split(separator: " ").joined(separator: " ") {
            case "": .player(.stop)
            case "reading": .player(.stopReading)
            case "after track": .player(.stopAfter(.track))
            case "after album": .player(.stopAfter(.album))
            case "after off": .player(.stopAfter(nil))
            default: nil
            }
        },
        CommandRow(
            "sleep",
            "TIME",
            "fade out, then pause",
            completion: .words(["30m", "end", "album", "off"]),
            usage: "a time as 30m or 1:30:00, end (of the track), album or off"
        ) { $0 == "off" ? .player(.sleep(nil)) : SleepGoal($0).map { .player(.sleep($0)) } },
        CommandRow("next", .player(.next), "next track", keys: [">"]),
        CommandRow("previous", .player(.previous), "previous track", keys: ["<"]),
        CommandRow("jump", "N", "play track N", usage: "the number of a track, from 1") {
            trackNumber($0).map { .player(.jump($0)) }
        },
        CommandRow(
            "seek",
            "M:SS",
            "seek; also 50% or +10",
            usage: "a time as 90, 1:30, 1:30:00, 30m or 2h, also after + or -, or N%",
            keys: [
                .init([.right], "forward 5 s", "+5"), .init([.left], "back 5 s", "-5"),
                .init(["."], "forward 1 min", "+60"), .init([","], "back 1 min", "-60"),
            ]
        ) { SeekTarget(parsing: $0).map { .player(.seek($0)) } },
        CommandRow(
            "chapter",
            "N",
            "seek to chapter N",
            completion: .words(["next", "previous"]),
            usage: "next, previous or the number of a chapter, from 1",
            keys: [
                .init(["}"], "next chapter", "next"), .init(["{"], "previous chapter", "previous"),
            ]
        ) { ChapterTarget(parsing: $0).map { .player(.chapter($0)) } },
        CommandRow(
            "volume",
            "N",
            "0 to 100; also +5, -5",
            usage: "0 to 100, +N or -N",
            keys: [.init(["+", "="], "volume up", "+5"), .init(["-"], "volume down", "-5")]
        ) { argument in
            guard let number = Int(argument), (-100...100).contains(number) else { return nil }
            let isChange = argument.hasPrefix("+") || argument.hasPrefix("-")
            return .player(isChange ? .changeVolume(by: number) : .volume(number))
        },
        CommandRow("mute", .player(.mute), "mute or unmute", keys: ["m"]),
        CommandRow(
            "device",
            "NAME",
            "choose where sound goes",
            completion: .device,
            usage: "the name of a sound device, default or no argument"
        ) { .player($0.isEmpty ? .listDevices : .setDevice($0 == "default" ? nil : $0)) },
        CommandRow(
            "shuffle",
            "MODE",
            "on, off, now (once)",
            completion: .words(["on", "off", "now"]),
            usage: "on, off, now, which reorders the queue itself, or no argument",
            keys: [.init(["s"], "shuffle on or off"), .init(["Z"], "shuffle the queue once", "now")]
        ) { argument in
            switch argument {
            case "": .player(.setShuffle(nil))
            case "on", "off": .player(.setShuffle(argument == "on"))
            case "now": .player(.shuffleNow)
            default: nil
            }
        },
        CommandRow(
            "repeat",
            "MODE",
            "off, one, all",
            completion: .words(RepeatMode.allCases.map(\.rawValue)),
            usage: "off, one or all",
            keys: [.init(["r"], "repeat: off, all, one")]
        ) {
            $0.isEmpty ? .player(.setRepeat(nil)) : RepeatMode(rawValue: $0).map { .player(.setRepeat($0)) }
        },
        CommandRow(
            "gain",
            "MODE",
            "off, track, album",
            completion: .words(GainMode.allCases.map(\.rawValue)),
            usage: "off, track or album",
            keys: [.init(["R"], "gain: off, track, album")]
        ) { $0.isEmpty ? .player(.setGain(nil)) : GainMode(rawValue: $0).map { .player(.setGain($0)) } },
        CommandRow("reload", .player(.reload), "re-download if changed"),
        CommandRow("status", .player(.status), "print state and position", reach: .lines),
        CommandRow("list", .player(.list), "print the tracks of the queue", reach: .lines),
    ]

    private static let moving =
        ([
            ("select-down", .selectBy(1), "next row", ["j", .down]),
            ("select-up", .selectBy(-1), "previous row", ["k", .up]),
            ("page-down", .selectByPage(1), "page down", [.pageDown, .control("f")]),
            ("page-up", .selectByPage(-1), "page up", [.pageUp, .control("b")]),
            ("select-first", .selectFirst, "first row", ["g", .home]),
            ("select-last", .selectLast, "last row", ["G", .end]),
            ("select-current", .selectCurrent, "select the playing track", ["i"]),
        ] as [(String, UICommand, SafeText, [Key])]).map { CommandRow($0, $1, $2, reach: .keys, keys: $3) }
        + finding

    private static let finding: [CommandRow] = [
        CommandRow(
            "search",
            "TEXT",
            "select the next match",
            reach: .screen,
            usage: "a text",
            keys: [.init(["/"], "search")]
        ) { .search($0.isEmpty ? nil : $0) },
        CommandRow("search-next", .nextMatch(1), "next match", reach: .screen, keys: ["n"]),
        CommandRow("search-previous", .nextMatch(-1), "previous match", reach: .screen, keys: ["N"]),
        CommandRow(
            "filter",
            "TEXT",
            "show only matches",
            reach: .screen,
            usage: "a text",
            keys: [.init(["f"], "show only matches")]
        ) { .filter($0.isEmpty ? nil : $0) },
    ]

    private static let queue =
        ([
            ("play-selected", .playSelected, "play; in cache: add", [.enter]),
            ("remove-selected", .removeSelected, "remove; in cache: delete", ["d", .delete]),
            // Not `p`, which pauses in many players: pressing it by mistake must not fill the disk.
            ("pin-selected", .pinSelected, "pin and download; unpin", ["P"]),
            ("download-selected", .downloadSelected, "download; pause it", ["D"]),
            ("played-selected", .playedSelected, "episode: played or not", ["e"]),
            ("play-next-selected", .playNextSelected(after: .track), "play next", ["E"]),
            (
                "play-later-selected", .playNextSelected(after: .album), "play after this album",
                [.control("e")]
            ),
        ] as [(String, UICommand, SafeText, [Key])]).map { CommandRow($0, $1, $2, reach: .keys, keys: $3) }
        + changing

    private static let changing: [CommandRow] = [
        CommandRow("mark", .toggleMark, "mark for d, P, E, J, K", reach: .screen, keys: ["x"]),
        CommandRow("mark-all", .markAll, "mark all rows shown", reach: .screen, keys: ["*"]),
        CommandRow("unmark-all", .unmarkAll, "unmark all", reach: .screen, keys: ["X"]),
        CommandRow("fold", .toggleFold, "fold or unfold a group", reach: .screen, keys: ["z"]),
        CommandRow("move-down", .moveSelected(by: 1), "move down", reach: .keys, keys: ["J"]),
        CommandRow("move-up", .moveSelected(by: -1), "move up", reach: .keys, keys: ["K"]),
        CommandRow("add", "SOURCE", "add a file, list or URL", completion: .path, usage: "a file or URL") {
            $0.isEmpty ? nil : .player(.add($0))
        },
        CommandRow(
            "remove",
            "3 5-7",
            "remove these tracks",
            usage: "numbers of tracks, from 1, as in 3 5-7"
        ) { TrackNumbers(parsing: $0.split(separator: " ")).map { .player(.remove($0)) } },
        CommandRow(
            "move",
            "5-7 1",
            "move to position 1",
            usage: "numbers of tracks and their new position, as in 5-7 1"
        ) { argument in
            let words = argument.split(separator: " ")
            guard let numbers = TrackNumbers(parsing: words.dropLast()),
                let target = words.last.flatMap({ trackNumber(String($0)) })
            else { return nil }
            return .player(.move(numbers, to: target))
        },
        CommandRow(
            "play-next",
            "N",
            "play track N next",
            usage: "numbers of tracks, from 1, as in 3 5-7"
        ) { playNext(.track, $0) },
        CommandRow(
            "play-later",
            "N",
            "play N after this album",
            usage: "numbers of tracks, from 1, as in 3 5-7"
        ) { playNext(.album, $0) },
        CommandRow(
            "pin",
            "N",
            "pin or unpin track N",
            usage: "the number of a track, from 1, or no argument for the current one"
        ) { $0.isEmpty ? .player(.pin(nil)) : trackNumber($0).map { .player(.pin($0)) } },
        CommandRow(
            "download",
            "N",
            "download track N",
            completion: .words(DownloadChange.allCases.map(\.rawValue)),
            usage: "numbers of tracks, also after pause, continue, retry or cancel"
        ) { download($0) },
        CommandRow(
            "ahead",
            "TIME",
            "download what plays next",
            completion: .words(["30m", "2h", "12t", "all", "off"]),
            usage: "a time as 30m or 2h, a number of tracks as 12t, all or off"
        ) { $0 == "off" ? .player(.setAhead(nil)) : AheadGoal($0).map { .player(.setAhead($0)) } },
        CommandRow(
            "played",
            "N",
            "mark episode as played",
            usage: "numbers of tracks, as in 3 5-7, or nothing for this track"
        ) { setPlayed(true, $0) },
        CommandRow(
            "unplayed",
            "N",
            "mark as not played",
            usage: "numbers of tracks, as in 3 5-7, or nothing for this track"
        ) { setPlayed(false, $0) },
        CommandRow(
            "sort",
            "KEY",
            "sort by title; Tab: more",
            completion: .words(SortKey.allCases.map(\.rawValue)),
            usage: "a key: title, artist, album and so on (Tab lists them)"
        ) { SortKey(rawValue: $0).map { .player(.sort($0)) } },
        CommandRow(
            "save",
            "PATH",
            "write an M3U8 playlist",
            completion: .path,
            usage: "the path of the playlist to write"
        ) { $0.isEmpty ? nil : .player(.save($0)) },
        CommandRow(
            "clear",
            "others",
            "clear the queue",
            completion: .words(["others"]),
            usage: "others, which keeps the playing track, or no argument",
            keys: [.init(["C"], "clear all but this track", "others")]
        ) { $0.isEmpty ? .player(.clear) : $0 == "others" ? .player(.clearOthers) : nil },
        CommandRow("undo", .player(.undo), "undo the last change", keys: ["u"]),
    ]

    private static let views: [CommandRow] = [
        CommandRow("next-view", .nextView(by: 1), "next view", reach: .screen, keys: [.tab]),
        CommandRow("previous-view", .nextView(by: -1), "previous view", reach: .screen, keys: [.backTab]),
        CommandRow(
            "view",
            "NAME",
            "open a view; Tab: names",
            reach: .screen,
            completion: .words(ViewName.allCases.map(\.word)),
            usage: "a view: queue, playing, cache and so on (Tab lists them)",
            keys: ViewName.allCases.filter(\.hasTab).map {
                .init([.character(Character("\($0.number)"))], $0.help, $0.word)
            }
        ) { word in ViewName.allCases.first { $0.word == word }.map { .show($0) } },
        CommandRow("time-left", .toggleRemainingTime, "elapsed/remaining time", reach: .keys, keys: ["t"]),
        CommandRow("sound", .toggleSound, "spectrum", reach: .screen, keys: ["v"]),
        CommandRow("levels", .toggleLevels, "levels of the channels", reach: .screen, keys: ["V"]),
        CommandRow(
            "theme",
            "NAME",
            "the colors; Tab: names",
            reach: .screen,
            completion: .theme,
            usage: "the name of a theme"
        ) { .theme($0.isEmpty ? nil : $0) },
        CommandRow("downloads", .show(.downloads), "open the downloads", reach: .screen),
        CommandRow("facts", .showFacts, "all about the row", reach: .screen, keys: ["I"]),
        CommandRow("help", .toggleHelp, "show or hide the keys", reach: .keys, keys: ["?"]),
        CommandRow("back", .back, "leave view, stop reading", reach: .screen, keys: [.escape]),
        CommandRow(
            "command",
            "TEXT",
            "open this line with TEXT",
            reach: .keys,
            usage: "the beginning of a command",
            keys: [
                .init([":"], "type a command"), .init(["S"], "sort", "sort"),
                .init(["a"], "add a file or URL", "add"), .init(["w"], "save as a playlist", "save"),
            ]
            // With a blank, so that the argument can be typed at once.
        ) { .openCommandLine($0.isEmpty ? "" : $0 + " ") },
        CommandRow("redraw", .redraw, "redraw the screen", reach: .screen, keys: [.control("l")]),
        CommandRow("close-or-quit", .closeOrQuit, "quit; in Help: close", reach: .keys, keys: ["q"]),
        CommandRow("quit", .player(.quit), "quit"),
    ]

    private static func setPlayed(_ isPlayed: Bool, _ argument: String) -> UICommand? {
        guard !argument.isEmpty else { return .player(.setPlayed(isPlayed, nil)) }
        let numbers = TrackNumbers(parsing: argument.split(separator: " "))
        return numbers.map { .player(.setPlayed(isPlayed, $0)) }
    }

    /// Without numbers the current track is downloaded, or all downloads are changed.
    private static func download(_ argument: String) -> UICommand? {
        guard !argument.isEmpty else { return .player(.download(nil)) }
        let words = argument.split(separator: " ")
        guard let change = DownloadChange(rawValue: String(words[0])) else {
            return TrackNumbers(parsing: words).map { .player(.download($0)) }
        }
        guard words.count > 1 else { return .player(.changeDownloads(change, .all)) }
        let numbers = TrackNumbers(parsing: words.dropFirst())
        return numbers.map { .player(.changeDownloads(change, .numbers($0))) }
    }

    private static func playNext(_ point: PlayPoint, _ argument: String) -> UICommand? {
        let numbers = TrackNumbers(parsing: argument.split(separator: " "))
        return numbers.map { .player(.playNext($0, after: point)) }
    }

    private static func trackNumber(_ text: String) -> Int? {
        Int(text).flatMap { $0 >= 1 ? $0 : nil }
    }
}
