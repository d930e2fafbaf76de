import Foundation
import TestSupport
import Testing

/// Audio servers that crash in mid-track, judged by what was recorded before and told after.
@Suite(.serialized)
struct RealRecoveryTests {
    private static let deaths = TestCount.isFull ? 10 : 2
    /// What the server holds ahead of the sink, in frames.
    private static let serverBuffer = 44_100 / 4

    @Test func `PulseAudio may crash in mid-track, and no more is lost than what it held`() async throws {
        let server = try await PulseServer()
        try await survive(server.environment, crash: server.crash, start: server.start, record: server.record)
    }

    @Test func `PipeWire may crash in mid-track, and no more is lost than what it held`() async throws {
        let server = try await PipeWireServer()
        try await survive(server.environment, crash: server.crash, start: server.start, record: server.record)
    }

    private func survive(
        _ environment: [String: String],
        crash: () async throws -> Void,
        start: () async throws -> Void,
        record: () throws -> PulseRecording
    ) async throws {
        let path = try await MP3Fixtures.file(.init(seconds: 55))
        let music = try await RealMusic(of: [path]).frames
        var recording = try record()
        try await wait(for: "the recording to run") { recording.frameCount > 0 }
        let player = try RunningProcess(
            BuiltProducts.reprise,
            ["--headless", "--json", "--no-cache", "--sink", "pulse:test", path],
            environment: environment.mapValues { Optional($0) }
        )
        var playing = try await player.event("playing")
        for death in 1...Self.deaths {
            let begun = recording.frameCount
            try await wait(for: "a second of music") { recording.frameCount > begun + 44_100 }
            let count = player.lines.count
            try await crash()
            let recorded = RealMusic.frames(try await recording.stop())
            try await player.event("buffering", after: count)
            try await start()
            recording = try record()
            let before = Int(try #require(playing.position) * 44_100)
            playing = try await player.event("playing", after: count)
            let again = Int(try #require(playing.position) * 44_100)
            let found = lastPlace(of: recorded, in: music, from: before)
            let last = try #require(found, "death \(death): music is in the recording")
            // Never back behind what was heard, and on by what the server had taken at most.
            let loose = HeardMusic.looseFrames
            #expect(again > last - loose, "death \(death): from \(last) to \(again)")
            #expect(again < last + Self.serverBuffer + loose, "death \(death): from \(last) to \(again)")
            #expect(playing.exact == true)
        }
        try player.send("quit")
        #expect(try await player.waitForExit() == 0)
        #expect(try player.events.filter { $0.code == "audio-lost" }.count == Self.deaths)
        _ = try await recording.stop()
    }

    /// Where in the music, behind frame `start`, the last of a recording stands; its end.
    ///
    /// What a busy machine has broken there is passed over: the last that is whole counts.
    private func lastPlace(of recorded: [UInt32], in music: [UInt32], from start: Int) -> Int? {
        let length = HeardMusic.shortest
        // Nothing can have been heard that took longer than the recording.
        let limit = min(music.count - length, start + recorded.count)
        guard let heard = recorded.lastIndex(where: { $0 != 0 }), start < limit else { return nil }
        for end in stride(from: heard + 1, through: max(length, heard - 44_100), by: -length / 4) {
            guard end >= length else { return nil }
            let tail = recorded[end - length..<end]
            let place = (start..<limit).last {
                music[$0] == recorded[end - length] && music[$0..<$0 + length].elementsEqual(tail)
            }
            if let place { return place + length }
        }
        return nil
    }

    @Test func `a sink that is taken away and comes back goes on with the music`() async throws {
        let stage = try await RealStage()
        let path = try await MP3Fixtures.file(.init(seconds: 55))
        let player = try stage.play(["--sink", "pulse:test", path])
        try await player.event("position")
        let count = player.lines.count
        _ = try await stage.audio.pactl("unload-module", "module-null-sink")
        let stalled = try await player.event("buffering", after: count)
        _ = try await stage.audio.pactl("load-module", "module-null-sink", "sink_name=test", "rate=44100")
        let playing = try await player.event("playing", after: count)
        #expect(playing.position == stalled.position)
        try player.send("quit")
        #expect(try await player.waitForExit() == 0)
    }
}
