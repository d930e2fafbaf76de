import Foundation
import TestSupport
import Testing

/// The command and the key that pin a track, with a real cache folder.
@Suite struct PinningTests {
    @Test func `pin keeps a track for good, and pin again lets go of it`() async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/one.mp3": stage.musicBytes, "/two.mp3": stage.musicBytes])
        let urls = [server.url("/one.mp3"), server.url("/two.mp3")]
        let process = try stage.start(
            ["--headless", "--json", "--sink", "null", "--cache-dir", stage.cacheFolder] + urls
        )
        try await process.waitForLine { $0.contains("\"event\":\"playing\"") }
        try process.send("pause")
        // The second track was not opened by then: the pin itself creates its entry in the cache.
        for command in ["pin", "pin 2"] { try process.send(command) }
        try await process.waitForLine { $0.contains("\"pinned\"") && $0.contains("one.mp3") }
        try await process.waitForLine { $0.contains("\"pinned\"") && $0.contains("two.mp3") }
        #expect(try await pinned(stage) == Set(urls))
        try process.send("pin 2")
        try await process.waitForLine { $0.contains("\"unpinned\"") && $0.contains("two.mp3") }
        #expect(try await pinned(stage) == [urls[0]])
        try process.send("quit")
        #expect(try await process.waitForExit() == 0)
        let evicted = try await stage.run(["cache", "evict", "--to", "0", "--cache-dir", stage.cacheFolder])
        #expect(try await stage.keptSources().contains(urls[0]), "\(evicted.output)")
        #expect(try await pinned(stage) == [urls[0]])
    }

    @Test func `the key pins the selected track, and the list shows it`() async throws {
        let folder = try TemporaryFolder()
        let bytes = try await MP3Fixtures.bytes(MP3Fixtures.Options(seconds: 30))
        let server = try TestOrigin(["/one.mp3": bytes])
        let stage = try await ScreenStage([server.url("/one.mp3")], folder: folder)
        try await stage.waitForStatus("Playing")
        try await stage.terminal.type("P")
        try await stage.wait(for: "the pin in the list") { stage in
            try await stage.terminal.capture().contains { $0.contains("1 one.mp3") && $0.contains("♦") }
        }
        try await stage.terminal.type("q")
        #expect(try await stage.ending().exitCode == "0")
        let list = try await RunningProcess.run(
            BuiltProducts.reprise,
            ["cache", "list", "--json", "--pinned", "--cache-dir", folder.path("cache")]
        )
        #expect(String(decoding: list, as: UTF8.self).contains(server.url("/one.mp3")))
    }

    private func pinned(_ stage: BadInputStage) async throws -> Set<String> {
        let list = try await stage.run(
            ["cache", "list", "--json", "--pinned", "--cache-dir", stage.cacheFolder]
        )
        return try Set(
            list.output.split(separator: "\n").compactMap { line in
                let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return entry?["source"] as? String
            }
        )
    }
}
