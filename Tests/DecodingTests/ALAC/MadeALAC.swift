import Foundation
import Media
import TestSupport
import Testing

@testable import Decoding

/// A file of ALAC that another program made, and the samples that it must play as.
struct MadeALAC: Sendable, CustomTestStringConvertible {
    var testDescription: String
    let wave: MadeWave
    /// The bits of a sample.
    let width: Int
    var bytes: [UInt8]

    /// The channel masks of the loudspeakers that ALAC has for 1 to 8 channels.
    static let masks: [UInt32] = [0x4, 0x3, 0x7, 0x107, 0x37, 0x3F, 0x13F, 0xFF]

    static let plain = byFFmpeg(wave(rate: 8_000, frames: 8_000 * 12))

    /// Noise that can be packed, unless it is loud.
    static func wave(
        _ samples: MadeWave.Samples = .s16,
        channels: Int = 2,
        rate: Int = 44_100,
        frames: Int = 20_017,
        loudness: Double = 0.01
    ) -> MadeWave {
        var wave = MadeWave(
            samples: samples,
            channels: channels,
            rate: rate,
            frames: frames,
            seed: 8,
            loudness: loudness
        )
        if channels > 2 { wave.header = .extensible(mask: masks[channels - 1]) }
        return wave
    }

    /// The file that ffmpeg makes of `wave`, with its tables in front of the sound.
    static func byFFmpeg(
        _ wave: MadeWave,
        _ arguments: [String] = ["-movflags", "+faststart"],
        container: String = "ipod"
    ) -> MadeALAC {
        let made: [UInt8]? = try? {
            let folder = try TemporaryFolder()
            let words = ["-i", try folder.write(wave.bytes, to: "in.wav"), "-c:a", "alac"] + arguments
            return try ffmpeg(words + ["-f", container], into: folder.path("out.m4a"))
        }()
        return MadeALAC(
            testDescription: (["\(wave), \(wave.frames) frames, \(container)"] + arguments).joined(
                separator: " "
            ),
            wave: wave,
            width: 8 * wave.samples.byteCount,
            bytes: made ?? []
        )
    }

    /// Packets of `width` bits that libsndfile makes of `wave`, whose channels it takes to be in ALAC's
    /// order.
    static func byLibsndfile(_ width: Int, _ wave: MadeWave) -> MadeALAC {
        var wave = wave
        wave.validBits = width
        let made: [UInt8]? = try? {
            let folder = try TemporaryFolder()
            try write(wave, width, to: folder.path("in.caf"))
            let words = ["-i", folder.path("in.caf"), "-c", "copy", "-movflags", "+faststart", "-f", "ipod"]
            return try ffmpeg(words, into: folder.path("out.m4a"))
        }()
        let copied = MadeALAC(
            testDescription: "\(width) bits, \(wave.channels) channels by libsndfile",
            wave: wave,
            width: width,
            bytes: made ?? []
        )
        return copied.withLastLength()
    }

    /// This file with the length of its last packet, which ffmpeg does not know if it only copies packets.
    private func withLastLength() -> MadeALAC {
        guard let times = place(of: "stts"), let edits = place(of: "edts") else { return self }
        let end = times - 4 + number(at: times - 4)
        return changed { bytes in
            bytes.replaceSubrange(end - 4..<end, with: MadeMP4.numbers([UInt32(wave.frames % 4_096)]))
            bytes.replaceSubrange(edits..<edits + 4, with: "free".utf8)
        }
    }

    /// The samples as ffmpeg decodes them: 16 bits, or the upper ones of 32.
    func ffmpeg() throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let words = ["-i", try folder.write(bytes, to: "in.m4a"), "-f", width == 16 ? "s16le" : "s32le"]
        return try Self.ffmpeg(words, into: folder.path("out.raw"))
    }

    /// The samples that were encoded.
    var pcm: [UInt8] { width == 16 ? Self.upperHalves(of: wave) : wave.pcm }

    /// The upper 16 bits of each sample.
    static func upperHalves(of wave: MadeWave) -> [UInt8] {
        var wave = wave
        wave.samples = .s16
        return wave.pcm
    }

    var bytesPerFrame: Int { wave.channels * (width == 16 ? 2 : 4) }

    /// The places of the packets; the tables lie in front of them.
    var packets: [Range<Int>] {
        guard let sizes = place(of: "stsz"), let sound = place(of: "mdat") else { return [] }
        var start = sound + 4
        return (0..<number(at: sizes + 12)).map { index in
            let range = start..<start + number(at: sizes + 16 + 4 * index)
            start = range.upperBound
            return range
        }
    }

    /// The place of the first box `name`: that of its name.
    func place(of name: String) -> Int? {
        let name = Array(name.utf8)
        return bytes.indices.first { bytes[$0...].starts(with: name) }
    }

    private func number(at place: Int) -> Int {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// This file after `change`.
    func changed(_ change: (inout [UInt8]) -> Void) -> MadeALAC {
        var made = self
        change(&made.bytes)
        return made
    }

    private static func ffmpeg(_ words: [String], into output: String) throws -> [UInt8] {
        try run("ffmpeg", ["-v", "error", "-nostdin"] + words + [output])
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
    }

    private static func write(_ wave: MadeWave, _ width: Int, to path: String) throws {
        typealias Pointer = UnsafeMutableRawPointer
        let library = dlopen("libsndfile.so.1", RTLD_NOW)
        func function<Function>(_ name: String) -> Function? {
            dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
        }
        let open: (@convention(c) (UnsafePointer<CChar>, CInt, Pointer) -> Pointer?)? = function("sf_open")
        let put: (@convention(c) (Pointer, UnsafePointer<Int32>, Int64) -> Int64)? = function("sf_writef_int")
        let close: (@convention(c) (Pointer) -> CInt)? = function("sf_close")
        // CAF with ALAC, and the code of the width (sndfile.h).
        let format = 0x18_0000 + [16: 0x70, 20: 0x71, 24: 0x72, 32: 0x73][width, default: 0]
        // `SF_INFO`: the number of frames has 64 bits.
        var description = [0, 0, wave.rate, wave.channels, format, 0, 0, 0].map { Int32($0) }
        let writing: CInt = 0x20
        guard let put, let file = open?(path, writing, &description) else {
            throw ToolFailed(tool: "sf_open")
        }
        let written = put(file, wave.numbers, Int64(wave.frames))
        guard close?(file) == 0, written == wave.frames else { throw ToolFailed(tool: "sf_close") }
    }
}
