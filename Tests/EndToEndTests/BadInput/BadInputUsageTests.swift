import Foundation
import TestSupport
import Testing

/// Command lines that are refused before anything is done.
@Suite struct BadInputUsageTests {
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
