@testable import Cache
import HTTP
import Loading
import Media
import Output
import Playback
import TestSupport
import Testing

@testable import Reprise

@Suite
struct InvocationTests {
    private func refused(_ arguments: [String]) -> UsageError? {
        do {
            _ = try Invocation.parse(arguments)
            return nil
        } catch {
            return error
        }
    }

    @Test func `without options everything has its default`() throws {
        let options = try Options.parsed("list.m3u8")
        #expect(options.sources == ["list.m3u8"])
        #expect(options.sink == .pulse(sink: nil) && options.seek == .zero)
        #expect(
            options.volume == nil && options.shuffle == nil && options.mpris == nil
                && options.repeatMode == nil
        )
        #expect(options.gain == nil && options.start == nil && options.readAhead == nil)
        #expect(options.cache.folder == BasePaths.path(of: .cache))
        let flags = [
            options.headless, options.json, options.plain, options.noCache, options.offline, options.refresh,
            options.fill, options.fresh, options.noMouse,
        ]
        #expect(!flags.contains(true))
    }

    @Test func `every option reaches its value`() throws {
        let options = try Options.parsed([
            "--headless", "--json", "--sink", "wav:out.wav", "--sink-format", "s24", "--cache-dir", "c",
            "--cache-size", "500M",
            "--cache-age", "30", "--min-free", "2GB", "--cache-identity",
            "host=CDN.example strip=token,expires", "--cache-identity", "strip=s host=h", "--no-cache",
            "--offline", "--read-ahead", "4MB", "--hls-quality", "low", "--volume", "40", "--shuffle",
            "--repeat", "all",
            "--gain", "album", "--charset", "GBK", "--start", "3", "--seek", "1:02:03", "--header",
            "X-Key: a:b",
            "--user-agent", "me", "--cacert", "/dev/null", "--journal", "j", "--fresh", "--no-mouse",
            "--no-mpris", "--socket", "--inhibit", "idle", "--resume-after-sleep", "--metered", "use",
            "a.mp3", "-",
        ])
        #expect(options.sources == ["a.mp3", "-"] && options.readsListFromInput)
        #expect(options.headless && options.json && options.noCache && options.offline)
        #expect(options.fresh && options.noMouse && options.shuffle == true && options.mpris == false)
        #expect(options.socket == true && options.power.metered == .use)
        #expect(options.power.inhibit.map { "\($0)" } == "idle" && options.power.resumeAfterSleep)
        #expect(options.sink == .wav(path: "out.wav") && options.sinkFormat == .s24)
        #expect(options.journal == "j")
        #expect(options.cache.folder == "c" && options.bounds.cacheAge == 30)
        #expect(options.bounds.cacheSize == 500_000_000 && options.bounds.minFree == 2_000_000_000)
        let rules = ["host=cdn.example strip=token,expires", "host=h strip=s"]
        #expect(options.cache.identityRules == (try rules.map { try CacheIdentity.Rule(parsing: $0) }))
        #expect(options.readAhead == .size(4_000_000))
        #expect(options.network.hlsQuality.map { "\($0)" } == "low")
        #expect(options.volume == 40 && options.repeatMode == .all && options.gain == .album)
        #expect(options.charset == TextEncoding("gb18030"))
        #expect(options.start == 3 && options.seek == .seconds(3723))
        #expect(options.network.headers == [try #require(RequestHeader(parsing: "X-Key: a:b"))])
        #expect(options.network.userAgent == "me" && options.network.cacert == "/dev/null")
        let others = try Options.parsed("--refresh", "--plain", "--fill", "a")
        #expect(others.refresh && others.plain && others.fill)
    }

    @Test(
        arguments: [
            ("all", .all), ("90", .time(.seconds(90))), ("90s", .time(.seconds(90))),
            ("1:30", .time(.seconds(90))), ("5m", .time(.seconds(300))), ("5M", .size(5_000_000)),
            ("1MiB", .size(1_048_576)),
        ] as [(text: String, expected: LoadSettings.ReadAhead)]
    )
    func `read-ahead takes a time, a size or all`(text: String, expected: LoadSettings.ReadAhead) throws {
        #expect(try Options.parsed("--read-ahead", text, "a").readAhead == expected)
    }

    @Test(
        arguments: [
            (["--sink", "alsa"], "--sink"), (["--sink", "pulse:"], "--sink"), (["--sink", "wav:"], "--sink"),
            (["--sink-format", "s8"], "use s16, s24, s32 or f32"),
            (["--hls-quality", "best"], "use high or low"), (["--tags", "all"], "--tags"),
            (["--waveform", "all"], "--waveform"),
            (["--metered", "wait"], "use stop or use"),
            (["--inhibit", "lid"], "use off, sleep or idle"),
            (["--volume", "101"], "--volume"), (["--volume", "loud"], "--volume"), (["--volume"], "--volume"),
            (["--volume=-1"], "--volume"), (["--cache-size", "5m"], "--cache-size"),
            (["--cache-size", "-1"], "--cache-size"), (["--cache-age", "0"], "--cache-age"),
            (["--cache-dir", ""], "--cache-dir"), (["--read-ahead", "far"], "--read-ahead"),
            (["--repeat", "twice"], "--repeat"), (["--start", "0"], "--start"),
            (["--seek", "1:60"], "--seek"), (["--seek=-5"], "--seek"), (["--json", "--plain"], "--plain"),
            (["--json=yes"], "--json"), (["--offline", "--refresh"], "--offline"),
            (["--fill", "--offline"], "--fill"), (["--fill", "--no-cache"], "--no-cache"),
            (["--user-agent", "a\nb"], "--user-agent"), (["--cacert", ""], "--cacert"),
            (["--cacert", "/nonexistent/ca.pem"], "/nonexistent/ca.pem"), (["--cacert", "/"], "folder"),
            (["--header", "Range: bytes=0-1", "a"], "itself"),
            (["--header", "@/nonexistent/headers"], "/nonexistent/headers"), (["--header", "@"], "--header"),
            (["-", "-"], "standard input"), ([""], "source"), (["--gain=3"], "use off, track or album"),
            (["--charset", "klingon"], "use an encoding as windows-1251"), (["--charset", ""], "--charset"),
            (["--journal", ""], "--journal"), (["--wobble"], "--wobble"),
            (["--min-free", "some"], "--min-free"),
            (["config", "volume"], "config volume: takes options only"), (["cache"], "list"),
            (["cache", "burn"], "burn"), (["--cache-identity", "cdn.example"], "--cache-identity"),
            (["--cache-identity", "host=h strip="], "--cache-identity"),
            (["--cache-secret", ""], "--cache-secret"),
            (["--cache-secret", "/nonexistent/key"], "/nonexistent/key"), (["cache", "info"], "source"),
            (["cache", "verify", "x"], "x"),
            (["cache", "list", "--sort", "name"], "use played, size, stored, age, source"),
            (["cache", "list", "--complete", "--partial"], "--partial"), (["cache", "evict"], "--to SIZE"),
            (["cache", "evict", "a", "--to", "1MB"], "--to SIZE"),
            (["cache", "evict", "--to", "much"], "--to"),
            (["cache", "evict", "a", "--dry-run"], "--dry-run"),
            (["cache", "export", "http://h/"], "file"),
            (["cache", "export", "http://h/", ""], "standard output"), (["cache", "keygen"], "file"),
            (["cache", "keygen", ""], "the file to write"), (["cache", "pin"], "source"),
            (["cache", "unpin", ""], "a source is empty"), (["cache", "fetch", "-", "-"], "standard input"),
            (["cache", "fetch", "a", "--min-free", "x"], "--min-free"),
            (["cache", "fetch", "a", "--cache-secret", "/"], "--cache-secret"),
            (["cache", "list", "--yes"], "--yes"), (["cache", "list", "--wobble"], "--wobble"),
        ] as [(arguments: [String], named: String)]
    )
    func `an invalid command line is refused in one line that names the mistake`(
        line: [String],
        named: String
    )
        throws
    {
        let refusal = try #require(refused(line)).description
        #expect(refusal.contains(named) && !refusal.contains("\n"))
    }

    @Test(
        arguments: [
            (["--hlep"], "--help"), (["--hedless", "a"], "--headless"), (["confg"], "config"),
            (["cach", "list"], "cache"), (["cache", "fech", "a"], "fetch"),
        ] as [(arguments: [String], meant: String)]
    )
    func `a misspelled option or command gets a guess`(arguments: [String], meant: String) {
        #expect(refused(arguments)?.description.hasSuffix(" – did you mean \(meant)?") == true)
        #expect(refused(["cach", "http://h/a.mp3"]) == nil, "there is music to play")
    }

    @Test(arguments: ["hunter2", "Bad Name: hunter2", ": hunter2", "X-Key: hunter2\r\nX-Other: 1"])
    func `a refused header is never quoted`(header: String) throws {
        for arguments in [
            ["--header", header, "a"], ["--header=\(header)"], ["cache", "evict", "a", "--header", header],
        ] {
            let refusal = try #require(refused(arguments)).description
            #expect(refusal.contains("--header") && !refusal.contains("hunter2"))
        }
    }

    @Test func `a bad line of a header file is named by its number and never quoted`() throws {
        let error = #expect(throws: UsageError.self) {
            try HeaderArgument.fields(ofFile: "A: 1\r\n\nhunter2\n", at: "f")
        }
        #expect(error?.description == "--header @f: line 3 is not 'Name: value'")
        #expect(try HeaderArgument.fields(ofFile: "A: 1\r\n\nB:2\n", at: "f").map(\.value) == ["1", "2"])
    }

    @Test func `the last of two contradicting options counts, and every word after two dashes is a source`()
        throws
    {
        #expect(try Options.parsed("--no-shuffle", "a", "--shuffle").shuffle == true)
        #expect(try Options.parsed("--shuffle", "a", "--no-shuffle").shuffle == false)
        #expect(try Options.parsed("--volume=3", "a", "--volume", "4").volume == 4)
        #expect(try Options.parsed("a", "--", "--json").sources == ["a", "--json"])
    }

    @Test func `help, version and completions name the options and the commands`() throws {
        #expect(try shown("--version") == "reprise 0.1.0")
        for arguments in [["--help"], ["cache", "--help"]] {
            #expect(try shown(arguments).contains("--cache-dir"), "\(arguments)")
        }
        #expect(try shown("cache", "help", "pin").contains("--only-mark"))
        for command in [
            "list", "info", "clear", "verify", "pin", "unpin", "fetch", "evict", "export", "keygen",
        ] {
            #expect(try shown("cache", "--help").contains("  \(command) "), "\(command)")
            #expect(try shown("cache", command, "--help").contains("USAGE: reprise cache \(command)"))
        }
        #expect(refused(["cache", "list", "--sort", "x"])?.help == "reprise cache list --help")
        #expect(try shown("--help").contains("USAGE: reprise [<options>] [<source> ...]\n"))
        let script = try shown("--generate-completion-script", "bash")
        #expect(try shown("--generate-completion-script=bash") == script)
        for word in ["--headless", "--cache-secret", "verify", "--only-mark", "--sort"] {
            #expect(script.contains(word), "\(word)")
        }
    }

    @Test(
        arguments: [
            ("reprise --offl", ["--offline"]), ("reprise conf", ["config"]), ("reprise cache fe", ["fetch"]),
            ("reprise config --sam", ["--sample"]), ("reprise cache pin --only", ["--only-mark"]),
            ("reprise cache list --sort pl", ["played"]), ("reprise a cache fe", []), ("reprise hel", []),
            ("reprise remote play-l", ["play-later"]), ("reprise remote --wait but", []),
            ("reprise remote --wait buf", ["buffering"]),
        ] as [(typed: String, words: [String])]
    )
    func `bash completes the words of a command after its name only`(typed: String, words: [String])
        async throws
    {
        let folder = try TemporaryFolder()
        let script = try folder.write(try shown("--generate-completion-script", "bash"), to: "completions")
        let typing = """
            source "$1"
            COMP_WORDS=($2) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
            _reprise reprise "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
            echo "${COMPREPLY[*]}"
            """
        let completions = try await RunningProcess.run("bash", ["-c", typing, "bash", script, typed])
        #expect(String(decoding: completions, as: UTF8.self) == words.joined(separator: " ") + "\n")
    }

    @Test(
        arguments: [
            (["list"], .list(EntrySelection())),
            (
                ["list", "--sort", "size", "--reverse", "--pinned", "--partial", "a", "b"],
                .list(
                    EntrySelection(
                        words: ["a", "b"],
                        order: .size,
                        isReversed: true,
                        isPinnedOnly: true,
                        isComplete: false
                    )
                )
            ),
            (["info", "http://h/"], .info(source: "http://h/")), (["verify"], .verify),
            (["evict", "a", "b"], .evict(sources: ["a", "b"], includesPinned: false)),
            (["evict", "--to", "1GB", "--pinned"], .shrink(to: 1_000_000_000, includesPinned: true)),
            (["evict", "--to", "1GB", "--dry-run"], .forecast(to: 1_000_000_000)),
            (["clear"], .clear(isConfirmed: false, includesPinned: false)),
            (["clear", "--yes", "--pinned"], .clear(isConfirmed: true, includesPinned: true)),
            (["export", "u", "f"], .export(CacheRequest.ExportOrder(source: "u", path: "f"))),
            (
                ["export", "--partial", "u", "-", "--force"],
                .export(CacheRequest.ExportOrder(source: "u", path: nil, takesPart: true, replaces: true))
            ),
            (["pin", "a"], .pin(sources: ["a"], isFetched: true)),
            (["pin", "a", "--only-mark"], .pin(sources: ["a"], isFetched: false)),
            (["unpin", "a"], .unpin(sources: ["a"])), (["fetch", "a", "-"], .fetch(sources: ["a", "-"])),
        ] as [(arguments: [String], action: CacheRequest.Action)]
    )
    func `a cache command is parsed into its action`(line: [String], action: CacheRequest.Action) throws {
        let request = try CacheRequest.parsed(line + ["--cache-dir", "/d"])
        #expect(request.action == action && request.folder == "/d" && !request.isJSON)
    }

    @Test(
        arguments: [
            ([], .screen, true), (["--tags", "visible"], .screen, true),
            (["--tags", "played"], .screen, false),
            (["--offline"], .screen, false), (["--no-cache"], .screen, false), ([], .plain, false),
            ([], .words, false), ([], .json, false),
        ] as [([String], Presentation, Bool)]
    )
    func `the tags of shown tracks are read with a screen, a cache and the network, unless forbidden`(
        arguments: [String],
        presentation: Presentation,
        isRead: Bool
    ) throws {
        #expect(try Options.parsed(arguments + ["a"]).readsShownTags(presentation) == isRead)
    }

    @Test(
        arguments: [
            ([], .screen, 99), (["--waveform", "cached"], .screen, 99),
            (["--waveform", "played"], .screen, nil), ([], .plain, nil), ([], .words, nil), ([], .json, nil),
        ] as [([String], Presentation, Int?)]
    )
    func `only a screen that shows waveforms of cached music decodes it in the background`(
        arguments: [String],
        presentation: Presentation,
        rest: Int?
    ) throws {
        let options = try Options.parsed(arguments + ["a"])
        #expect(PlaybackSettings(options, presentation, last: nil).scanRest == rest)
    }

    @Test func `options may stand before a cache command's name`() throws {
        let request = try CacheRequest.parsed([
            "--json", "--cache-dir", "list", "--cache-identity=host=h strip=s", "list", "word",
        ])
        #expect(request.action == .list(EntrySelection(words: ["word"])))
        #expect(request.folder == "list" && request.isJSON)
        #expect(request.location.identityRules == [try CacheIdentity.Rule(parsing: "host=h strip=s")])
    }

    @Test func `without a home, a cache command asks for the folder`() throws {
        let location = try CacheRequest.parsed("verify").location
        let error = #expect(throws: UsageError.self) {
            try CacheRequest(.verify, location, isJSON: false, defaultFolder: nil)
        }
        #expect(error?.description.contains("--cache-dir") == true)
    }

    @Test func `keygen needs no cache, and config is a command`() throws {
        guard case .makeSecret(path: "k") = try Invocation.parse(["cache", "keygen", "k"]),
            case .configuration = try Invocation.parse(["config"])
        else {
            Issue.record("keygen makes no secret, or config lists no settings")
            return
        }
    }

    @Test(arguments: ["cache", "config", "remote"])
    func `a command after options is refused with a hint, unless it is a file`(name: String) throws {
        #expect(try Options.parsed("./\(name)").sources == ["./\(name)"])
        let arguments = ["--cache-dir", "d", name, "list"]
        let error = #expect(throws: UsageError.self) {
            try Invocation.parse(arguments, fileExists: { _ in false })
        }
        #expect(error?.description.contains("did you mean: reprise \(name)") == true)
        _ = try Invocation.parse(arguments, fileExists: { $0 == name })
    }
}
