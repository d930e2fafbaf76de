import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Live streams through the binary.
@Suite struct LiveListeningTests {
    private func tracks(_ process: RunningProcess) -> [ReportedEvent] {
        ((try? process.events) ?? []).filter { $0.event == "track" }
    }

    private func listen(to faults: [Fault], sink: String = "null") async throws -> (
        BadInputStage, TestOrigin, RunningProcess
    ) {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/radio": stage.musicBytes], faults: faults)
        let process = try stage.start(
            ["--headless", "--json", "--sink", sink, "--cache-dir", stage.cacheFolder, server.url("/radio")]
        )
        return (stage, server, process)
    }

    @Test func `station and titles are told as they are heard, and a seek is refused`() async throws {
        let titles = [LiveStream.Title(at: 1, "First Song"), LiveStream.Title(at: 40_000, "Second Song")]
        let (stage, server, process) = try await listen(to: [
            .live(LiveStream(name: "Night Radio", bitRate: 128, titles: titles))
        ])
        try await process.waitForLine { $0.contains("Second Song") }
        let told = tracks(process)
        #expect(told.compactMap(\.title).contains("First Song"))
        let last = try #require(told.last)
        #expect(last.live == true && last.station == "Night Radio")
        #expect(last.seekable == false && last.duration == nil)
        try process.send("seek 0:10")
        try await process.waitForLine { $0.contains("not-seekable") }
        #expect(server.log.requests.count == 1)
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        #expect(run.events("ended").map(\.reason) == ["skipped"])
        #expect(try await stage.keptSources() == [], "nothing of it is kept")
        #expect(stage.keptObjects == [])
    }

    @Test func `a stream that breaks off is connected to again and goes on`() async throws {
        let (stage, server, process) = try await listen(
            to: [.live(LiveStream()), .cut(afterBytes: 60_000)],
            sink: "null:fast"
        )
        try await wait(for: "four connections") { server.log.requests.count >= 4 || !process.isRunning }
        let ends = process.lines.filter { $0.contains("\"event\":\"ended\"") }
        #expect(ends.isEmpty)
        #expect(process.isRunning, "\(process.lines) \(process.errorText)")
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        // 60,000 bytes are more than 1.8 s at the bit rate of the music; three connections were heard.
        let frames = run.events("ended").first?.frames ?? 0
        #expect(frames > 3 * 44_100)
        #expect(stage.keptObjects == [])
    }
}
