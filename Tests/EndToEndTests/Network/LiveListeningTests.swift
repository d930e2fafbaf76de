import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Live streams through the binary.
@Suite struct LiveListeningTests {
    private let stage: Stage
    private var log: RequestLog { stage.server.log }

    init() async throws {
        stage = try await Stage()
        stage.server.set(stage.musicBytes, at: "/radio")
    }

    @Test func `station and titles are reported when they are heard, and a seek is refused`() async throws {
        let titles = [LiveStream.Title(at: 1, "First Song"), LiveStream.Title(at: 40_000, "Second Song")]
        let radio = LiveStream(name: "Night Radio", bitRate: 128, titles: titles)
        stage.server.origin.setFaults([.live(radio)], for: "/radio")
        let process = try stage.startPlaying([stage.url("/radio")])
        try await process.waitForLine { $0.contains("Second Song") }
        let tracks = try process.events.filter { $0.event == "track" }
        #expect(tracks.compactMap(\.title).contains("First Song"))
        let last = try #require(tracks.last)
        #expect(last.live == true && last.station == "Night Radio")
        #expect(last.seekable == false && last.duration == nil)
        try process.send("seek 0:10")
        try await process.waitForLine { $0.contains("not-seekable") }
        #expect(log.requests.count == 1)
        try process.send("quit")
        let run = try await Ending(of: process)
        #expect(run.status == 0)
        #expect(run.events("ended").map(\.reason) == ["skipped"])
        #expect(try await stage.cachedSources() == [] && stage.objectFiles == [], "nothing of it is cached")
    }

    @Test func `a stream that breaks off is connected again and goes on`() async throws {
        stage.server.origin.setFaults([.live(LiveStream()), .cut(afterBytes: 60_000)], for: "/radio")
        let process = try stage.startPlaying([stage.url("/radio")], sink: "null:fast")
        try await wait(for: "four connections") { log.requests.count >= 4 || !process.isRunning }
        let ends = process.lines.filter { $0.contains("\"event\":\"ended\"") }
        #expect(ends.isEmpty)
        #expect(process.isRunning, "\(process.lines) \(process.errorText)")
        try process.send("quit")
        let run = try await Ending(of: process)
        #expect(run.status == 0)
        // 60,000 bytes are more than 1.8 s at the bit rate of the music; three connections were heard.
        let frames = run.events("ended").first?.frames ?? 0
        #expect(frames > 3 * 44_100)
        #expect(stage.objectFiles == [])
    }
}
