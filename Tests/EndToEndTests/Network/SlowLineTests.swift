import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Music over a line that is slower than it, through the binary.
@Suite struct SlowLineTests {
    /// A minute at 16 kB/s.
    private static let music = MP3Fixtures.Options(seconds: 60, rate: .constant(128))
    private static let line = Shaping(bytesPerSecond: 9_000)

    @Test func `each stall is followed by a longer piece of music`() async throws {
        let stage = try await Stage(try await MP3Fixtures.bytes(Self.music))
        stage.server.origin.shaping = Self.line
        let process = try stage.startPlaying([stage.url()])
        var starts: [Double] = []
        var stalls: [Double] = []
        // Each event is the next one behind the last, however many have come by the time that this test
        // looks.
        var count = 0
        func next(_ name: String) async throws -> ReportedEvent {
            let event = try await process.event(name, after: count)
            count = try #require(try process.events.firstIndex(of: event)) + 1
            return event
        }
        while stalls.count < 3 {
            starts.append(try #require(try await next("playing").position))
            stalls.append(try #require(try await next("buffering").position))
        }
        #expect(stalls[1] - starts[1] >= 1 && stalls[2] - starts[2] >= 2, "\(starts) \(stalls)")
        // The third refill is longer than the ring between decoder and sink.
        let position = try await next("position")
        #expect(try #require(position.position) > stalls[2] && position.buffered ?? 0 >= 3, "\(position)")
        try await process.quit()
    }

    @Test func `the screen shows the rate of the line and that of the music`() async throws {
        let folder = try TemporaryFolder()
        let server = try TestOrigin(["/a.mp3": try await MP3Fixtures.bytes(Self.music)], shaping: Self.line)
        let stage = try await ScreenStage([server.url("/a.mp3")], folder: folder)
        try await stage.waitForStatus("Buffering…  line ")
        try await stage.waitForStatus(containing: " kB/s, music 16 kB/s  vol ")
        try await stage.quit()
    }
}
