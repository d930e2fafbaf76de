import Foundation
import Glibc
import TestSupport

/// A file made for the tests, and the samples that the reference decoder makes of it.
struct Fixture: Sendable, CustomStringConvertible {
    var name: String
    var bytes: [UInt8]
    var description: String { name }

    /// The output of `mpg123 -q -s --resync-limit 65536`.
    func reference() throws -> [Int16] {
        try Self.inFolder { folder in
            let file = folder.appending(path: "reference.mp3")
            try Data(bytes).write(to: file)
            let output = folder.appending(path: "reference.raw")
            try run("mpg123", ["-q", "-s", "--resync-limit", "65536", file.path], output: output.path)
            return Data(try Data(contentsOf: output)).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        }
    }

    static let cbr = made("CBR 128", ["-b", "128"])
    static let bareCBR = made("CBR 192 without header", ["-b", "192", "-t"])
    static let vbr = made("VBR", ["-V", "4"])
    static let bareVBR = made("VBR without header", ["-V", "4", "-t"])
    static let mono = made("mono", ["-b", "64"], channels: 1)
    static let low = made("22.05 kHz", ["-b", "64"], rate: 22_050)
    static let lowest = made("11.025 kHz mono", ["-b", "24"], rate: 11_025, channels: 1)
    static let high = made("48 kHz", ["-b", "160"], rate: 48_000)
    static let average = made("ABR at 32 kHz with checks", ["--abr", "96", "-p"], rate: 32_000)

    /// One of each kind, of 24 seconds.
    static let all = [cbr, bareCBR, vbr, bareVBR, mono, low, lowest, high, average]

    /// A file of the demo.
    static func asset(_ name: String) -> Fixture {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let data = try? Data(contentsOf: folder.appending(path: "assets/\(name).mp3"))
        return Fixture(name: name, bytes: Array(data ?? Data()))
    }

    /// The file after `change`, which `how` describes.
    func changed(_ how: String, _ change: (inout [UInt8]) -> Void) -> Fixture {
        var fixture = Fixture(name: "\(name) \(how)", bytes: bytes)
        change(&fixture.bytes)
        return fixture
    }

    enum Encoder: String { case lame, ffmpeg }

    /// Encodes `seconds` of a sweep with a seeded noise over it, so that no two stretches sound alike: by
    /// `lame`, or as Layer II by `ffmpeg`. Empty if the encoder is missing, so that the tests say so instead
    /// of crashing.
    static func made(
        _ name: String,
        _ arguments: [String],
        by encoder: Encoder = .lame,
        seconds: Int = 24,
        rate: Int = 44_100,
        channels: Int = 2
    ) -> Fixture {
        let bytes = try? inFolder { folder in
            let wave = folder.appending(path: "in.raw")
            try music(seconds: seconds, rate: rate, channels: channels).write(to: wave)
            let output = folder.appending(path: "out.mp3")
            let kilohertz = "\(Double(rate) / 1000)"
            let command =
                switch encoder {
                case .lame:
                    ["--quiet", "-r", "-s", kilohertz, "--bitwidth", "16", "--signed", "--little-endian"]
                        + ["-m", channels == 1 ? "m" : "j"] + arguments + [wave.path, output.path]
                case .ffmpeg:
                    ["-v", "error", "-nostdin", "-f", "s16le", "-ar", "\(rate)", "-ac", "\(channels)"]
                        + ["-i", wave.path, "-c:a", "mp2"] + arguments + ["-f", "mp2", output.path]
                }
            try run(encoder.rawValue, command)
            return Array(try Data(contentsOf: output))
        }
        return Fixture(name: bytes == nil ? "\(name) (\(encoder) is missing)" : name, bytes: bytes ?? [])
    }

    /// The same music in the format of `fileExtension`, encoded by `ffmpeg`; empty if that fails.
    static func foreign(_ name: String, _ fileExtension: String, _ arguments: [String] = []) -> Fixture {
        let bytes = try? inFolder { folder in
            let wave = folder.appending(path: "in.raw")
            try music(seconds: 4, rate: 44_100, channels: 2).write(to: wave)
            let output = folder.appending(path: "out.\(fileExtension)")
            let input = [
                "-v", "error", "-nostdin", "-f", "s16le", "-ar", "44100", "-ac", "2", "-i", wave.path,
            ]
            try run("ffmpeg", input + arguments + [output.path])
            return Array(try Data(contentsOf: output))
        }
        return Fixture(name: name, bytes: bytes ?? [])
    }

    private static func music(seconds: Int, rate: Int, channels: Int) -> Data {
        var random = SeededGenerator(seed: 7)
        var samples: [Int16] = []
        samples.reserveCapacity(seconds * rate * channels)
        var phase = 0.0
        for index in 0..<seconds * rate {
            let time = Double(index) / Double(rate)
            phase += (200 + 40 * time) / Double(rate) * 2 * .pi
            // Loud and quiet seconds make a variable bit rate vary.
            let loudness = Int(time) % 3 == 0 ? 0.02 : 0.5
            for channel in 0..<channels {
                let noise = Double.random(in: -0.3...0.3, using: &random)
                let tone = sin(phase * (channel == 0 ? 1 : 1.5)) * 0.6
                samples.append(Int16((tone + noise) * loudness * 30_000))
            }
        }
        return samples.withUnsafeBytes { Data($0) }
    }

    private static func inFolder<T>(_ body: (URL) throws -> T) throws -> T {
        let folder = FileManager.default.temporaryDirectory.appending(path: "decoding-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}

struct ToolFailed: Error { var tool: String }

/// Runs a command with nothing to read. Its output goes through a pipe: if the format changes, mpg123 begins
/// a regular file anew.
func run(_ tool: String, _ arguments: [String], output: String = "/dev/null") throws {
    let words = ([tool] + arguments).map { "'\($0)'" }.joined(separator: " ")
    guard system("\(words) </dev/null 2>/dev/null | cat >'\(output)'") == 0 else {
        throw ToolFailed(tool: tool)
    }
}
