import Cache
import Media
import Output
import Playback
import Testing

@testable import Reprise

@Suite
struct InvocationTests {
    private func options(_ arguments: String...) throws -> Options {
        guard case .play(let options) = try Invocation.parse(arguments, defaultCacheFolder: { "/home/cache" })
        else { throw UsageError("not a command line that plays") }
        return options
    }

    private func refused(_ arguments: [String]) -> String? {
        do {
            _ = try Invocation.parse(arguments, defaultCacheFolder: { nil })
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `without options everything has its default`() throws {
        var expected = Options()
        expected.sources = ["list.m3u8"]
        expected.keeping.folder = "/home/cache"
        #expect(try options("list.m3u8") == expected)
    }

    @Test func `every option reaches its value`() throws {
        let options = try options(
            "--headless",
            "--json",
            "--sink",
            "wav:out.wav",
            "--cache-dir",
            "c",
            "--cache-size",
            "500M",
            "--cache-age",
            "30",
            "--min-free",
            "2GB",
            "--cache-identity",
            "host=CDN.example strip=token,expires",
            "--cache-identity",
            "strip=s host=h",
            "--no-cache",
            "--offline",
            "--read-ahead",
            "4MB",
            "--volume",
            "40",
            "--shuffle",
            "--repeat",
            "all",
            "--start",
            "3",
            "--seek",
            "1:02:03",
            "--header",
            "X-Key: a:b",
            "--user-agent",
            "me",
            "--cacert",
            "/dev/null",
            "a.mp3",
            "-"
        )
        var expected = Options()
        expected.sources = ["a.mp3", "-"]
        expected.headless = true
        expected.json = true
        expected.sink = .wav(path: "out.wav")
        expected.keeping.folder = "c"
        expected.keeping.isFolderNamed = true
        expected.keeping.size = 500_000_000
        expected.keeping.age = .seconds(30 * 86_400)
        expected.keeping.minimumFree = 2_000_000_000
        expected.keeping.identity.rules = [
            try CacheIdentity.Rule(parsing: "host=cdn.example strip=token,expires"),
            try CacheIdentity.Rule(parsing: "host=h strip=s"),
        ]
        expected.noCache = true
        expected.offline = true
        expected.readAhead = .size(4_000_000)
        expected.volume = 40
        expected.shuffle = true
        expected.repeatMode = .all
        expected.start = 3
        expected.seek = .seconds(3723)
        expected.network.headers = [try #require(RequestHeader(parsing: "X-Key: a:b"))]
        expected.network.userAgent = "me"
        expected.network.certificateFile = "/dev/null"
        #expect(options == expected)
        #expect(options.readsListFromInput)
        #expect(try self.options("--refresh", "--plain", "a").refresh)
        #expect(try self.options("--refresh", "--plain", "a").plain)
    }

    @Test(
        arguments: [
            ("all", .all), ("90", .time(.seconds(90))), ("90s", .time(.seconds(90))),
            ("1:30", .time(.seconds(90))),
            ("1MiB", .size(1_048_576)),
        ] as [(text: String, expected: Options.ReadAhead)]
    )
    func `read-ahead takes a time, a size or all`(text: String, expected: Options.ReadAhead) throws {
        #expect(try options("--read-ahead", text, "a").readAhead == expected)
    }

    @Test(
        arguments: [
            (["--sink", "alsa"], "--sink"), (["--sink", "pulse:"], "--sink"), (["--sink", "wav:"], "--sink"),
            (["--volume", "101"], "--volume"), (["--volume", "loud"], "--volume"),
            (["--volume=-1"], "--volume"),
            (["--cache-size", "5m"], "--cache-size"), (["--cache-size", "-1"], "--cache-size"),
            (["--cache-age", "0"], "--cache-age"), (["--cache-dir", ""], "--cache-dir"),
            (["--read-ahead", "far"], "--read-ahead"), (["--repeat", "twice"], "--repeat"),
            (["--start", "0"], "--start"), (["--seek", "1:60"], "--seek"), (["--seek=-5"], "--seek"),
            (["--json", "--plain"], "--plain"), (["--offline", "--refresh"], "--offline"),
            (["--user-agent", "a\nb"], "--user-agent"), (["--cacert", ""], "--cacert"),
            (["--cacert", "/nonexistent/ca.pem"], "/nonexistent/ca.pem"), (["--cacert", "/"], "folder"),
            (["--header", "Range: bytes=0-1", "a"], "own"),
            (["--header", "@/nonexistent/headers"], "/nonexistent/headers"), (["--header", "@"], "--header"),
            (["-", "-"], "standard input"), ([""], "source"),
            (["--gain=3"], "--gain takes off, track or album"),
            (["--journal", ""], "--journal needs a file"), (["--wobble"], "--wobble"),
            (["config", "volume"], "config volume: reprise config takes options only"),
            (["cache"], "list"), (["cache", "burn"], "burn"),
            (["--min-free", "some"], "--min-free"),
            (["--cache-identity", "cdn.example"], "--cache-identity"),
            (["--cache-identity", "host=h strip="], "--cache-identity"),
            (["--cache-secret", ""], "--cache-secret"),
            (["--cache-secret", "/nonexistent/key"], "/nonexistent/key"),
            (["cache", "info", "--cache-dir", "c"], "one URL"), (["cache", "verify", "x"], "x"),
            (["cache", "list", "--sort", "name"], "--sort takes played, size, stored, age, source"),
            (["cache", "list", "--complete", "--partial"], "--partial"),
            (["cache", "evict", "--cache-dir", "c"], "--to SIZE"),
            (["cache", "evict", "a", "--to", "1MB"], "--to SIZE"),
            (["cache", "evict", "--to", "much"], "--to"),
            (["cache", "export", "http://h/"], "standard output"), (["cache", "keygen"], "the file to make"),
            (["cache", "pin", "--cache-dir", "c"], "cache pin"),
            (["cache", "unpin", ""], "a source is empty"),
            (["cache", "fetch", "-", "-"], "standard input"),
            (["cache", "fetch", "a", "--min-free", "x"], "--min-free"),
            (["cache", "fetch", "a", "--cache-secret", "/"], "--cache-secret"),
            (["cache", "list", "--yes", "--cache-dir", "c"], "--yes"), (["cache", "list"], "--cache-dir"),
            (["cache", "list", "--wobble"], "--wobble"),
        ] as [(arguments: [String], named: String)]
    )
    func `what cannot be meant is refused in one line that names it`(arguments: [String], named: String)
        throws
    {
        let refusal = try #require(refused(arguments))
        #expect(refusal.contains(named))
        #expect(!refusal.contains("\n"))
    }

    @Test(arguments: ["hunter2", "Bad Name: hunter2", ": hunter2", "X-Key: hunter2\r\nX-Other: 1"])
    func `a refused header is never quoted`(header: String) throws {
        let refusal = try #require(refused(["--header", header, "a"]))
        #expect(refusal.contains("--header"))
        #expect(!refusal.contains("hunter2"))
    }

    @Test func `a bad line of a header file is named by its number and never quoted`() {
        #expect(
            RequestHeader.parse(file: "A: 1\r\n\nhunter2\n") == .failure(RequestHeader.BadLine(number: 3))
        )
        #expect((try? RequestHeader.parse(file: "A: 1\r\n\nB:2\n").get())?.map(\.value) == ["1", "2"])
    }

    @Test func `a program's seeks wait for its next one, and a hand's only where it takes steps`() {
        let byProgram = Wiring.playback(Options(), .words, nil, isByHand: false)
        #expect(byProgram.placeSettling == .milliseconds(60))
        let byHand = Wiring.playback(Options(), .screen, nil, isByHand: true)
        #expect(byHand.placeSettling == .zero)
        #expect(byHand.stepSettling == .milliseconds(60))
    }

    @Test func `of two options that contradict each other the last one counts`() throws {
        #expect(try options("--no-shuffle", "a", "--shuffle").shuffle == true)
        #expect(try options("--shuffle", "a", "--no-shuffle").shuffle == false)
        #expect(try options("--volume=3", "a", "--volume", "4").volume == 4)
    }

    @Test func `after two dashes a word is a source, whatever it looks like`() throws {
        #expect(try options("a", "--", "--json").sources == ["a", "--json"])
    }

    @Test func `help and version are shown and refuse nothing`() throws {
        #expect(try Invocation.parse(["--version"], defaultCacheFolder: { nil }) == .show("reprise 0.1.0"))
        for arguments in [["--help"], ["cache", "--help"]] {
            guard case .show(let help) = try Invocation.parse(arguments, defaultCacheFolder: { nil }) else {
                Issue.record("\(arguments) shows nothing")
                continue
            }
            #expect(help.contains("--cache-dir"))
        }
    }

    private func request(_ arguments: String...) throws -> CacheRequest {
        guard
            case .cache(let request) = try Invocation.parse(
                ["cache"] + arguments,
                defaultCacheFolder: { "/d" }
            )
        else { throw UsageError("not a command of the cache") }
        return request
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
                        completeness: .part
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
    func `a cache command says what it does`(arguments: [String], action: CacheRequest.Action) throws {
        guard
            case .cache(let request) = try Invocation.parse(
                ["cache"] + arguments,
                defaultCacheFolder: { "/d" }
            )
        else {
            Issue.record("\(arguments) is no command of the cache")
            return
        }
        #expect(request.action == action)
        #expect(request.folder == "/d")
        #expect(!request.isJSON)
    }

    @Test func `options may stand before a cache command's name`() throws {
        let before = try request("--json", "--cache-dir", "list", "--cache-identity=host=h strip=s", "list")
        #expect(
            before
                == (try request("list", "--json", "--cache-dir", "list", "--cache-identity=host=h strip=s"))
        )
        #expect(before.folder == "list")
        #expect(before.isJSON)
        #expect(before.keeping.isFolderNamed)
    }

    @Test func `keygen makes a secret and needs no cache`() throws {
        #expect(
            try Invocation.parse(["cache", "keygen", "k"], defaultCacheFolder: { nil })
                == .makeSecret(path: "k")
        )
    }

    @Test func `every option and command of the contract is there`() throws {
        let options = [
            "--headless", "--json", "--plain", "--sink", "--cache-dir", "--cache-size", "--cache-age",
            "--no-cache",
            "--offline", "--refresh", "--read-ahead", "--volume", "--shuffle", "--repeat", "--start",
            "--seek",
            "--header", "--user-agent", "--cacert", "--fill", "--journal", "--cache-identity",
            "--cache-secret",
            "--min-free", "--fresh", "--gain",
        ]
        let help = try shown("--help")
        for option in options {
            #expect(help.contains("\(option) ") || help.contains("\(option)/"), "\(option)")
        }
        let commands = [
            "list", "info", "clear", "verify", "pin", "unpin", "fetch", "evict", "export", "keygen",
        ]
        let cacheHelp = try shown("cache", "--help")
        for command in commands {
            #expect(cacheHelp.contains("  \(command) "), "\(command)")
            #expect(try shown("cache", command, "--help").contains("USAGE: reprise cache \(command)"))
        }
        #expect(
            try Invocation.parse(["config"], defaultCacheFolder: { nil }) == .configuration(arguments: [])
        )
    }

