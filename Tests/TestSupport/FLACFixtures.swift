import Foundation

/// FLAC files by the reference encoder, and their samples by the reference decoder.
package enum FLACFixtures {
    /// The file that `flac` makes of `wave`, a WAV file, with these arguments.
    package static func bytes(of wave: [UInt8], _ arguments: [String] = []) async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let input = try folder.write(wave, to: "in.wav")
        return try await run(["--lax"] + arguments + ["-o", folder.path("out.flac"), input], folder)
    }

    /// Music of one or two channels at 44.1 kHz, whose rate swells and falls every twenty seconds.
    package static func song(
        _ arguments: [String] = [],
        seconds: Int = 300,
        channels: Int = 1
    ) async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let input = folder.path("in.wav")
        // Without `-R` the noise would be another one each time.
        let noise = ["synth", "\(seconds)", "pinknoise", "tremolo", "0.05", "90", "gain", "-30"]
        _ = try await RunningProcess.run(
            "sox",
            ["-R", "-n", "-r", "44100", "-c", "\(channels)", "-b", "16", input] + noise
        )
        return try await run(arguments + ["-o", folder.path("out.flac"), input], folder)
    }

    private static func run(_ arguments: [String], _ folder: TemporaryFolder) async throws -> [UInt8] {
        _ = try await RunningProcess.run("flac", ["--silent", "--force"] + arguments)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("out.flac"))))
    }

    /// The output of `flac -d` for the file `bytes`, whose samples have 16 or 24 bits, as the player's: those
    /// of 24 bits are the upper ones of 32.
    package static func referencePCM(of bytes: [UInt8], bits: Int = 16) async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let isOgg = bytes.starts(with: Array("OggS".utf8))
        let file = try folder.write(bytes, to: isOgg ? "in.oga" : "in.flac")
        let raw = ["-d", "-c", "--silent", "--force-raw-format", "--endian=little", "--sign=signed", file]
        let samples = try await RunningProcess.run("flac", raw)
        guard bits == 24 else { return samples }
        return [UInt8](unsafeUninitializedCapacity: samples.count / 3 * 4) { buffer, count in
            for sample in 0..<samples.count / 3 {
                buffer[count] = 0
                for byte in 0..<3 { buffer[count + 1 + byte] = samples[sample * 3 + byte] }
                count += 4
            }
        }
    }
}
