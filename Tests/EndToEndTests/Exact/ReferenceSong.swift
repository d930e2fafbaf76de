import Foundation
import Media
import TestSupport
import Testing

/// A song in one of the formats that are played, and its samples as the format's own decoder makes them.
struct ReferenceSong: Sendable, Hashable, CustomTestStringConvertible {
    enum Encoding: Hashable, Sendable {
        case wave
        /// With the arguments of `flac`.
        case flac([String])
        /// With the arguments of `flac`, in Ogg.
        case oggFLAC([String] = [])
        /// With the arguments of `oggenc`, or `opusenc`.
        case vorbis([String] = [])
        case opus([String] = [])
        case adts
        /// The tables of the packets lie in front of these, or behind.
        case m4a(isFront: Bool)
        /// In MP4, with the tables in front.
        case alac
    }

    /// What is encoded.
    let wave: MadeWave
    let encoding: Encoding

    static let cd = ReferenceSong(wave: MadeWave(rate: 44_100, frames: 44_100 * 8), encoding: .wave)
    static let studio = ReferenceSong(wave: studioWave, encoding: .wave)
    static let flac = ReferenceSong(wave: studioWave, encoding: .flac(["--seekpoint=2s"]))
    static let bareFLAC = ReferenceSong(
        wave: MadeWave(rate: 44_100, frames: 44_100 * 8, loudness: 0.1),
        encoding: .flac(["--no-seektable"])
    )
    /// Noise of 24 bits fills the largest pages, 64 KB, so that the first one ends behind the first request.
    static let oggFLAC = ReferenceSong(wave: studioWave, encoding: .oggFLAC())
    static let cdOggFLAC = ReferenceSong(wave: bareFLAC.wave, encoding: .oggFLAC())
    static let vorbis = long(.vorbis())
    static let opus = long(.opus())
    static let adts = long(.adts)
    static let m4a = [long(.m4a(isFront: true)), long(.m4a(isFront: false))]
    static let alac = long(.alac, seconds: 8)
    static let studioALAC = ReferenceSong(wave: studioWave, encoding: .alac)
    static let lossy = [vorbis, opus, adts] + m4a

    private static let studioWave = MadeWave(
        samples: .s24,
        rate: 48_000,
        frames: 48_000 * 8,
        seed: 2,
        loudness: 0.2
    )

    /// A song that is some hundred kilobytes long, although it is packed.
    static func long(_ encoding: Encoding, seconds: Int = 40, seed: UInt64 = 1) -> ReferenceSong {
        let rate = if case .opus = encoding { 48_000 } else { 44_100 }
        let wave = MadeWave(rate: rate, frames: rate * seconds, seed: seed, loudness: 0.2)
        return ReferenceSong(wave: wave, encoding: encoding)
    }

    /// The `--sink-format` that changes none of its samples.
    var sinkFormat: String {
        switch (encoding, wave.samples) {
        case (.opus, _), (.adts, _), (.m4a, _), (_, .f32), (_, .f64): "f32"
        case (_, .s24), (_, .s32): "s32"
        default: "s16"
        }
    }
    var options: [String] { ["--sink-format", sinkFormat] }
    var bytesPerFrame: Int { wave.channels * (sinkFormat == "s16" ? 2 : 4) }

    var fileName: String {
        switch encoding {
        case .wave: "song.wav"
        case .flac: "song.flac"
        case .oggFLAC: "song.oga"
        case .vorbis, .opus: "song.ogg"
        case .adts: "song.aac"
        case .m4a, .alac: "song.m4a"
        }
    }
    var path: String { "/" + fileName }

    /// The most bytes that are sent twice: the jump to tables behind the music ends the first answer, whose
    /// bytes may be on their way.
    var mostSentTwice: Int64 { encoding == .m4a(isFront: false) ? 64 << 10 : 0 }

    var testDescription: String { "\(encoding) of \(wave)" }

    /// The file and its samples, made once.
    var made: Made { get async throws { try await MadeSongs.shared.made(self) } }

    struct Made: Sendable {
        let bytes: [UInt8]
        let pcm: Data
    }

