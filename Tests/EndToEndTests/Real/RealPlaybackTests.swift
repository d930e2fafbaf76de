import Foundation
import TestSupport
import Testing

/// The whole path with real parts: nginx, the built player and PulseAudio, judged by the recorded sound.
@Suite(.serialized)
struct RealPlaybackTests {
    /// Where the three tracks meet.
    private static let cuts = [2 * 44_100 + 10_007, 4 * 44_100 + 30_011]

    @Test func `a playlist from nginx is heard without a gap, and again with nginx stopped`() async throws {
        let real = try await RealStage()
        let stage = real.stage
        let pieces = try await RealMusic.pieces(seconds: 6, cuts: Self.cuts, in: stage.webFolder)
        try stage.folder.write("#EXTM3U\npiece-1.mp3\npiece-2.mp3\npiece-3.mp3\n", to: "web/list.m3u8")
        let music = try await RealMusic(of: pieces)
        let nginx = try await stage.nginx()

        try await expectHeard(music, real, [nginx.url("/list.m3u8")])
        let songs = nginx.accesses.filter { $0.target.hasSuffix(".mp3") }
        #expect(songs.allSatisfy { $0.status == 206 && $0.range.hasPrefix("bytes=") })
        let sizes = try pieces.map { try #require(FileManager.default.contents(atPath: $0)).count }
        #expect(songs.map(\.bytes).reduce(0, +) == sizes.reduce(0, +))

        #expect(try await stage.play([nginx.url("/list.m3u8")]).status == 0)
        #expect(nginx.accesses.filter { $0.target.hasSuffix(".mp3") } == songs)

        try await nginx.stop()
        let last = try await expectHeard(music, real, ["--offline", nginx.url("/list.m3u8")])
        #expect(last.requests == 0)
        #expect(last.bytes?.fetched == 0)
        #expect(last.bytes?.cached == Int64(sizes.reduce(0, +)))
    }

    /// Plays, and compares every sample heard with the music. Returns the summary.
    @discardableResult
    private func expectHeard(
        _ music: RealMusic,
        _ real: RealStage,
        _ arguments: [String]
    ) async throws -> ReportedEvent {
        let recording = try await real.audio.runningRecord()
        let player = try real.play(arguments)
        #expect(try await player.waitForExit() == 0, "\(player.errorText)")
        let samples = try await recording.stopAfterSilence()
        let heard = HeardMusic(RealMusic.frames(samples), in: music.frames)
        // One piece: nothing lost, doubled or silent between the first frame heard and the last.
        expectWhole(heard, of: music, cuts: Self.cuts)
        #expect(heard.strangeCount < HeardMusic.looseFrames)
        #expect(secondsHeard(samples) == Array(0..<6))
        let events = try player.events
        let frames = events.filter { $0.event == "ended" }.compactMap(\.frames).reduce(0, +)
        #expect(frames == Int64(music.frames.count))
        let last = try #require(events.last)
        #expect(last.stalls == 0)
        return last
    }
}
