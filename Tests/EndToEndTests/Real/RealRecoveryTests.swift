import Foundation
import TestSupport
import Testing

/// Audio servers that crash in mid-track, judged by the sound recorded before and the positions reported
/// after.
@Suite(.serialized)
struct RealRecoveryTests {
    private static let deaths = TestCount.isFull ? 10 : 2
    /// What the server holds ahead of the sink, in frames.
    private static let serverBuffer = 44_100 / 4

    @Test(arguments: RealServerKind.allCases)
    func `the audio server may crash in mid-track, and no more is lost than its buffer`(
        kind: RealServerKind
    ) async throws {
        let stage = try await RealStage(kind)
        let path = try await MP3Fixtures.file(.init(seconds: 55))
        let music = try await RealMusic(of: [path]).frames
        var recording = try await stage.audio.runningRecord()
        let player = try stage.play([path])
        var playing = try await player.event("playing")
        for death in 1...Self.deaths {
            let begun = recording.soundingFrameCount
            try await wait(for: "a second of music") { recording.soundingFrameCount > begun + 44_100 }
            let count = player.lines.count
            try await stage.audio.crash()
            let recorded = RealMusic.frames(try await recording.stop())
            try await player.event("buffering", after: count)
            try await stage.audio.start()
            recording = try stage.audio.record()
            let before = Int(try #require(playing.position) * 44_100)
            playing = try await player.event("playing", after: count)
            let again = Int(try #require(playing.position) * 44_100)
            let last = try #require(lastPlace(of: recorded, in: music, from: before), "death \(death)")
            // Never before the heard position, and beyond it by at most the frames that the server had taken.
            let loose = HeardMusic.looseFrames
            #expect(again > last - loose, "death \(death): from \(last) to \(again)")
            #expect(again < last + Self.serverBuffer + loose, "death \(death): from \(last) to \(again)")
            #expect(playing.exact == true)
        }
        try await player.quit()
        #expect(try player.events.filter { $0.code == "audio-lost" }.count == Self.deaths)
        _ = try await recording.stop()
    }

    /// Where in the music, behind frame `start`, the last of a recording stands; its end.
    ///
    /// Pieces that a busy machine has interrupted are skipped: the last complete one counts.
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

    /// A player of 55 seconds that are heard, whose first position was reported, and their frames.
    private func playing(
        on kind: RealServerKind
    ) async throws -> (stage: RealStage, player: RunningProcess, music: [UInt32]) {
        let stage = try await RealStage(kind)
        let path = try await MP3Fixtures.file(.init(seconds: 55))
        let player = try stage.play([path])
        try await player.event("position")
        return (stage, player, try await RealMusic(of: [path]).frames)
    }

    // PipeWire ends no stream for a sink that goes: it plays into a silent one until there is another.
    @Test func `PipeWire may lose its sink, and the music goes on in the one that comes`() async throws {
        let (stage, player, music) = try await playing(on: .pipeWire)
        try await stage.audio.pactl("unload-module", "module-null-sink")
        let count = player.lines.count
        let between = try #require(try await player.event("position", after: count).position)
        try await stage.audio.loadNullSink("test")
        let recording = try stage.audio.record()
        try await wait(for: "the new sink") { recording.frameCount > 0 }
        for _ in 0..<3 { try await player.event("position", after: player.lines.count) }
        try await player.quit()
        let heard = HeardMusic(RealMusic.frames(try await recording.stop()), in: music)
        // A busy machine puts silence between the pieces.
        #expect(heard.pieces(apartAt: []).contains { $0.music.count > 44_100 }, "\(heard.pieces)")
        // The new sink may play again what the first one still had in its buffer.
        let earliest = Int((between - 0.5) * 44_100)
        #expect(heard.pieces.allSatisfy { $0.music.lowerBound > earliest }, "\(heard.pieces)")
        #expect(try player.events.allSatisfy { $0.event != "buffering" && $0.event != "error" })
    }

    @Test(arguments: RealServerKind.allCases)
    func `a stream that is moved to another sink goes on there, and the first sink may go`(
        kind: RealServerKind
    ) async throws {
        let (stage, player, music) = try await playing(on: kind)
        let module = try await stage.audio.pactl("list", "short", "modules")
            .split(separator: "\n").first { $0.contains("sink_name=test") }?.prefix { $0.isNumber }
        try await stage.audio.loadNullSink("other")
        let stream = try await stage.audio.pactl("list", "short", "sink-inputs").prefix { $0.isNumber }
        let recording = try stage.audio.record(of: "other")
        // PipeWire may forget a move that comes while it still links the stream to its first sink.
        try await wait(for: "the move") {
            try await stage.audio.pactl("move-sink-input", String(stream), "other")
            return recording.soundingFrameCount > 0
        }
        try await wait(for: "music in the other sink") { recording.soundingFrameCount > 2 * 44_100 }
        try await stage.audio.pactl("unload-module", String(try #require(module)))
        let count = recording.soundingFrameCount
        try await wait(for: "music without the first sink") {
            recording.soundingFrameCount > count + 2 * 44_100
        }
        try await player.quit()
        let heard = HeardMusic(RealMusic.frames(try await recording.stop()), in: music)
        // The music after the move is heard unchanged, without a gap.
        let pieces = heard.pieces(apartAt: [])
        #expect(pieces.contains { $0.music.count > 3 * 44_100 }, "\(heard.pieces)")
        #expect(try player.events.allSatisfy { $0.event != "buffering" && $0.event != "error" })
    }
}
