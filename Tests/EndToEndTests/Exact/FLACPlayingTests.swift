import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// FLAC through the built player: everything around the samples, which `FormatExactTests` compares.
@Suite(.serialized) struct FLACPlayingTests {
    private static let path = "/song.flac"
    /// Twelve seconds of CD audio, 1.4 MB.
    private static let wave = MadeWave(rate: 44_100, frames: 44_100 * 12, seed: 3, loudness: 0.1)

    private static func pcm(_ bytes: [UInt8]) async throws -> Data {
        Data(try await FLACFixtures.referencePCM(of: bytes))
    }

    @Test func `nginx serves every sample, scaled by the tag's gain if asked for`() async throws {
        let tag = "--tag=REPLAYGAIN_TRACK_GAIN=-6.5 dB"
        let bytes = try await FLACFixtures.bytes(of: Self.wave.bytes, [tag])
        let stage = try await Stage()
        try stage.folder.write(bytes, to: "web" + Self.path)
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let plain = try await Self.pcm(bytes)
        var scaled = [UInt8](plain)
        scaled.withUnsafeMutableBytes {
            GainStage(Loudness.Level(gain: -6.5))
                .apply(to: $0, of: AudioFormat(sampleRate: 44_100, channelCount: 2))
        }
        for (gain, expected) in [("off", plain), ("track", Data(scaled))] {
            let run = try stage.session([server.url(Self.path)], options: ["--gain", gain])
            expectSame(try await run.finish(), as: expected)
        }
        #expect(server.accesses.allSatisfy { $0.status == 206 })
        #expect(server.accesses.reduce(0) { $0 + $1.bytes } == bytes.count)
    }

    @Test func `the parts of one signal follow each other without a sample between them, also as WAV`()
        async throws
    {
        let first = try await FLACFixtures.bytes(of: Self.wave.bytes, ["--until=150001"])
        let second = try await FLACFixtures.bytes(of: Self.wave.bytes, ["--skip=150001", "--until=300000"])
        var last = Self.wave
        last.frames = 44_100
        let stage = try await Stage(["/1.flac": first, "/2.flac": second, "/3.wav": last.bytes])
        let urls = ["/1.flac", "/2.flac", "/3.wav"].map { stage.url($0) }
        let expected = Data(Self.wave.pcm.prefix(300_000 * 4) + last.pcm)
        let run = try stage.session(urls)
        expectSame(try await run.finish(), as: expected)
        #expect(try run.ends.map(\.reason) == ["finished", "finished", "finished"])
    }

    @Test func `a hundred flipped bytes and 20 KB of zeros are silent, and all around them plays`()
        async throws
    {
        var bytes = try await FLACFixtures.bytes(of: Self.wave.bytes)
        let expected = [UInt8](try await Self.pcm(bytes))
        var random = SeededGenerator(seed: 6)
        for _ in 0..<100 {
            bytes[Int.random(in: 900_000..<1_100_000, using: &random)] ^= UInt8.random(
                in: 1...255,
                using: &random
            )
        }
        for index in 400_000..<420_000 { bytes[index] = 0 }
        let stage = try await Stage([Self.path: bytes])
        let run = try stage.session([stage.url(Self.path)])
        let heard = [UInt8](try await run.finish())
        try #require(heard.count == expected.count)
        #expect(try run.ends.map(\.frames) == [Int64(Self.wave.frames)])
        // Blocks of 4,096 frames are what is silent.
        let block = 4_096 * 4
        var silent = 0
        for start in stride(from: 0, to: heard.count, by: block) {
            let range = start..<min(start + block, heard.count)
            if heard[range] == expected[range] { continue }
            silent += 1
            #expect(heard[range].allSatisfy { $0 == 0 }, "the block at \(start)")
        }
        // The zeros touch three blocks at most, and the flips those of a seventh of the file.
        #expect((3..<30).contains(silent), "\(silent)")
    }

    @Test func `the commands for the cache know it`() async throws {
        let tags = ["--tag=TITLE=Shore", "--tag=ARTIST=Someone"]
        let bytes = try await FLACFixtures.bytes(of: Self.wave.bytes, tags)
        let stage = try await Stage([Self.path: bytes])
        stage.server.set(Array("#EXTM3U\nsong.flac\n".utf8), at: "/list.m3u8")
        let fetched = try await stage.cache("fetch", "--json", stage.url("/list.m3u8"))
        #expect(fetched.status == 0, "\(fetched.errors)")
        #expect(try fetched.objects.first?["fetched"] as? Int == bytes.count)
        let list = try await stage.cache("list", "--json")
        let row = try #require(try list.objects.first { $0["title"] as? String == "Shore" })
        #expect(row["artist"] as? String == "Someone" && row["source"] as? String == stage.url(Self.path))
        let info = try #require(try await stage.info(Self.path))
        #expect(info["complete"] as? Bool == true && info["duration"] as? Double == 12)
        let exported = try await stage.cache("export", stage.url(Self.path), "-")
        #expect(exported.status == 0 && exported.bytes == bytes)
        await stage.server.stop()
        let offline = try stage.session([stage.url(Self.path)], options: ["--offline"])
        expectSame(try await offline.finish(), as: try await Self.pcm(bytes))
    }

