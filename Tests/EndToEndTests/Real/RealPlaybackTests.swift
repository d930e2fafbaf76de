import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// The whole path with real parts: nginx, the built player and PulseAudio, judged by the recorded sound.
@Suite(.serialized)
struct RealPlaybackTests {
    @Test func `a playlist from nginx is heard without a gap, and again with nginx stopped`() async throws {
        let real = try await RealStage()
        let stage = real.stage
        let pieces = try await RealMusic.pieces(in: stage.webFolder)
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

    @Test func `over a line of 200 ms three pieces of one wave are exactly the wave's samples`() async throws
    {
        let stage = try await Stage()
        let (music, sources, server) = try await serve(stage)
        let sound = try await stage.session(sources).finish()
        expectSame(sound, as: music.frames.withUnsafeBytes { Data($0) })
        await server.stop()
    }

    @Test(arguments: RealServerKind.allCases)
    func `over a line of 200 ms the next track is there before it is needed, and no gap is heard`(
        kind: RealServerKind
    ) async throws {
        let real = try await RealStage(kind)
        let (music, sources, server) = try await serve(real.stage)
        try await expectHeard(music, real, sources)
        await server.stop()
    }

    /// Serves three pieces of one wave 200 ms away.
    private func serve(_ stage: Stage) async throws -> (
        music: RealMusic, sources: [String], server: TestOrigin
    ) {
        let paths = try await RealMusic.pieces(in: stage.folder.path)
        let server = try TestOrigin(
            folder: stage.folder.path,
            shaping: Shaping(roundTrip: .milliseconds(200), bytesPerSecond: 400_000)
        )
        return (try await RealMusic(of: paths), (1...3).map { server.url("/piece-\($0).mp3") }, server)
    }

    /// Plays three tracks, and compares every sample heard with the music. Returns the summary.
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
        expectWhole(heard, of: music)
        #expect(heard.strangeCount < HeardMusic.looseFrames)
        #expect(secondsHeard(samples) == Array(0..<6))
        let events = try player.events
        #expect(events.count { $0.event == "playing" } == 3)
        let frames = events.filter { $0.event == "ended" }.compactMap(\.frames).reduce(0, +)
        #expect(frames == Int64(music.frames.count))
        let last = try #require(events.last)
        #expect(last.stalls == 0)
        return last
    }
}
