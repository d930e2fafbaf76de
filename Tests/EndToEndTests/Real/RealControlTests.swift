import Foundation
import TestSupport
import Testing

/// Commands on standard input, judged by the recorded sound.
@Suite(.serialized)
struct RealControlTests {
    @Test(arguments: RealServerKind.allCases)
    func `after a seek the target's second is heard, and the pause is silent`(kind: RealServerKind)
        async throws
    {
        let stage = try await RealStage(kind)
        let path = try await MP3Fixtures.file(.init(seconds: 55))
        let web = try await stage.stage.webFolder
        try FileManager.default.copyItem(atPath: path, toPath: web + "/long.mp3")
        let music = try await RealMusic(of: [path])
        let nginx = try await stage.stage.nginx()
        let recording = try await stage.audio.runningRecord()

        let player = try stage.play([nginx.url("/long.mp3")])
        try await position(of: player, isAtLeast: 1)
        try await player.event("seeked", of: "seek 0:40")
        try await position(of: player, isAtLeast: 41)
        let paused = try #require(try await player.event("paused", of: "pause").position)
        let pausedAt = recording.frameCount
        try await wait(for: "a second of the pause") { recording.frameCount > pausedAt + 44_100 }
        try await player.event("playing", of: "play")
        try await position(of: player, isAtLeast: Int(paused) + 1)
        try player.send("seek 10")
        try await position(of: player, isAtLeast: 11, below: 40)
        try await player.quit()
        let samples = try await recording.stop()

        // The beginning, the 40th second up to the pause, what follows it, and the tenth second.
        let heard = HeardMusic(RealMusic.frames(samples), in: music.frames)
        let loose = HeardMusic.looseFrames
        let pausedFrame = Int(paused * 44_100)
        let place = pausedFrame - 4 * loose..<pausedFrame + 4 * loose
        // The pause is the longest silence there; a busy machine may have put others near it.
        let pause = zip(heard.pieces, heard.pieces.dropFirst())
            .filter { place.contains($0.0.music.upperBound) }
            .max {
                $0.1.recorded.lowerBound - $0.0.recorded.upperBound
                    < $1.1.recorded.lowerBound - $1.0.recorded.upperBound
            }
        let end = try #require(pause?.0.music.upperBound)
        let pieces = heard.pieces(apartAt: [end..<end + 1])
        #expect(pieces.count == 4, "paused at \(pausedFrame): \(heard.pieces)")
        guard pieces.count == 4 else { return }
        let first = pieces[0]
        let jumped = pieces[1]
        let resumed = pieces[2]
        let back = pieces[3]
        #expect(first.music.lowerBound < loose)
        #expect((40 * 44_100..<40 * 44_100 + loose).contains(jumped.music.lowerBound))
        #expect(abs(resumed.music.lowerBound - jumped.music.upperBound) < loose)
        #expect(place.contains(jumped.music.upperBound), "paused at \(pausedFrame): \(jumped)")
        #expect((10 * 44_100..<10 * 44_100 + loose).contains(back.music.lowerBound))
        #expect(heard.strangeCount < 4 * loose)
        // The pause: nothing but silence, and a second of it at least.
        let silence = samples[
            (jumped.recorded.upperBound + loose) * 2..<(resumed.recorded.lowerBound - loose) * 2
        ]
        #expect(silence.count > 44_100)
        #expect(silence.allSatisfy { $0 == 0 })
        #expect(nginx.accesses.allSatisfy { $0.status == 206 })
    }

    @Test(arguments: RealServerKind.allCases)
    func `a device that is chosen gets the music while it plays`(kind: RealServerKind) async throws {
        let stage = try await RealStage(kind)
        let path = try await MP3Fixtures.file(.init(seconds: 55))
        let player = try stage.play([path])
        try await position(of: player, isAtLeast: 1)
        try await stage.audio.loadNullSink("other")
        let devices = try await player.event("devices", of: "device").devices ?? []
        #expect(devices.first { $0.name == "test" }?.current == true)
        #expect(devices.first { $0.name == "other" }?.current == false)
        let recording = try stage.audio.record(of: "other")
        #expect(try await player.event("notice", of: "device nowhere").code == "bad-command")
        #expect(try await player.event("notice", of: "device other").code == "device")
        try await wait(for: "the music") { recording.soundingFrameCount > 44_100 }
        #expect(try player.events.allSatisfy { $0.event != "buffering" && $0.event != "error" })
        try await player.quit()
        let music = try await RealMusic(of: [path])
        let heard = HeardMusic(RealMusic.frames(try await recording.stop()), in: music.frames)
        let piece = try #require(heard.pieces.first)
        #expect(piece.music.lowerBound > 44_100 / 2, "the other device had what came before")
    }

    @Test(arguments: RealServerKind.allCases)
    func `the volume that was typed is heard`(kind: RealServerKind) async throws {
        let stage = try await RealStage(kind)
        let path = try await MP3Fixtures.file(.init(seconds: 55))
        let recording = try stage.audio.record()
        let player = try stage.play([path])
        try await position(of: player, isAtLeast: 1)
        try player.send("mute")
        try await wait(for: "silence") {
            try await stage.audio.pactl("list", "sink-inputs").contains("Mute: yes")
        }
        try player.send("mute")
        try player.send("volume 50")
        try await wait(for: "half the volume") {
            let inputs = try await stage.audio.pactl("list", "sink-inputs")
            return inputs.contains("Mute: no") && inputs.contains(" 50% ")
        }
        let loudest = { (frames: ArraySlice<UInt32>) -> Int in
            frames.reduce(0) { (most: Int, frame: UInt32) -> Int in
                let left = Int16(truncatingIfNeeded: frame)
                let right = Int16(truncatingIfNeeded: frame >> 16)
                return max(most, Int(left.magnitude), Int(right.magnitude))
            }
        }
        // A cubic curve: half the volume is an eighth of the amplitude. The recording comes late on a busy
        // machine.
        try await wait(for: "music at that volume") {
            let frames = recording.soundingFrames
            return loudest(frames[...]) > 7 * loudest(frames.suffix(10_000))
        }
        try await player.quit()
        _ = try await recording.stop()
    }

    @Test func `full volume that was asked for is set, where the server remembers another`() async throws {
        let stage = try await RealStage()
        try await stage.audio.pactl("load-module", "module-stream-restore")
        let path = try await MP3Fixtures.file(.init(seconds: 20))
        // The volume that was set, the one that the server remembers, and the one set afterwards.
        for (options, shown) in [(["--volume", "30"], 30), ([], 30), (["--volume", "100"], 100)] {
            let player = try stage.play([path] + options)
            try await wait(for: "\(shown) % with \(options)") {
                try await stage.audio.pactl("list", "sink-inputs").contains(" \(shown)% ")
            }
            try await player.quit()
        }
    }

    private func position(
        of player: RunningProcess,
        isAtLeast seconds: Int,
        below limit: Int = .max
    ) async throws {
        try await wait(for: "second \(seconds)") {
            let last = try player.events.last { $0.event == "position" }?.position ?? 0
            return last >= Double(seconds) && last < Double(limit)
        } seeing: {
            "\(player.lines.suffix(3))"
        }
    }
}
