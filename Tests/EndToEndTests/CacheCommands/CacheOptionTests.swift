import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The options of the cache, through the built player.
@Suite(.serialized) struct CacheOptionTests {
    @Test func `a sealed cache opens with its own secret only, and a wrong one loses nothing`() async throws {
        let music = try await ExactMusic.brief()
        let stage = try await Stage.brief()
        for key in ["right", "wrong"] {
            #expect(try await stage.run(["cache", "keygen", key]).status == 0)
        }
        let again = try await stage.run(["cache", "keygen", "right"])
        #expect(again.status == 2 && again.errors.contains("never overwritten"))
        var status = stat()
        #expect(stat(stage.folder.path("right"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        let secret = String(decoding: stage.content("right")?.prefix { $0 != 10 } ?? [], as: UTF8.self)
        #expect(secret.count == 64)

        let seal = ["--cache-secret", "right"]
        #expect(try await stage.cache(["fetch", stage.url("/a.mp3")] + seal).status == 0)
        let object = try Data(contentsOf: URL(fileURLWithPath: try #require(stage.objectFiles.first)))
        #expect(object.range(of: Data(music[100_000..<100_032])) == nil)
        for words in [["--cache-secret", "wrong"], []] {
            for command in [
                ["list"], ["verify"], ["fetch", stage.url("/a.mp3")], ["clear", "--yes", "--pinned"],
            ] {
                let refused = try await stage.cache(command + words)
                expectOneSentence(refused, [], status: 1)
                #expect(refused.output.isEmpty && !refused.errors.contains(secret), "\(command) \(words)")
            }
            let played = try await stage.play([stage.url("/a.mp3")] + words)
            #expect(played.status == 1 && played.errorLines.count == 1)
        }
        stage.server.log.reset()
        #expect(try await stage.cache(["verify"] + seal).status == 0)
        #expect(try await stage.cache(["export", stage.url("/a.mp3"), "-"] + seal).bytes == music)
        #expect(try await stage.play([stage.url("/a.mp3")] + seal).status == 0)
        #expect(stage.server.log.requests.isEmpty)
        #expect(try await stage.cache(["list"] + seal).lines.dropFirst().first?.hasSuffix("/a.mp3") == true)
    }

    @Test func `a secret whose file or name cannot be flushed to the disk is not created`() async throws {
        let stage = try await Stage()
        let folder = stage.folder.path("keys")
        try stage.folder.makeFolder("keys")
        func make(_ fault: (kind: CallFaults.Kind, at: Int)?) async throws -> (status: Int32, calls: Int) {
            let faults = try CallFaults(below: folder, in: stage.folder, fault: fault)
            let run = try await stage.run(
                ["cache", "keygen", folder + "/secret"],
                environment: faults.environment
            )
            return (run.status, faults.count)
        }
        // The text is written and flushed, and then the folder is, in which the file's name stands.
        for call in 0..<3 {
            let failed = try await make((.fullOnce, call))
            #expect(failed.status == 1, "call \(call)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [], "call \(call)")
        }
        let made = try await make(nil)
        #expect(made.status == 0 && made.calls == 3)
    }

    @Test(arguments: [("text", "chmod 600"), ("bad", "keygen"), ("none", "No such file")])
    func `an invalid secret is refused in one sentence`(name: String, cause: String) async throws {
        let stage = try await Stage()
        chmod(try stage.folder.write(String(repeating: "ab", count: 32), to: "text"), 0o644)
        chmod(try stage.folder.write("hunter2", to: "bad"), 0o600)
        let run = try await stage.cache("list", "--cache-secret", name)
        expectOneSentence(run, [cause, "--cache-secret"], status: 64)
        #expect(!run.errors.contains("hunter2"))
    }

    @Test func `with an identity rule a new token is the same music`() async throws {
        let stage = try await Stage.brief()
        let rule = ["--cache-identity", "host=127.0.0.1 strip=token,expires"]
        let first = stage.url("/a.mp3?token=one&x=1")
        let second = stage.url("/a.mp3?expires=5&token=two&x=1")
        #expect(try await stage.cache(["fetch", first] + rule).status == 0)
        stage.server.log.reset()
        #expect(
            try await stage.cache(["fetch", second] + rule).lines.first?.hasPrefix("already cached") == true
        )
        #expect(try await stage.play([second] + rule).status == 0)
        #expect(stage.server.log.requests.isEmpty)
        #expect(try await stage.cache(["info", second] + rule).status == 0)
        #expect(try await stage.cache("info", second).status == 2)
        #expect(try await stage.cache("list", "--json").lines.count == 1)
    }

    @Test func `a disk that must stay free keeps nothing, and the fetch says so`() async throws {
        let stage = try await Stage.brief()
        let run = try await stage.cache("fetch", "--min-free", "1000TB", stage.url("/a.mp3"))
        #expect(run.status == 2)
        #expect(run.errorLines.count == 2 && run.errorLines[0].contains("not cached"))
        #expect(try await stage.play(["--min-free", "1000TB", stage.url("/a.mp3")]).status == 0)
        #expect(try await stage.info("/a.mp3")?["stored"] as? Int ?? 0 == 0)
    }
}
