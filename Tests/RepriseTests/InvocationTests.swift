import Media
import Output
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
        expected.cacheFolder = "/home/cache"
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
        expected.cacheFolder = "c"
        expected.cacheSize = 500_000_000
        expected.cacheAge = .seconds(30 * 86_400)
        expected.noCache = true
        expected.offline = true
        expected.readAhead = .size(4_000_000)
        expected.volume = 40
        expected.shuffle = true
        expected.repeatMode = .all
        expected.start = 3
        expected.seek = .seconds(3723)
        expected.headers = [try #require(RequestHeader(parsing: "X-Key: a:b"))]
        expected.userAgent = "me"
        expected.cacertFile = "/dev/null"
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
            (["--fresh"], "--fresh: not built yet"), (["--gain=3"], "--gain: not built yet"),
            (["--journal", ""], "--journal needs a file"), (["--wobble"], "--wobble"),
            (["config"], "config: not built yet"),
            (["cache"], "list"), (["cache", "burn"], "burn"),
            (["cache", "pin", "x"], "cache pin: not built yet"),
            (["cache", "list", "x"], "cache list"), (["cache", "info"], "one file or URL"),
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

    @Test func `cache commands carry their folder and their consent`() throws {
        let list = CacheRequest(action: .list, folder: "/d", isJSON: true)
        #expect(
            try Invocation.parse(["cache", "list", "--json"], defaultCacheFolder: { "/d" }) == .cache(list)
        )
        let clear = CacheRequest(
            action: .clear(isConfirmed: true),
            folder: "x",
            isFolderNamed: true,
            isJSON: false
        )
        #expect(
            try Invocation.parse(
                ["cache", "clear", "--yes", "--cache-dir", "x"],
                defaultCacheFolder: { "/d" }
            )
                == .cache(clear)
        )
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
