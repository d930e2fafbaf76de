import Foundation
import TestSupport
import Testing

/// Command lines that are refused before anything is done, and odd ones that are not.
@Suite struct BadInputUsageTests {
    @Test func `every option and command takes names that are not UTF-8`() async throws {
        let stage = try await Stage()
        stage.server.set(stage.musicBytes, at: "/a.mp3")
        /// `$N` in `words` is such a name, and in `Ending` its bytes are escaped.
        func run(_ words: String, _ sources: String...) async throws -> Ending {
            let player = #"cd "$0" && N=$(printf 'caf\351') && player=$1 && shift && exec "$player" "#
            let script = player + words + #" "$@""#
            return try await stage.run(sources, wrapper: ["sh", "-c", script, stage.folder.path])
        }
        let options = #"--cache-dir "$N" "#
        let sinks = #"--headless --json --sink "wav:$N.wav" --journal "$N.log" "#
        #expect(try await run(sinks + options, stage.url("/a.mp3")).finished == [88_200])
        #expect(try await run("cache list " + options).lines.contains { $0.contains("/a.mp3") })
        #expect(try await run(#"cache export a.mp3 "$N.mp3" "# + options).status == 0)
        #expect(try await run("cache clear --yes " + options).status == 0)
        let again = try await run(#"--headless --json --sink null:fast "$N.mp3" "$N.wav" "# + options)
        #expect(again.finished == [88_200, 88_200])
        for name in ["", ".wav", ".log", ".mp3"] {
            #expect(!FileManager.default.fileExists(atPath: stage.folder.path("caf\u{10FFE9}" + name)))
        }
    }

    private static let music = [
        (["--headr", "X-Key: \(badInputSecret)"], ["--headr"]),
        (["--headr=X-Key: \(badInputSecret)"], ["--headr"]),
        (["--header", badInputSecret], ["--header", "Name: value"]),
        (["--header", "A: b\r\nC: \(badInputSecret)"], ["--header"]),
        (["--\u{1B}]0;owned\u{07}\nreprise: all is well"], ["option"]),
        (["--volume", "101"], ["--volume"]), (["--start", "0"], ["--start"]),
        (["--seek", "soon"], ["--seek"]), (["--repeat", "twice"], ["--repeat"]),
        (["--cache-size", "much"], ["--cache-size"]), (["--cache-age", "-1"], ["--cache-age"]),
        (["--read-ahead", "far"], ["--read-ahead"]), (["--sink", "loud"], ["--sink"]),
        (["--json", "--plain"], ["--json"]), (["--offline", "--refresh"], ["--refresh"]),
        (["-", "-"], ["standard input"]), ([""], ["a source is empty"]), (["--sink"], ["--sink"]),
        (["--cacert", "no.pem", "https://h.invalid/a.mp3"], ["--cacert", "no.pem"]),
    ].map { (["good.mp3"] + $0, $1) }

    private static let others = [
        (["config", "volume"], ["config volume", "options only"]),
        (["--headless", "cache", "list"], ["did you mean: reprise cache"]),
        (["--headless", "config", "list"], ["did you mean: reprise config"]),
        (["cache", "li\u{1B}[2Jst\nall is well"], ["cache"]), (["--headless"], ["nothing to play"]),
    ]

    private static let commands = ["pin", "unpin", "fetch", "evict", "info", "export", "keygen"].map {
        (["cache", $0, "--cache-dir", "c"], ["cache \($0)"])
    }

    @Test(arguments: music + others + commands)
    func `a wrong command line is refused in one sentence, which repeats no secret`(
        arguments: [String],
        words: [String]
    ) async throws {
        let stage = try await Stage()
        let run = try await stage.run(arguments + ["--cache-dir", stage.cachePath])
        expectOneSentence(run, words, status: 64)
        #expect(run.output == "")
        #expect(!FileManager.default.fileExists(atPath: stage.cachePath))
    }

    @Test(arguments: ["list", "clear"])
    func `a named cache folder that does not exist is reported`(command: String) async throws {
        let stage = try await Stage()
        for rest in [[], ["--json"]] {
            let run = try await stage.cache([command] + rest)
            expectOneSentence(run, [stage.cachePath, "No such file"], status: 1)
            #expect(run.output == "")
        }
    }
}