    @Test func `a file that is damaged at its server is named by cache verify, and stays`() async throws {
        var bytes = try await FLACFixtures.bytes(of: Self.wave.bytes)
        let stage = try await Stage(["/good.flac": bytes])
        // The MD5 of the samples.
        bytes[30] ^= 1
        stage.server.set(bytes, at: Self.path)
        for path in ["/good.flac", Self.path] { try await stage.fetch(path) }
        let verified = try await stage.cache("verify")
        #expect(verified.status == 3)
        #expect(verified.lines.first == "damaged at the server (wrong MD5): \(stage.url(Self.path))")
        #expect(verified.lines.last?.hasSuffix("all as downloaded, nothing was deleted") == true)
        #expect(try await stage.info(Self.path)?["complete"] as? Bool == true)
    }

    /// 8 channels: of 24 bits in the longest blocks that players must support (RFC 9639 §7) and in the
    /// longest ones that there are, of 16 bits in these, and of 32 bits without FLAC.
    @Test(
        arguments: [(96_000, 16_384), (192_000, 65_535), (44_100, 65_535), (192_000, nil)] as [(Int, Int?)]
    )
    func `the longest frames and the fastest samples take at most 14 MB of anonymous memory`(
        rate: Int,
        block: Int?
    ) async throws {
        let samples = block == nil ? MadeWave.Samples.s32 : rate == 44_100 ? .s16 : .s24
        var wave = MadeWave(samples: samples, channels: 8, rate: rate, frames: rate * 6, loudness: 0.3)
        wave.header = .extensible(mask: 0x63F)
        var bytes = wave.bytes
        if let block {
            bytes = try await FLACFixtures.bytes(of: bytes, ["--blocksize=\(block)"])
        }
        let stage = try await Stage([Self.path: bytes])
        // The last second is held back, so that the player is still there when its memory is read.
        let gate = stage.server.origin.hold(Self.path, .afterBytesTogether(Int64(bytes.count * 5 / 6)))
        let run = try stage.session([stage.url(Self.path)], sink: "null")
        // The most that is seen: while the first bytes arrive faster than the disk takes them, more is held
        // than later.
        var most = 0
        try await wait(for: "three seconds") {
            most = max(most, try run.anonymousKilobytes())
            return try run.events.contains { $0.position ?? 0 >= 3 }
        }
        #expect(most <= 14 << 10, "\(most) kB")
        try await run.quit()
        gate.release()
    }

    @Test func `the screen names the codec, the bits and the rate`() async throws {
        let studio = MadeWave(samples: .s24, rate: 96_000, frames: 96_000 * 20, seed: 3, loudness: 0.1)
        let folder = try TemporaryFolder()
        let file = try folder.write(try await FLACFixtures.bytes(of: studio.bytes), to: "song.flac")
        let stage = try await ScreenStage.playing([file], folder: folder)
        try await stage.keys("2")
        try await stage.terminal.wait(for: "FLAC, 24 bits · ")
        try await stage.terminal.wait(for: " kbit/s · 96.0 kHz · stereo")
        try await stage.keys("I")
        try await stage.terminal.wait(for: "FLAC, 24 bits, 96.0 kHz, stereo")
        try await stage.quit()
    }

    /// A recorder does not know the length when it writes the head.
    @Test func `a recording in progress plays to the end of its bytes`() async throws {
        let raw = ["--force-raw-format", "--endian=little", "--sign=signed", "--channels=2", "--bps=16"]
        let stage = try await Stage()
        let seconds = 20
        var wave = Self.wave
        wave.frames = 44_100 * seconds
        let input = try stage.folder.write(wave.pcm, to: "in.raw")
        let script =
            "flac --silent \(raw.joined(separator: " ")) --sample-rate=44100 -c - <\"$1\" | cat >\"$2\""
        let whole = stage.folder.path("whole.flac")
        _ = try await RunningProcess.run("sh", ["-c", script, "sh", input, whole])
        let bytes = try #require(stage.content("whole.flac"))
        let second = bytes.count / seconds
        // Nine seconds more than the player reads ahead: for so long, a busy machine may keep this test from
        // writing.
        var written = 12 * second
        let path = try stage.folder.write(Array(bytes[..<written]), to: "web" + Self.path)
        let server = try await NginxServer(
            serving: stage.folder.path("web"),
            extra: "etag off; add_header Last-Modified \"\";"
        )
        let run = try stage.startPlaying(["--read-ahead", "64kB", server.url(Self.path)])
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        // Grows twice as fast as it is played.
        while written < bytes.count {
            try await run.event("position", after: run.lines.count)
            let end = min(bytes.count, written + 2 * second)
            try file.write(contentsOf: Data(bytes[written..<end]))
            written = end
        }
        let end = try await run.event("ended")
        #expect(end.reason == "finished" && end.frames == Int64(wave.frames), "\(run.lines)")
        #expect(try await run.waitForExit() == 0)
    }
}
