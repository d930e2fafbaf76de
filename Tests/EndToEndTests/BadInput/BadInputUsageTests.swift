import Foundation
import TestSupport
import Testing

/// Command lines that are refused before anything is done.
@Suite struct BadInputUsageTests {
    /// Expects that `arguments` are refused in one sentence with `words`, with code 64 and without a trace.
    private func expectRefused(
        _ arguments: [String],
        _ words: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let stage = try await BadInputStage()
        let run = try await stage.run(arguments + ["--cache-dir", stage.cacheFolder])
        expectOneSentence(run, words, status: 64, sourceLocation: sourceLocation)
        #expect(run.output == "", sourceLocation: sourceLocation)
        #expect(!FileManager.default.fileExists(atPath: stage.cacheFolder), sourceLocation: sourceLocation)
    }

    @Test func `a word behind the configuration command is refused`() async throws {
        try await expectRefused(["config", "volume"], ["config volume", "options only"])
    }

    @Test(arguments: ["pin", "unpin", "fetch", "evict", "info", "export", "keygen"])
    func `a cache command without what it works on is refused`(name: String) async throws {
        try await expectRefused(["cache", name, "--cache-dir", "c"], ["cache \(name)"])
    }

    @Test func `an unknown option is refused and what stands behind it is not repeated`() async throws {
        try await expectRefused(["--headr", "X-Key: \(badInputSecret)", "good.mp3"], ["--headr"])
        try await expectRefused(["--headr=X-Key: \(badInputSecret)", "good.mp3"], ["--headr"])
    }

    @Test func `a header that is none is refused and not repeated`() async throws {
        try await expectRefused(["--header", badInputSecret, "good.mp3"], ["--header", "Name: value"])
        try await expectRefused(["--header", "A: b\r\nC: \(badInputSecret)", "good.mp3"], ["--header"])
    }

    @Test(
        arguments: [
            (["--volume", "101"], "--volume"), (["--start", "0"], "--start"), (["--seek", "soon"], "--seek"),
            (["--repeat", "twice"], "--repeat"), (["--cache-size", "much"], "--cache-size"),
            (["--cache-age", "-1"], "--cache-age"), (["--read-ahead", "far"], "--read-ahead"),
            (["--sink", "loud"], "--sink"), (["--json", "--plain"], "--json"),
            (["--offline", "--refresh"], "--refresh"), (["-", "-"], "standard input"),
            ([""], "a source is empty"),
            (["--sink"], "--sink"),
        ] as [([String], String)]
    )
    func `a value that an option cannot take is refused`(arguments: [String], word: String) async throws {
        try await expectRefused(["good.mp3"] + arguments, [word])
    }

    @Test func `certificates that cannot be read are refused before anything is asked for`() async throws {
        try await expectRefused(["--cacert", "no.pem", "https://h.invalid/a.mp3"], ["--cacert", "no.pem"])
    }

    @Test(arguments: ["cache", "config"])
    func `a command behind options is refused and put right`(name: String) async throws {
        try await expectRefused(["--headless", name, "list"], ["did you mean: reprise \(name)"])
    }

    @Test(arguments: ["list", "clear"])
    func `a named cache folder that does not exist is told`(command: String) async throws {
        let stage = try await BadInputStage()
        let folder = stage.folder.path("no/such/cache")
        for rest in [[], ["--json"]] {
            let run = try await stage.run(["cache", command, "--cache-dir", folder] + rest)
            expectOneSentence(run, [folder, "No such file"], status: 1)
            #expect(run.output == "")
        }
    }

    @Test func `nothing to play is refused where there is no screen`() async throws {
        try await expectRefused(["--headless"], ["nothing to play"])
    }

    @Test func `a refusal is one line though the argument has many`() async throws {
        try await expectRefused(["--\u{1B}]0;owned\u{07}\nreprise: all is well", "good.mp3"], ["option"])
        try await expectRefused(["cache", "li\u{1B}[2Jst\nall is well"], ["cache"])
    }
}
