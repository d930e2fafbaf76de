import Foundation
import TestSupport
import Testing

/// The whole path with real parts: nginx, the built player and PulseAudio, judged by the recorded sound.
@Suite(.serialized)
struct RealPlaybackTests {
    /// Where the three tracks meet.
    private static let cuts = [3 * 44_100 + 10_007, 6 * 44_100 + 30_011]

    @Test func `a playlist from nginx is heard without a gap, and again with nginx stopped`() async throws {
        let stage = try await RealStage()
        let pieces = try await RealMusic.pieces(seconds: 9, cuts: Self.cuts, in: stage.webFolder)
        try stage.folder.write("#EXTM3U\npiece-1.mp3\npiece-2.mp3\npiece-3.mp3\n", to: "web/list.m3u8")
        let music = try await RealMusic(of: pieces)
        let nginx = try await NginxServer(serving: stage.webFolder)

        try await expectHeard(music, stage, [nginx.url("/list.m3u8")])
        let songs = nginx.accesses.filter { $0.target.hasSuffix(".mp3") }
        #expect(songs.allSatisfy { $0.status == 206 && $0.range.hasPrefix("bytes=") })
        let sizes = try pieces.map { try #require(FileManager.default.contents(atPath: $0)).count }
        #expect(songs.map(\.bytes).reduce(0, +) == sizes.reduce(0, +))

        let replay = try stage.play(["--sink", "null:fast", nginx.url("/list.m3u8")])
        #expect(try await replay.waitForExit() == 0)
        #expect(nginx.accesses.filter { $0.target.hasSuffix(".mp3") } == songs)

        try await nginx.stop()
        let last = try await expectHeard(music, stage, ["--offline", nginx.url("/list.m3u8")])
        #expect(last.requests == 0)
        #expect(last.bytes?.fetched == 0)
        #expect(last.bytes?.cached == Int64(sizes.reduce(0, +)))
    }

    /// Plays, and compares every sample heard with the music. Returns the summary.
    @discardableResult
    private func expectHeard(
        _ music: RealMusic,
        _ stage: RealStage,
        _ arguments: [String]
    ) async throws -> ReportedEvent {
        let recording = try stage.audio.record()
        try await wait(for: "the recording to run") { recording.frameCount > 0 }
        let player = try stage.play(["--sink", "pulse:test"] + arguments)
        #expect(try await player.waitForExit() == 0, "\(player.errorText)")
        let atEnd = recording.frameCount
        try await wait(for: "silence behind the music") { recording.frameCount > atEnd + 22_050 }
        let samples = try await recording.stop()
        let heard = HeardMusic(RealMusic.frames(samples), in: music.frames)
        // One piece: nothing lost, doubled or silent between the first frame heard and the last.
        expectWhole(heard, of: music, cuts: Self.cuts)
        #expect(heard.strangeCount < HeardMusic.looseFrames)
        #expect(secondsHeard(samples) == Array(0..<9))
        let events = try player.events
        #expect(
            events.filter { $0.event == "ended" }.compactMap(\.frames).reduce(0, +)
                == Int64(music.frames.count)
        )
        let last = try #require(events.last)
        #expect(last.stalls == 0)
        return last
    }
}
