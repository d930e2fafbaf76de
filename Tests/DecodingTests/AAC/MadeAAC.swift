import Foundation
import Media
import TestSupport
import Testing

@testable import Decoding

/// A file of AAC that ffmpeg made, and the decoders that show how it must sound.
struct MadeAAC: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let channels: Int
    let rate: Int
    /// The frames that were encoded.
    let frames: Int
    /// `aac` for ADTS, `m4a`, or `mp4`.
    let fileExtension: String
    /// Empty if ffmpeg is missing, so that the tests say so instead of crashing.
    var bytes: [UInt8]

    static let adts = MadeAAC("aac")

    /// Encodes seeded noise, whose loudness changes each second, without substituting noise, whose generator
    /// has a state.
    init(
        _ fileExtension: String,
        _ arguments: [String] = [],
        seconds: Int = 12,
        rate: Int = 44_100,
        channels: Int = 2,
        bitRate: Int = 96
    ) {
        testDescription = (["\(fileExtension) \(rate) Hz \(channels)"] + arguments).joined(separator: " ")
        self.channels = channels
        self.rate = rate
        self.fileExtension = fileExtension
        frames = seconds * rate
        let frames = frames
        let made: [UInt8]? = try? {
            let folder = try TemporaryFolder()
            let wave = MadeWave(channels: channels, rate: rate, frames: frames, seed: 5, loudness: 0.3)
            let input = try folder.write(wave.bytes, to: "in.wav")
            let output = folder.path("out." + fileExtension)
            let codec = ["-c:a", "aac", "-aac_pns", "0", "-b:a", "\(bitRate)k"]
            let filter = ["-af", "volume=0.02+0.9*mod(floor(t)*7\\,10)/10:eval=frame"]
            try run(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-i", input] + filter + codec + arguments + [output]
            )
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
        }()
        bytes = made ?? []
    }

    /// The floating-point samples of `faad`, which has no packet 0, and makes two channels of one.
    func faad() throws -> [Float] {
        try output { input, output in
            try run("faad", ["-q", "-g", "-b", "4", "-f", "2", "-o", output, input])
        }
    }

    /// The floating-point samples of ffmpeg, which has packet 0.
    func ffmpeg() throws -> [Float] {
        try output { input, output in
            try run("ffmpeg", ["-v", "error", "-nostdin", "-i", input, "-f", "f32le", output])
        }
    }

    private func output(_ tool: (String, String) throws -> Void) throws -> [Float] {
        let folder = try TemporaryFolder()
        let input = try folder.write(bytes, to: "in." + fileExtension)
        try tool(input, folder.path("out.raw"))
        return floats(try Data(contentsOf: URL(fileURLWithPath: folder.path("out.raw"))))
    }

    /// This file after `change`, which `how` describes.
    func changed(_ how: String, _ change: (inout [UInt8]) -> Void) -> MadeAAC {
        var made = self
        change(&made.bytes)
        return made
    }

    /// The places of the frames of an ADTS file.
    var adtsFrames: [Range<Int>] {
        var places: [Range<Int>] = []
        var index = 0
        while let header = ADTSHeader(bytes, at: index), index + header.frameByteCount <= bytes.count {
            places.append(index..<index + header.frameByteCount)
            index += header.frameByteCount
        }
        return places
    }
}
