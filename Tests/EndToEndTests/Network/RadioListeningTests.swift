import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Radio through the binary: a real station, Icecast, and a stream that breaks off.
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
        let run = try await process.quit()
        #expect(run.events("ended").map(\.reason) == ["skipped"])
        #expect(run.events("ended").first?.frames ?? 0 > 44_100)
        #expect(run.events("ended").first?.bytes?.cached == 0)
        #expect(try await stage.cachedSources() == [] && stage.objectFiles == [])
        source.signal(15)
        try await source.waitForExit()
    }

    @Test(arguments: ["oggenc", "opusenc"])
    func `a station whose songs are Ogg streams in a chain plays on, and shows the title of each`(
        tool: String
    )
        async throws
    {
        let stage = try await Stage()
        var chain: [UInt8] = []
        // The last is long: the station must not end before the player was told to quit.
        for (title, seconds) in [("First", 6), ("Second", 6), ("Third", 30)] {
            let music = MadeWave(rate: 48_000, frames: 48_000 * seconds, loudness: 0.1)
            let wave = try stage.folder.write(music.bytes, to: "a.wav")
            let path = stage.folder.path(title)
            let output = tool == "oggenc" ? ["-Q", "-o", path, wave] : ["--quiet", wave, path]
            _ = try await RunningProcess.run(tool, ["--artist", "Björk", "--title", title] + output)
            chain += [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        let icecast = try await IcecastServer()
        let song = try stage.folder.write(chain, to: "chain.ogg")
        let type = "application/ogg"
        let source = try await icecast.broadcast(song, at: "/live.ogg", name: "Radio", type: type)
        let process = try stage.startPlaying([icecast.url("/live.ogg")], sink: "null:fast")
        try await process.waitForLine { $0.contains("Björk - Second") }
        try await process.waitForLine { $0.contains("Björk - Third") }
        let tracks = try process.events.filter { $0.event == "track" }
        #expect(tracks.last?.station == "Radio" && tracks.last?.live == true)
        let run = try await process.quit()
        #expect(run.events("ended").map(\.reason) != ["failed"])
        #expect(run.events("ended").first?.frames ?? 0 > 48_000 * 6)
        source.signal(15)
        try await source.waitForExit()
    }

    @Test(arguments: ["audio/aac", "audio/aacp"])
    func `a station of AAC plays with its titles`(type: String) async throws {
        let stage = try await Stage()
        let icecast = try await IcecastServer()
        let wave = MadeWave(rate: 44_100, frames: 44_100 * 60, loudness: 0.1)
        let input = try stage.folder.write(wave.bytes, to: "a.wav")
        let song = stage.folder.path("song.aac")
        let words = ["-v", "error", "-nostdin", "-i", input, "-c:a", "aac", "-b:a", "128k", song]
        _ = try await RunningProcess.run("ffmpeg", words)
        let source = try await icecast.broadcast(song, at: "/live.aac", name: "Radio", type: type)
        try await icecast.announce("Björk - Jóga", at: "/live.aac")
        let process = try stage.startPlaying([icecast.url("/live.aac")], sink: "null:fast")
        try await process.waitForLine { $0.contains("Björk - Jóga") }
        try await process.event("playing")
        try await icecast.announce("Can - Vitamin C", at: "/live.aac")
        try await process.waitForLine { $0.contains("Can - Vitamin C") }
        let tracks = try process.events.filter { $0.event == "track" }
        #expect(tracks.last?.station == "Radio" && tracks.last?.live == true && tracks.last?.duration == nil)
        let run = try await process.quit()
        #expect(run.events("ended").map(\.reason) == ["skipped"])
        #expect(run.events("ended").first?.frames ?? 0 > 44_100)
        source.signal(15)
        try await source.waitForExit()
    }

    @Test func `a stream that breaks off is connected again and goes on`() async throws {
        let stage = try await Stage(["/radio": MP3Fixtures.bytes(.init(seconds: 2))])
        stage.server.origin.setFaults([.live(LiveStream()), .cut(afterBytes: 60_000)], for: "/radio")
        let process = try stage.startPlaying([stage.url("/radio")], sink: "null:fast")
        try await wait(for: "four connections") { stage.server.log.requests.count >= 4 || !process.isRunning }
        let ends = process.lines.filter { $0.contains("\"event\":\"ended\"") }
        #expect(ends.isEmpty)
        #expect(process.isRunning, "\(process.lines) \(process.errorText)")
        try await wait(for: "sound of three connections") {
            process.lines.count { $0.contains("\"event\":\"playing\"") } >= 3
        }
        let run = try await process.quit()
        // 60,000 bytes are more than 1.8 s at the bit rate of the music; three connections were heard.
        let frames = run.events("ended").first?.frames ?? 0
        #expect(frames > 3 * 44_100)
        #expect(stage.objectFiles == [])
    }
}
