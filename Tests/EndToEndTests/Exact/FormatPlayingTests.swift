import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Packed formats through the built player: everything around the samples, which `FormatExactTests` compares.
@Suite(.serialized) struct FormatPlayingTests {
    @Test(arguments: [ReferenceSong.vorbis, .opus, .long(.oggFLAC()), .long(.alac)] + ReferenceSong.m4a)
    func `a file on nginx is exact after a seek, and from the start`(song: ReferenceSong) async throws {
        let made = try await song.made
        let stage = try await Stage()
        try stage.folder.write(made.bytes, to: "web" + song.path)
        let server = try await NginxServer(serving: stage.folder.path("web"))
        let url = server.url(song.path)
        let late = try stage.session([url], options: song.options + ["--seek", "25.3"])
        let frame = song.wave.rate * 253 / 10
        let heard = try await late.finish()
        #expect(heard.count == made.pcm.count - frame * song.bytesPerFrame)
        // Opus is exact again within a second.
        expectSame(heard.suffix(100_000), as: made.pcm.suffix(100_000))
        expectSame(try await stage.session([url], options: song.options).finish(), as: made.pcm)
    }

    /// From a cold start the first answers have the head, and the others are for the seek; later requests get
    /// none.
    @Test(
        arguments: [
            (ReferenceSong.Encoding.wave, 1 + 1), (.flac(["--seekpoint=10s"]), 1 + 1),
            (.flac(["--no-seektable"]), 1 + 3), (.oggFLAC(), 1 + 2), (.vorbis(), 1 + 1 + 2),
            (.opus(), 1 + 1 + 2), (.opus(["--bitrate", "320"]), 1 + 1 + 2),
            (.m4a(isFront: true), 1 + 1), (.m4a(isFront: false), 2 + 1), (.alac, 1 + 1),
            (.adts, 1 + 3),
        ]
    )
    func `a far seek in a song of five minutes is heard after as few answers as its format allows`(
        encoding: ReferenceSong.Encoding,
        answers: Int
    ) async throws {
        let song = ReferenceSong.long(encoding, seconds: 1)
        let bytes = try await song.swelling()
        let stage = try await Stage()
        var random = SeededGenerator(seed: 5)
        for number in 0..<6 {
            // A path of its own: a late request of the player before must not take an answer.
            let path = "/\(number)" + song.path
            stage.server.set(bytes, at: path)
            stage.server.origin.script(
                Array(repeating: [], count: answers),
                thenAlways: [.silence],
                for: path
            )
            let seconds = Double(Int.random(in: 3_000..<29_000, using: &random)) / 100
            let options = ["--seek", "\(seconds)", "--cache-dir", stage.folder.path("cache-\(number)")]
            let run = try stage.session([stage.url(path)], sink: "null", options: options)
            let playing = try await run.event("playing")
            #expect(playing.exact == (encoding != .adts))
            #expect(abs((playing.position ?? 0) - seconds) < 0.01)
            try await run.quit()
        }
    }

    @Test(arguments: [ReferenceSong.Encoding.vorbis(), .opus(), .oggFLAC(), .m4a(isFront: true), .alac])
    func `two parts follow each other without a sample between them`(encoding: ReferenceSong.Encoding)
        async throws
    {
        let parts = [ReferenceSong.long(encoding, seconds: 5), .long(encoding, seconds: 4, seed: 2)]
        let made = [try await parts[0].made, try await parts[1].made]
        let stage = try await Stage(["/first": made[0].bytes, "/second": made[1].bytes])
        let run = try stage.session(
            [stage.url("/first"), stage.url("/second")],
            options: parts[0].options
        )
        expectSame(try await run.finish(), as: made[0].pcm + made[1].pcm)
    }

    @Test func `the R128 tags of Opus count with --gain only`() async throws {
        // R128 aims at -23 LUFS, and ReplayGain at -18.
        let tag = ["--comment", "R128_TRACK_GAIN=-1664"]
        let song = ReferenceSong.long(.opus(tag), seconds: 4)
        let made = try await song.made
        let stage = try await Stage([song.path: made.bytes])
        var scaled = [UInt8](made.pcm)
        let format = AudioFormat(sampleRate: song.wave.rate, channelCount: 2, sample: .f32)
        scaled.withUnsafeMutableBytes { GainStage(Loudness.Level(gain: -1.5)).apply(to: $0, of: format) }
        #expect(scaled != [UInt8](made.pcm))
        for (words, expected) in [([], made.pcm), (["--gain", "track"], Data(scaled))] {
            let run = try stage.session([stage.url(song.path)], options: song.options + words)
            expectSame(try await run.finish(), as: expected)
        }
    }

    @Test(
        arguments: [
            (ReferenceSong.adts, "libfaad.so.2", "install libfaad2 to play AAC"),
            (.alac, "libsndfile.so.1", "install libsndfile1 to play ALAC"),
        ]
    )
    func `without its library the track fails, and the package to install is named`(
        song: ReferenceSong,
        library: String,
        advice: String
    ) async throws {
        let stage = try await Stage()
        // The loader takes the first file of the name, and an empty one is no library.
        try stage.folder.write([UInt8](), to: "libraries/" + library)
        let file = try stage.folder.write(try await song.made.bytes, to: song.fileName)
        let run = try await stage.hear(
            [file],
            environment: ["LD_LIBRARY_PATH": stage.folder.path("libraries")]
        )
        let error = run.events("ended").first?.error
        #expect(error?.code == "missing-library")
        #expect(error?.message.contains(advice) == true)
    }
}
