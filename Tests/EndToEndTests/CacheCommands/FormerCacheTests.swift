import Foundation
import TestSupport
import Testing

/// Cache folders that a player of the former format made (`assets/format-5-….tar.gz`).
///
/// They have pins, seek tables, two names of one song, episodes, and a damaged track; the open one has also a
/// track that is cached in part. No server has these tracks any more.
@Suite(.serialized) struct FormerCacheTests {
    private static let site = "http://former.example/"

    /// A stage with the folder, and the output of `cache list --json` by the player that made it.
    private func stage(isSealed: Bool) async throws -> (stage: Stage, listed: String, seal: [String]) {
        let stage = try await Stage()
        let archive = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../assets/format-5-\(isSealed ? "sealed" : "open").tar.gz").path
        _ = try await RunningProcess.run("tar", ["xzf", archive, "-C", stage.folder.path])
        let listed = try String(contentsOfFile: stage.folder.path("list.json"), encoding: .utf8)
        return (stage, listed, isSealed ? ["--cache-secret", stage.folder.path("secret")] : [])
    }

    @Test(arguments: [false, true])
    func `a folder of format 5 lists the same, and plays without a request`(isSealed: Bool) async throws {
        let (stage, listed, seal) = try await stage(isSealed: isSealed)
        let list = try await stage.cache(["list", "--json"] + seal)
        #expect(list.status == 0 && list.errors.isEmpty)
        #expect(list.output == listed)
        let infos = try String(contentsOfFile: stage.folder.path("info.json"), encoding: .utf8)
        for info in infos.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(info.utf8)) as? [String: Any]
            let source = try #require(object?["source"] as? String)
            #expect(try await stage.cache(["info", "--json", source] + seal).lines == [String(info)])
        }
        let names = [
            "0.mp3", "1.mp3", "2.mp3", "big.mp3", "mirror/big.mp3?signed=1", "episode1.mp3", "episode2.mp3",
        ]
        let ending = try await stage.play(seal + names.map { Self.site + $0 })
        #expect(ending.status == 0 && ending.errors.isEmpty)
        let summary = try #require(try ending.objects.last)
        #expect(summary["played"] as? Int == names.count && summary["requests"] as? Int == 0)
        // What the first player did not store is stored now.
        let track = try ending.objects.last { $0["event"] as? String == "track" && $0["album"] != nil }
        #expect(track?["albumArtist"] as? String == "Various" && track?["disc"] as? String == "1/2")
        let info = try await stage.cache(["info", "--json", Self.site + "0.mp3"] + seal)
        #expect(try info.objects.first?["genre"] as? String == "Jazz")
        let verified = try await stage.cache(["verify"] + seal)
        #expect(verified.lines.first == "damaged: \(Self.site)damaged.mp3")
        #expect(verified.lines.last?.contains("in 1 track were damaged") == true)
        let pins = try await stage.cache(["list", "--json"] + seal).objects.filter {
            $0["pinned"] as? Bool == true
        }
        #expect(pins.count == 2)
    }

    /// Every call that changes a file is counted: more than there are statements.
    @Test(arguments: [false, true])
    func `a kill in any call of the takeover loses nothing, and the next start goes on`(isSealed: Bool)
        async throws
    {
        let count = try await takeOver(isSealed, killedAt: nil)
        try #require(count >= 20)
        let places = TestCount.isFull ? Array(0..<count) : (0..<10).map { $0 * (count - 1) / 9 }
        for place in places { _ = try await takeOver(isSealed, killedAt: place) }
        TestCount.note("kills during a takeover", Int64(places.count))
    }

    /// Takes a folder over, killed in the call `place`, and again. Returns the number of calls.
    private func takeOver(_ isSealed: Bool, killedAt place: Int?) async throws -> Int {
        let (stage, listed, seal) = try await stage(isSealed: isSealed)
        let faults = try CallFaults(
            below: stage.cachePath,
            in: stage.folder,
            fault: place.map { (.kill, $0) }
        )
        let words = ["cache", "list", "--json", "--cache-dir", stage.cachePath] + seal
        let killed = try await stage.run(words, environment: faults.environment)
        // Now and then a run has fewer calls than the first.
        let isOver = faults.count <= place ?? .max
        #expect(killed.status == -SIGKILL || isOver, "call \(place ?? -1)")
        let list = try await stage.run(words)
        #expect(list.output == listed && list.errors.isEmpty, "killed in call \(place ?? -1)")
        return faults.count
    }
}
