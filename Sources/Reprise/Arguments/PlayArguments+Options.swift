import Media
import Output

extension PlayArguments {
    /// The options, typed and checked. Reads the files of `--header @FILE`, sees whether that of
    /// `--cacert` can be read, and touches nothing else.
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
        try Self.check(!(json && plain), "--json and --plain exclude each other")
        try Self.check(!(offline && refresh), "--refresh needs the network that --offline forbids")
        try Self.check(sources.allSatisfy { !$0.isEmpty }, "a source is empty: give a file, folder or URL")
        try Self.check(sources.count { $0 == "-" } <= 1, "standard input, -, can be read only once")
        options.sink = try Self.value(SinkKind(sink), "--sink: \(SinkKind.refusal(of: sink))")
        if let cacheDir {
            options.cacheFolder = try Self.text(cacheDir, "--cache-dir needs a folder")
        } else {
            options.cacheFolder = defaultCacheFolder()
        }
        if let cacheSize {
            options.cacheSize = try Self.value(
                ByteSize.parse(cacheSize),
                "--cache-size takes a size, as 500M or 10GB"
            )
        }
        if let cacheAge {
            let days = try Self.number(cacheAge, in: 1...36_500, "--cache-age takes a number of days, from 1")
            options.cacheAge = .seconds(days * 86_400)
        }
        if let readAhead {
            options.readAhead = try Self.value(
                Self.readAhead(readAhead),
                "--read-ahead takes a time as 90 or 1:30, a size as 4MB, or all"
            )
        }
        options.fill = fill
        try Self.check(!(fill && offline), "--fill needs the network that --offline forbids")
        try Self.check(!(fill && noCache), "--fill keeps what --no-cache forbids to keep")
        options.journalFile = try journal.map { path throws(UsageError) in
            try Self.text(path, "--journal needs a file")
        }
        if let volume {
            options.volume = try Self.number(volume, in: 0...100, "--volume takes 0 to 100")
        }
        if let repeatMode {
            options.repeatMode = try Self.value(
                RepeatMode(rawValue: repeatMode),
                "--repeat takes off, one or all"
            )
        }
        if let start {
            options.start = try Self.number(
                start,
                in: 1...Int(Int32.max),
                "--start takes the number of a track, from 1"
            )
        }
        if let seek {
            options.seek = try Self.value(
                Duration(clockTime: seek),
                "--seek takes a time as S, M:SS or H:MM:SS"
            )
        }
        options.userAgent = try userAgent.map { text throws(UsageError) in
            try Self.check(
                !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F },
                "--user-agent takes one line of text"
            )
            return text
        }
        options.cacertFile = try cacert.map { file throws(UsageError) in
            try Self.certificates(try Self.text(file, "--cacert needs a file"))
        }
        for argument in headers { options.headers += try Self.headers(argument) }
        return options
    }

    /// `path`, refused where no file can be read: else every server would be, much later.
    private static func certificates(_ path: String) throws(UsageError) -> String {
        do {
            try TextFile.check(path)
        } catch {
            throw UsageError("--cacert \(error)")
        }
        return path
    }

    private static func headers(_ argument: String) throws(UsageError) -> [RequestHeader] {
        guard argument.first == "@" else {
            return [
                try value(
                    RequestHeader(parsing: argument),
                    "--header takes 'Name: value' or @FILE, and no field like Range that is the player's own"
                )
            ]
        }
        let path = try text(String(argument.dropFirst()), "--header @ needs a file after it")
        let content: String
        do {
            content = try TextFile.read(path)
        } catch {
            throw UsageError("--header @\(error)")
        }
        switch RequestHeader.parse(file: content) {
        case .success(let headers): return headers
        case .failure(let line):
            throw UsageError("--header @\(path): line \(line.number) is not 'Name: value'")
        }
    }

    /// A number alone is a time; a size needs its unit.
    private static func readAhead(_ text: String) -> Options.ReadAhead? {
        if text == "all" { return .all }
        let time = text.hasSuffix("s") ? text.dropLast() : text[...]
        if let time = Duration(clockTime: time) { return .time(time) }
        return ByteSize.parse(text).map { .size($0) }
    }

    private static func check(_ isGiven: Bool, _ refusal: String) throws(UsageError) {
        guard isGiven else { throw UsageError(refusal) }
    }

    private static func value<Value>(_ value: Value?, _ refusal: String) throws(UsageError) -> Value {
        guard let value else { throw UsageError(refusal) }
        return value
    }

    private static func number(
        _ text: String,
        in range: ClosedRange<Int>,
        _ refusal: String
    ) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else { throw UsageError(refusal) }
        return number
    }

    private static func text(_ text: String, _ refusal: String) throws(UsageError) -> String {
        try check(!text.isEmpty, refusal)
        return text
    }
}
