import Foundation
import TestSupport
import Testing

/// Command lines that are refused before anything is done.
@Suite struct BadInputUsageTests {
    /// Expects that `arguments` are refused in one sentence with `words`, with code 64 and without a trace.
    private func expectRefused(_ arguments: [String], _ words: [String]) async throws {
        let stage = try await Stage()
        let run = try await stage.run(arguments + ["--cache-dir", stage.cachePath])
        expectOneSentence(run, words, status: 64)
        #expect(run.output == "")
        #expect(!FileManager.default.fileExists(atPath: stage.cachePath))
    }

    @Test(arguments: ["pin", "unpin", "fetch", "evict", "info", "export", "keygen"])
    func `a cache command without its argument is refused`(name: String) async throws {
        try await expectRefused(["cache", name, "--cache-dir", "c"], ["cache \(name)"])
    }

    @Test(
        arguments: [
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
        ] as [([String], [String])]
    )
    func `a wrong option or value is refused, and no secret is repeated`(
        arguments: [String],
        words: [String]
    ) async throws {
        try await expectRefused(["good.mp3"] + arguments, words)
    }

    @Test(
        arguments: [
            (["config", "volume"], ["config volume", "options only"]),
            (["--headless", "cache", "list"], ["did you mean: reprise cache"]),
            (["--headless", "config", "list"], ["did you mean: reprise config"]),
            (["cache", "li\u{1B}[2Jst\nall is well"], ["cache"]), (["--headless"], ["nothing to play"]),
        ] as [([String], [String])]
    )
    func `a command line without sense is refused in one line`(
        arguments: [String],
        words: [String]
    ) async throws {
        try await expectRefused(arguments, words)
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
