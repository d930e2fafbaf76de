import ArgumentParser
import Loading
import Media
import Output
import TerminalUI

/// The command line that plays. Each option is declared once, here or in one of the groups.
///
/// The help, the completions, the settings of the configuration file, `reprise config` and the manual page
/// are derived from the declarations. A default that is not the initial value of the property is written at
/// the end of the help text: `(default: 60)`.
struct Options: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "reprise",
        // With a super-command, ArgumentParser accepts no request for completions, so it does not parse the
        // arguments twice more to look for one. That saves a twentieth of a start's instructions. `usage`
        // hides the empty name.
        _superCommandName: "",
        abstract: "Plays music from the web, and downloads no byte of it twice.",
        usage: "reprise [<options>] [<source> ...]",
        discussion: """
            reprise cache COMMAND   list, check, download, pin, export or delete cached music.
            reprise config          list every setting, its value and where the value comes from.
            reprise remote COMMAND  control the player that runs, or show its events.
            To play a file named cache, config or remote, write ./cache, ./config or ./remote.
            """,
        version: "reprise \(Invocation.version)"
    )

    @Argument(
        help: ArgumentHelp(
            "A file, folder, playlist or http(s) URL; - reads a playlist from standard input.",
            valueName: "source"
        ),
        completion: .file()
    )
    var sources: [String] = []

    @Flag(help: "No screen: events on standard output, commands from standard input.")
    var headless = false

    @Flag(help: "No screen: one JSON object per event.")
    var json = false

    @Flag(
        help: ArgumentHelp(
            "No screen: one sentence per event, and the screen's keys.",
            discussion: "Meant for screen readers; also used if the terminal can't place a cursor."
        )
    )
    var plain = false

    @Option(
        name: .customLong("sink"),
        help: ArgumentHelp(
            "pulse, pulse:NAME, null (real time), null:fast, wav:PATH, raw:PATH or raw:-. (default: pulse)",
            discussion: """
                With raw:- the samples go to standard output and the events to standard error. %n in PATH makes one \
                file per track; without it, a track of another rate or number of channels fails. A file that exists \
                is not replaced, unless it is empty.
                """,
            valueName: "kind"
        ),
        transform: { try OptionValue.accepted(SinkKind($0), SinkKind.refusal(of: $0).string) }
    )
    var chosenSink: SinkKind?

    @Option(
        help: ArgumentHelp(
            "The samples that wav: and raw: write: s16, s24, s32 or f32. (default: s16)",
            discussion: "Little-endian. Other samples are rounded to them and clipped, without dither.",
            valueName: "format"
        ),
        completion: .list(SinkSample.allCases.map(\.rawValue)),
        transform: { try OptionValue.accepted(SinkSample(rawValue: $0), "use s16, s24, s32 or f32") }
    )
    var sinkFormat: SinkSample?

    @OptionGroup var cache: CacheLocationOptions
    @OptionGroup var bounds: CacheBoundsOptions

    @Flag(help: "Cache nothing.")
    var noCache = false

    @Flag(help: "Use no network: play only what is cached.")
    var offline = false

    @Flag(help: "Ask servers whether cached music is still current.")
    var refresh = false

    @Option(
        help: ArgumentHelp(
            "How far ahead to download: a time as 90 or 1:30, a size as 4MB, or all. (default: 60)",
            discussion: "With a time, at least 1 MiB.",
            valueName: "time|size|all"
        ),
        transform: {
            try OptionValue.accepted(
                LoadSettings.ReadAhead(argument: $0),
                "use a time as 90 or 1:30, a size as 4MB, or all"
            )
        }
    )
    var readAhead: LoadSettings.ReadAhead?

    @Flag(help: "While the network is idle, download the rest of each track that was played.")
    var fill = false

    @Option(
        help: ArgumentHelp(
            "Download what plays next: for a time as 2h, 12t (tracks), all or off. (default: off)",
            discussion: """
                Whole tracks after the current one, in playing order, while nothing else needs the connection. Evicts \
                nothing that was played in the last 7 days, and stops when no more fits.
                """,
            valueName: "time|tracks|all"
        ),
        transform: { try AheadChoice($0) }
    )
    var ahead: AheadChoice?

    @Option(
        help: ArgumentHelp("Append one JSON line per request and decision to a file.", valueName: "file"),
        completion: .file(),
        transform: { try OptionValue.text($0, "name a file") }
    )
    var journal: String?

    @Option(
        help: ArgumentHelp("0 to 100. (default: as last time, at first 100)", valueName: "percent"),
        transform: { try OptionValue.number($0, in: 0...100, "use 0 to 100") }
    )
    var volume: Int?

    @Flag(
        inversion: .prefixedNo,
        exclusivity: .chooseLast,
        help: "Turn random order on or off. (default: as last time)"
    )
    var shuffle: Bool?

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp("off, one or all. (default: as last time, at first off)", valueName: "mode"),
        completion: .list(RepeatMode.allCases.map(\.rawValue)),
        transform: { try OptionValue.accepted(RepeatMode(rawValue: $0), "use off, one or all") }
    )
    var repeatMode: RepeatMode?

    @Option(
        help: ArgumentHelp(
            "Even out loudness (ReplayGain): off, track or album. (default: as last time, at first off)",
            discussion: """
                Uses ReplayGain in ID3 and APE tags, RVA2 and LAME's header, and never clips. With off, no sample is \
                changed.
                """,
            valueName: "mode"
        ),
        completion: .list(GainMode.allCases.map(\.rawValue)),
        transform: { try OptionValue.accepted(GainMode(rawValue: $0), "use off, track or album") }
    )
    var gain: GainMode?

    @Option(
        help: ArgumentHelp(
            "The encoding of titles that are not UTF-8, as windows-1251 or gbk. (default: windows-1252)",
            discussion: """
                Helps with stations, tags and lists in Russian, Greek, Chinese, Japanese or Korean. By default, titles \
                that can only be Cyrillic are read as windows-1251.
                """,
            valueName: "encoding"
        ),
        transform: {
            try OptionValue.accepted(
                TextEncoding($0),
                "use an encoding as windows-1251, koi8-r, gbk, big5, shift_jis or euc-kr"
            )
        }
    )
    var charset: TextEncoding?

    @Flag(help: "Start fresh, ignore the last session: its queue, positions, volume and modes.")
    var fresh = false

    @Flag(help: "Don't capture the mouse.")
    var noMouse = false

    @Option(
        help: ArgumentHelp(
            "auto, dark, light, mono, midnight, ember, paper, or a file of yours. (default: auto)",
            discussion: """
                dark and light have the background of the terminal, which auto asks for its color; mono has no \
                colors. midnight, ember (dark) and paper (light) have their own background, with 256 colors or \
                more. Your own themes are NAME.toml in $XDG_CONFIG_HOME/reprise/themes.
                """,
            valueName: "theme"
        ),
        completion: .list(ThemeFiles.names),
        transform: { try ThemeFiles.theme(named: $0) }
    )
    var theme: Theme?

    @Flag(
        inversion: .prefixedNo,
        exclusivity: .chooseLast,
        help: ArgumentHelp(
            "Let media keys and other programs control the player. (default: with a screen and sound)",
            discussion: "By MPRIS, on the session's D-Bus; needs libsystemd."
        )
    )
    var mpris: Bool?

    @Flag(
        inversion: .prefixedNo,
        exclusivity: .chooseLast,
        help: ArgumentHelp(
            "Let reprise remote and other programs control the player. (default: with a screen)",
            discussion: "By a socket below $XDG_RUNTIME_DIR, which no other user can reach."
        )
    )
    var socket: Bool?

    @OptionGroup var power: PowerOptions

    @Option(
        help: ArgumentHelp(
            "visible: read the tags of shown tracks; played: when they play. (default: visible)",
            discussion: """
                Concerns the folders of web servers that a SOURCE names. At most 64 KiB of each file are read, \
                once, while nothing else needs the connection.
                """,
            valueName: "which"
        ),
        completion: .list(TagReading.allCases.map(\.rawValue)),
        transform: { try OptionValue.accepted(TagReading(rawValue: $0), "use visible or played") }
    )
    var tags: TagReading?

    @Option(
        help: ArgumentHelp(
            "cached: draw the loudness of all cached music; played: of played music. (default: cached)",
            discussion: """
                Cached music that was not played yet is decoded in the background while music plays, for the \
                current and the next track, with at most 1 % of a processor core.
                """,
            valueName: "which"
        ),
        completion: .list(WaveformChoice.allCases.map(\.rawValue)),
        transform: { try OptionValue.accepted(WaveformChoice(rawValue: $0), "use cached or played") }
    )
    var waveform: WaveformChoice?

    @Option(
        help: ArgumentHelp("The first track to play, counted from 1.", valueName: "number"),
        transform: { try OptionValue.number($0, in: 1...Int(Int32.max), "use a number from 1 on") }
    )
    var start: Int?

    @Option(
        name: .customLong("seek"),
        help: ArgumentHelp(
            "Where to begin the first track, as 90, 1:30, 1:30:00, 30m or 2h.",
            valueName: "time"
        ),
        transform: { try OptionValue.accepted(Duration(clockTime: $0), "use 90, 1:30, 1:30:00, 30m or 2h") }
    )
    var seekTarget: Duration?

    @OptionGroup var network: NetworkOptions

    func validate() throws {
        try SourceList.check(sources)
        try UsageError.check(!(json && plain), "--json and --plain exclude each other")
        try UsageError.check(!(offline && refresh), "--refresh needs the network that --offline forbids")
        try UsageError.check(!(fill && offline), "--fill needs the network that --offline forbids")
        try UsageError.check(!(fill && noCache), "--fill needs the cache that --no-cache forbids")
        let isAhead = ahead?.goal != nil
        try UsageError.check(!(isAhead && offline), "--ahead needs the network that --offline forbids")
        try UsageError.check(!(isAhead && noCache), "--ahead needs the cache that --no-cache forbids")
    }
}

