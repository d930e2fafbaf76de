import ArgumentParser
import Media

/// The command line that plays: every option of the contract that is built.
///
/// Values are taken as text and checked in `PlayText.options`, so that each refusal is one sentence of ours
/// and none quotes a header, which may be a secret.
struct PlayArguments: ParsableArguments {
    @Argument(
        help: "A file, folder, playlist or http(s) URL, or - for a playlist on standard input.",
        completion: .file()
    )
    var sources: [String] = []

    @Flag(help: "No screen: events on standard output, commands on standard input.")
    var headless = false

    @Flag(help: "No screen: one JSON object per line.")
    var json = false

    @Flag(help: "No screen: a sentence per event, and the screen's keys.")
    var plain = false

    @Option(help: "pulse (default), pulse:NAME, null (real time), null:fast, wav:PATH, raw:PATH or raw:-.")
    var sink = PlayText.standardSink

    @OptionGroup var folder: FolderArguments
    @OptionGroup var bounds: BoundsArguments

    @Flag(help: "Keep nothing.")
    var noCache = false

    @Flag(help: "Use no network: play what is kept.")
    var offline = false

    @Flag(help: "Ask servers whether what is kept is still current.")
    var refresh = false

    @Option(help: "How far to fetch ahead: a time (default 60), a size as 4MB, or all.")
    var readAhead: String?

    @Flag(help: "Fetch the rest of heard tracks when the line is idle.")
    var fill = false

    @Option(help: "Append what is requested and decided to a file, as JSON lines.", completion: .file())
    var journal: String?

    @Option(help: "0 to 100.")
    var volume: String?

    @Flag(inversion: .prefixedNo, help: "Play in random order, or not.")
    var shuffle: Bool?

    @Option(name: .customLong("repeat"), help: "off (default), one or all.")
    var repeatMode: String?

    @Option(help: "Make music equally loud by what it says of itself: off (default), track or album.")
    var gain: String?

    @Flag(help: "Take up nothing that the last session left: queue, positions, volume, modes.")
    var fresh = false

    @Flag(help: "Leave the mouse to the terminal.")
    var noMouse = false

    @Option(help: "The number of the first track to play, from 1.")
    var start: String?

    @Option(help: "Where the first track begins, as S, M:SS or H:MM:SS.")
    var seek: String?

    @OptionGroup var network: NetworkArguments

    @Flag(help: "Show the version.")
    var version = false

    /// What was typed.
    var text: PlayText {
        PlayText(
            sources: sources,
            headless: headless,
            json: json,
            plain: plain,
            sink: sink,
            folder: folder.text,
            bounds: bounds.text,
            noCache: noCache,
            offline: offline,
            refresh: refresh,
            readAhead: readAhead,
            fill: fill,
            journal: journal,
            volume: volume,
            shuffle: shuffle,
            repeatMode: repeatMode,
            gain: gain,
            fresh: fresh,
            noMouse: noMouse,
            start: start,
            seek: seek,
            network: network.text,
            version: version
        )
    }
}

/// The command that help and completions are made of.
struct PlayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reprise",
        abstract: "Plays music that lives on the web, and fetches no byte of it twice.",
        discussion: """
            reprise cache COMMAND   what is kept: list, check, drop, pin, fetch.
            reprise config          every setting, what holds, and where it is from.
            A file that is called cache or config is played as ./cache or ./config.
            """
    )

    @OptionGroup var arguments: PlayArguments

    /// What `line` says by its declarations; nil where it asks for help or completions. Throws what ArgumentParser
    /// has to say, which may be a text to show.
    static func text(of line: [String]) throws -> PlayText? {
        (try parseAsRoot(line) as? PlayCommand)?.arguments.text
    }
}
