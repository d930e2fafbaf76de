import Foundation
import Media
import TestSupport
import Testing

@testable import Decoding

/// Files that sox and ffmpeg make play as ffmpeg decodes them.
@Suite struct PCMReferenceTests {
    /// A file by `tool`, from 24-bit noise, and the format in which ffmpeg decodes it without loss.
    struct Made: Sendable, CustomTestStringConvertible {
        var tool: String
        var ending: String
        var arguments: [String]
        var pcm: String
        var channels = 2
        /// `true` if the tool writes into a pipe, and so cannot state the sizes.
        var isPiped = false

        var testDescription: String {
            ([tool, ending] + arguments).joined(separator: " ") + (isPiped ? " | cat" : "")
        }
    }

    static let made: [Made] = {
        let codecs = [
            ("pcm_u8", "s16le"), ("pcm_s16le", "s16le"), ("pcm_s24le", "s32le"), ("pcm_s32le", "s32le"),
            ("pcm_f32le", "f32le"), ("pcm_f64le", "f32le"),
        ]
        let byFFmpeg = codecs.map {
            Made(tool: "ffmpeg", ending: "wav", arguments: ["-c:a", $0.0], pcm: $0.1)
        }
        let encodings = [
            ("unsigned-integer", "8", "s16le"), ("signed-integer", "16", "s16le"),
            ("signed-integer", "24", "s32le"),
            ("signed-integer", "32", "s32le"), ("floating-point", "32", "f32le"),
            ("floating-point", "64", "f32le"),
        ]
        let bySox = encodings.map {
            Made(tool: "sox", ending: "wav", arguments: ["-e", $0.0, "-b", $0.1], pcm: $0.2)
        }
        return byFFmpeg + bySox + [
            Made(tool: "ffmpeg", ending: "wav", arguments: ["-c:a", "pcm_s24le"], pcm: "s32le", channels: 6),
            Made(
                tool: "ffmpeg",
                ending: "wav",
                arguments: ["-c:a", "pcm_s16le", "-rf64", "always"],
                pcm: "s16le"
            ),
            Made(
                tool: "ffmpeg",
                ending: "wav",
                arguments: ["-c:a", "pcm_s24le"],
                pcm: "s32le",
                isPiped: true
            ),
            Made(
                tool: "ffmpeg",
                ending: "wav",
                arguments: ["-c:a", "pcm_u8"],
                pcm: "s16le",
                channels: 1,
                isPiped: true
            ),
            Made(tool: "sox", ending: "wav", arguments: ["-b", "16"], pcm: "s16le", isPiped: true),
            Made(tool: "sox", ending: "wav", arguments: ["-b", "24"], pcm: "s32le", channels: 8),
            Made(tool: "ffmpeg", ending: "aiff", arguments: ["-c:a", "pcm_s16be"], pcm: "s16le"),
            Made(
                tool: "ffmpeg",
                ending: "aiff",
                arguments: ["-c:a", "pcm_s24be"],
                pcm: "s32le",
                channels: 6
            ),
            Made(tool: "ffmpeg", ending: "aiff", arguments: ["-c:a", "pcm_s16le"], pcm: "s16le"),
            Made(tool: "ffmpeg", ending: "aiff", arguments: ["-c:a", "pcm_f32be"], pcm: "f32le"),
            Made(tool: "sox", ending: "aiff", arguments: ["-b", "8"], pcm: "s16le", channels: 1),
            Made(tool: "sox", ending: "aiff", arguments: ["-b", "24"], pcm: "s32le"),
            Made(tool: "sox", ending: "aifc", arguments: ["-b", "16"], pcm: "s16le"),
        ]
    }()

    /// Makes the file, and decodes it with ffmpeg.
    private func make(_ made: Made) throws -> (file: [UInt8], pcm: [UInt8]) {
        let folder = try TemporaryFolder()
        let source = MadeWave(samples: .s24, channels: made.channels, rate: 44_100, frames: 44_100, seed: 5)
        let wave = try folder.write(source.bytes, to: "in.wav")
        let output = made.isPiped ? "-" : folder.path("out." + made.ending)
        switch made.tool {
        case "sox":
            // Without dither, which sox adds when it shortens samples.
            try run(
                "sox",
                ["-D", wave] + made.arguments + ["-t", made.ending, output],
                output: folder.path("pipe")
            )
        default:
            let words = ["-v", "error", "-nostdin", "-i", wave] + made.arguments
            let tags = ["-metadata", "title=Song", "-metadata", "artist=Someone"]
            try run("ffmpeg", words + tags + ["-f", made.ending, output], output: folder.path("pipe"))
        }
        let file = made.isPiped ? folder.path("pipe") : output
        let decoding = ["-v", "error", "-nostdin", "-i", file, "-f", made.pcm, "-"]
        try run("ffmpeg", decoding, output: folder.path("pcm"))
        func bytes(_ path: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        return (try bytes(file), try bytes(folder.path("pcm")))
    }

    @Test(arguments: made)
    func `a file of another program plays sample by sample, also after forty seeks`(made: Made) async throws {
        let (file, expected) = try make(made)
        try #require(!expected.isEmpty)
        let decoder = PCMDecoder(MemorySource(file, isStored: true))
        try await decoder.open()
        let info = decoder.info
        #expect(info.format.channelCount == made.channels && info.format.sampleRate == 44_100)
        #expect(info.duration == .seconds(1))
        #expect((info.tags.title == "Song") == (made.tool == "ffmpeg"))
        expectSame(try await decodeBytes(decoder), expected)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<40 {
            let landing = try await decoder.seek(to: .milliseconds(Int.random(in: 0..<1_000, using: &random)))
            let rest = expected.dropFirst(Int(landing.frame) * info.format.bytesPerFrame)
            expectSame(try await decodeBytes(decoder, atMost: 5_000), rest.prefix(5_000))
        }
    }
}