    @Test func `completions know the options and the commands`() throws {
        let script = try shown("--generate-completion-script", "bash")
        for word in [
            "--headless", "--cache-secret", "verify", "--only-mark", "--sort",
        ] {
            #expect(script.contains(word), "\(word)")
        }
    }

    @Test func `a refused cache command names its own help`() {
        let error = #expect(throws: UsageError.self) {
            try Invocation.parse(["cache", "list", "--sort", "x"], defaultCacheFolder: { "/d" })
        }
        #expect(error?.help == "reprise cache list --help")
    }

    private func shown(_ arguments: String...) throws -> String {
        guard case .show(let text) = try Invocation.parse(arguments, defaultCacheFolder: { "/d" }) else {
            throw UsageError("nothing to show")
        }
        return text
    }

    @Test func `a file called cache is played by its path`() throws {
        #expect(try options("./cache").sources == ["./cache"])
    }

    @Test(arguments: ["cache", "config"])
    func `a command behind options is refused with its place, unless it is a file`(name: String) throws {
        let arguments = ["--cache-dir", "d", name, "list"]
        let error = #expect(throws: UsageError.self) {
            try Invocation.parse(arguments, defaultCacheFolder: { nil }, fileExists: { _ in false })
        }
        #expect(error?.description.contains("did you mean: reprise \(name)") == true)
        _ = try Invocation.parse(arguments, defaultCacheFolder: { nil }, fileExists: { $0 == name })
    }
}