extension Options {
    /// The options that the configuration file may set. Options for a single session (`--start`, `--offline`,
    /// …) are not settings, nor are options that only tests need.
    static let settings =
        [
            Setting("play", "--sink"), Setting("play", "--sink-format"), Setting("play", "--volume"),
            Setting("play", "--shuffle", .toggle),
            Setting("play", "--repeat"), Setting("play", "--gain"), Setting("play", "--charset"),
            Setting("play", "--mpris", .toggle), Setting("play", "--socket", .toggle),
        ] + PowerOptions.settings + [
            Setting("network", "--read-ahead"), Setting("network", "--fill", .flag),
            Setting("network", "--ahead"),
            Setting("network", "--journal"),
        ] + NetworkOptions.settings + CacheLocationOptions.settings + CacheBoundsOptions.settings + [
            Setting("cache", "--no-cache", .flag, name: "off"), Setting("screen", "--no-mouse", .flag),
            Setting("screen", "--theme"), Setting("screen", "--tags"), Setting("screen", "--waveform"),
        ]

    var sink: SinkKind { chosenSink ?? .pulse(sink: nil) }

    /// The position at which the first track begins.
    var seek: Duration { seekTarget ?? .zero }

    /// `true` if the tags of shown tracks are read from their servers.
    func readsShownTags(_ presentation: Presentation) -> Bool {
        presentation == .screen && !offline && !noCache && (tags ?? .visible) == .visible
    }