    fileprivate func make() async throws -> Made {
        if encoding == .wave { return Made(bytes: wave.bytes, pcm: Data(wave.pcm)) }
        let folder = try TemporaryFolder()
        let bytes = try await encode(try folder.write(wave.bytes, to: "in.wav"), in: folder)
        return Made(bytes: bytes, pcm: Data(try await decode(bytes, in: folder)))
    }

    /// The file that the format's encoder makes of `input`, a WAV file.
    private func encode(_ input: String, in folder: TemporaryFolder) async throws -> [UInt8] {
        let song = folder.path(fileName)
        switch encoding {
        case .wave: return try content(input)
        case .flac(let arguments):
            return try await FLACFixtures.bytes(of: try content(input), arguments)
        case .oggFLAC(let arguments):
            let words = ["--ogg", "--serial-number=7"] + arguments
            return try await FLACFixtures.bytes(of: try content(input), words)
        case .vorbis(let arguments):
            _ = try await RunningProcess.run("oggenc", ["-Q"] + arguments + ["-o", song, input])
        case .opus(let arguments):
            _ = try await RunningProcess.run("opusenc", ["--quiet"] + arguments + [input, song])
        case .adts, .m4a:
            let codec = ["-c:a", "aac", "-aac_pns", "0", "-b:a", "96k"]
            let front = encoding == .m4a(isFront: true) ? ["-movflags", "+faststart"] : []
            let words = ["-v", "error", "-nostdin", "-i", input] + codec + front + [song]
            _ = try await RunningProcess.run("ffmpeg", words)
        case .alac:
            let words = ["-v", "error", "-nostdin", "-i", input, "-c:a", "alac", "-movflags", "+faststart"]
            _ = try await RunningProcess.run("ffmpeg", words + [song])
        }
        return try content(song)
    }

    private func decode(_ bytes: [UInt8], in folder: TemporaryFolder) async throws -> [UInt8] {
        let song = folder.path(fileName)
        let output = folder.path("out.wav")
        switch encoding {
        case .wave: return wave.pcm
        case .flac, .oggFLAC:
            return try await FLACFixtures.referencePCM(of: bytes, bits: sinkFormat == "s32" ? 24 : 16)
        case .vorbis:
            _ = try await RunningProcess.run("oggdec", ["-Q", "-R", "-o", output, song])
            return try content(output)
        case .opus:
            let words = ["--quiet", "--rate", "48000", "--float", song, output]
            _ = try await RunningProcess.run("opusdec", words)
            return try content(output).suffix(wave.frames * bytesPerFrame).map { $0 }
        case .adts, .m4a:
            let words = ["-q", "-g", "-b", "4", "-f", "2", "-o", output, song]
            _ = try await RunningProcess.run("faad", words)
            let decoded = try content(output)
            // The edit list and the times of the packets state what was encoded; ADTS frames do not.
            return encoding == .adts ? decoded : [UInt8](decoded.prefix(wave.frames * bytesPerFrame))
        case .alac:
            let words = ["-v", "error", "-nostdin", "-i", song, "-f", sinkFormat + "le", output]
            _ = try await RunningProcess.run("ffmpeg", words)
            return try content(output)
        }
    }

    /// Music of five minutes in this encoding, whose rate swells and falls every twenty seconds.
    func swelling() async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let input = folder.path("in.wav")
        // Without `-R` the noise would be another one each time.
        let noise = ["synth", "300", "pinknoise", "tremolo", "0.05", "90", "gain", "-30"]
        let words = ["-R", "-n", "-r", "\(wave.rate)", "-c", "1", "-b", "16", input]
        _ = try await RunningProcess.run("sox", words + noise)
        return try await encode(input, in: folder)
    }

    private func content(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}

private actor MadeSongs {
    static let shared = MadeSongs()

    private var making: [ReferenceSong: Task<ReferenceSong.Made, any Error>] = [:]

    func made(_ song: ReferenceSong) async throws -> ReferenceSong.Made {
        if let task = making[song] { return try await task.value }
        let task = Task { try await song.make() }
        making[song] = task
        return try await task.value
    }
}
