import Foundation
import TestSupport
import Testing

/// A real radio station, Icecast, through the binary.
@Suite struct RadioListeningTests {
    @Test func `a station plays with its name and its titles, cannot be seeked, and nothing of it is cached`()
        async throws
    {
        let stage = try await Stage()
        let icecast = try await IcecastServer()
        let song = try await MP3Fixtures.file(MP3Fixtures.Options(seconds: 120))
        let source = try await icecast.broadcast(song, at: "/live.mp3", name: "Nachtprogramm Köln")
        try await icecast.announce("Björk - Jóga", at: "/live.mp3")
        let process = try stage.startPlaying([icecast.url("/live.mp3")], sink: "null:fast")
        try await process.waitForLine { $0.contains("Björk - Jóga") }
        try await process.event("playing")
        try await icecast.announce("Can - Vitamin C", at: "/live.mp3")
        try await process.waitForLine { $0.contains("Can - Vitamin C") }
        let tracks = try process.events.filter { $0.event == "track" }
        let last = try #require(tracks.last)
        #expect(last.station == "Nachtprogramm Köln" && last.live == true)
        #expect(last.seekable == false && last.duration == nil && last.cached == nil)
        #expect(tracks.compactMap(\.title).suffix(2) == ["Björk - Jóga", "Can - Vitamin C"])
        try process.send("seek 0:01")
        try await process.waitForLine { $0.contains("not-seekable") }
        #expect(!process.lines.contains { $0.contains("\"event\":\"seeked\"") })
        try process.send("quit")
        let run = try await Ending(of: process)
        #expect(run.status == 0)
        #expect(run.events("ended").map(\.reason) == ["skipped"])
        #expect(run.events("ended").first?.frames ?? 0 > 44_100)
        #expect(run.events("ended").first?.bytes?.cached == 0)
        #expect(try await stage.cachedSources() == [] && stage.objectFiles == [])
        source.signal(15)
        try await source.waitForExit()
    }
}