    /// `true` if standard input carries a playlist, and so no commands.
    var readsListFromInput: Bool { sources.contains("-") }

    /// `true` if standard output carries samples, so that events go to standard error.
    var writesSamplesToOutput: Bool { sink == .rawStandardOutput }
}

/// The tracks whose tags are read from their servers.
enum TagReading: String, Sendable, CaseIterable {
    /// Those that the screen shows.
    case visible
    case played
}

/// The music of which the bar is a waveform.
enum WaveformChoice: String, Sendable, CaseIterable {
    case cached
    case played
}

/// The value of `--ahead`.
struct AheadChoice: Sendable, Equatable {
    /// `nil` for `off`.
    let goal: AheadGoal?

    init(_ text: String) throws(UsageError) {
        goal = text == "off" ? nil : try OptionValue.accepted(AheadGoal(text), Self.refusal)
    }

    static let refusal = "use a time as 30m or 2h, tracks as 12t, all or off"
}

extension LoadSettings.ReadAhead {
    /// Parses the value of `--read-ahead`: a bare number is a time, a size needs its unit.
    fileprivate init?(argument: String) {
        if argument == "all" {
            self = .all
        } else if let time = Duration(clockTime: argument) {
            self = .time(time)
        } else if let size = ByteSize.parse(argument) {
            self = .size(size)
        } else {
            return nil
        }
    }
}

/// The SOURCE arguments of a command.
enum SourceList {
    /// Refuses an empty source, and standard input named twice.
    static func check(_ sources: [String]) throws(UsageError) {
        try UsageError.check(!sources.contains(""), "a source is empty: give a file, folder or URL")
        try UsageError.check(sources.count { $0 == "-" } <= 1, "standard input, -, can be read only once")
    }
}
