import Media
import Output

extension PlayText {
    /// The options, typed and checked. Reads the files of `--header @FILE` and `--cache-secret`, sees whether
    /// that of `--cacert` can be read, and touches nothing else.
    func options(defaultCacheFolder: () -> String?) throws(UsageError) -> Options {
        var options = Options()
        options.sources = sources
        options.headless = headless
        options.json = json
        options.plain = plain
        options.noCache = noCache
        options.offline = offline
        options.refresh = refresh
        options.shuffle = shuffle
        options.fresh = fresh
        options.noMouse = noMouse
        try CheckedValue.check(!(json && plain), "--json and --plain exclude each other")
        try CheckedValue.check(!(offline && refresh), "--refresh needs the network that --offline forbids")
        try CheckedValue.check(
            sources.allSatisfy { !$0.isEmpty },
            "a source is empty: give a file, folder or URL"
        )
        try CheckedValue.check(sources.count { $0 == "-" } <= 1, "standard input, -, can be read only once")
        options.sink = try CheckedValue.value(SinkKind(sink), "--sink: \(SinkKind.refusal(of: sink))")
        options.keeping = try folder.options(defaultCacheFolder: defaultCacheFolder)
        try bounds.apply(to: &options.keeping)
        options.network = try network.options()
        if let readAhead {
            options.readAhead = try CheckedValue.value(
                Self.readAhead(readAhead),
                "--read-ahead takes a time as 90 or 1:30, a size as 4MB, or all"
            )
        }
        options.fill = fill
        try CheckedValue.check(!(fill && offline), "--fill needs the network that --offline forbids")
        try CheckedValue.check(!(fill && noCache), "--fill keeps what --no-cache forbids to keep")
        options.journalFile = try journal.map { path throws(UsageError) in
            try CheckedValue.text(path, "--journal needs a file")
        }
        if let volume {
            options.volume = try CheckedValue.number(volume, in: 0...100, "--volume takes 0 to 100")
        }
        if let repeatMode {
            options.repeatMode = try CheckedValue.value(
                RepeatMode(rawValue: repeatMode),
                "--repeat takes off, one or all"
            )
        }
        if let gain {
            options.gain = try CheckedValue.value(
                GainMode(rawValue: gain),
                "--gain takes off, track or album"
            )
        }
        if let start {
            options.start = try CheckedValue.number(
                start,
                in: 1...Int(Int32.max),
                "--start takes the number of a track, from 1"
            )
        }
        if let seek {
            options.seek = try CheckedValue.value(
                Duration(clockTime: seek),
                "--seek takes a time as S, M:SS or H:MM:SS"
            )
        }
        return options
    }

    /// A number alone is a time; a size needs its unit.
    private static func readAhead(_ text: String) -> Options.ReadAhead? {
        if text == "all" { return .all }
        let time = text.hasSuffix("s") ? text.dropLast() : text[...]
        if let time = Duration(clockTime: time) { return .time(time) }
        return ByteSize.parse(text).map { .size($0) }
    }
}
