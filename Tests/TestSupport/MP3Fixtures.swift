import Foundation

/// Long MP3 files whose pitch identifies the second, created once and stored outside the source tree.
package enum MP3Fixtures {
    package enum Rate: Sendable, Hashable {
        /// Constant, in kbit/s.
        case constant(Int)
        /// Variable, LAME's quality 0 (best) to 9; with a Xing header or without.
        case variable(quality: Int, hasXing: Bool)
    }

    /// The properties of a file; equal options give the same file.
    package struct Options: Sendable, Hashable {
        package var seconds: Int
        package var rate: Rate
        /// 44100, 48000, 32000, 22050, …
        package var sampleRate: Int
        package var isMono: Bool
        /// The level of the noise under the tone, which makes the bit rate of VBR files vary.
        package var seed: UInt64

        package init(
            seconds: Int,
            rate: Rate = .constant(128),
            sampleRate: Int = 44_100,
            isMono: Bool = false,
            seed: UInt64 = 1
        ) {
            self.seconds = seconds
            self.rate = rate
            self.sampleRate = sampleRate
            self.isMono = isMono
            self.seed = seed
        }

        var name: String {
            let rate =
                switch rate {
                case .constant(let kilobits): "cbr\(kilobits)"
                case .variable(let quality, let hasXing): "vbr\(quality)\(hasXing ? "" : "-bare")"
                }
            return "tone1-\(seconds)s-\(rate)-\(sampleRate)-\(isMono ? "mono" : "stereo")-\(seed).mp3"
        }
    }

    /// The path of the file with these options, created if needed. Read only.
    package static func file(_ options: Options) async throws -> String {
        let folder = try mediaFolder()
        let path = folder + "/" + options.name
        if FileManager.default.fileExists(atPath: path) { return path }
        let work = try TemporaryFolder()
        let wave = try work.write([], to: "tone.wav")
        try writeTone(options, to: wave)
        var arguments = ["--quiet", "--noreplaygain"]
        switch options.rate {
        case .constant(let kilobits): arguments += ["--cbr", "-b", "\(kilobits)"]
        case .variable(let quality, let hasXing): arguments += ["-V", "\(quality)"] + (hasXing ? [] : ["-t"])
        }
        // Written under another name first, so that a parallel test never sees half a file.
        let draft = path + ".\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        _ = try await RunningProcess.run(
            "lame",
            arguments + ["--resample", "\(Double(options.sampleRate) / 1000)", wave, draft]
        )
        guard rename(draft, path) == 0 else {
            throw RunningProcess.Failure(description: "cannot keep \(path): errno \(errno)")
        }
        return path
    }

    /// The bytes of the file with these options.
    package static func bytes(_ options: Options) async throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await file(options))))
    }

    /// The music of these options before it is encoded: a WAV file of 16 bits.
    package static func wave(_ options: Options) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let path = try folder.write([], to: "tone.wav")
        try writeTone(options, to: path)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// The output of the reference decoder: raw samples in the machine's byte order.
    package static func referencePCM(of path: String) async throws -> [UInt8] {
        try await RunningProcess.run("mpg123", ["-q", "-s", "--resync-limit", "65536", path])
    }

    /// An ID3v2.4 tag with these texts, and with a picture of `pictureByteCount` bytes if that is not 0.
    package static func tag(title: String? = nil, artist: String? = nil, pictureByteCount: Int = 0) -> [UInt8]
    {
        func size(_ count: Int) -> [UInt8] { [21, 14, 7, 0].map { UInt8(count >> $0 & 0x7F) } }
        func frame(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + size(content.count) + [0, 0] + content
        }
        var frames: [UInt8] = []
        // Encoding 3 is UTF-8; kind 3 of a picture is the front cover.
        if let title { frames += frame("TIT2", [3] + Array(title.utf8)) }
        if let artist { frames += frame("TPE1", [3] + Array(artist.utf8)) }
        if pictureByteCount > 0 {
            let picture = ByteFixtures.bytes(count: pictureByteCount, seed: 1)
            frames += frame("APIC", [3] + Array("image/jpeg".utf8) + [0, 3, 0] + picture)
        }
        return Array("ID3".utf8) + [4, 0, 0] + size(frames.count) + frames
    }

    private static func mediaFolder() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let caches = environment["XDG_CACHE_HOME"] ?? (environment["HOME"] ?? "/tmp") + "/.cache"
        let folder = caches + "/reprise-test-media"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Writes a tone of continuous phase, and noise that is louder in some seconds.
    ///
    /// Writes second by second, since an hour at once would take 600 MB.
    private static func writeTone(_ options: Options, to path: String) throws {
        let channels = options.isMono ? 1 : 2
        let rate = options.sampleRate
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        let count = options.seconds * rate * channels
        try file.write(
            contentsOf: Data(WaveFile.header(sampleCount: count, sampleRate: rate, channels: channels))
        )
        var random = SeededGenerator(seed: options.seed)
        var phase = 0.0
        for second in 0..<options.seconds {
            let step = 2 * Double.pi * ToneAnalysis.frequency(ofSecond: second) / Double(rate)
            let loudness = Int64.random(in: 1...1_500, using: &random)
            let samples = [Int16](unsafeUninitializedCapacity: rate * channels) { buffer, filled in
                for frame in 0..<rate {
                    let value = Int64(8_000 * sin(phase))
                    phase += step
                    let word = random.next()
                    for channel in 0..<channels {
                        let noise = Int64((word >> (16 * UInt64(channel))) & 0xFFFF) - 32_768
                        buffer[frame * channels + channel] = Int16(value + noise * loudness / 32_768)
                    }
                }
                filled = rate * channels
            }
            phase = phase.truncatingRemainder(dividingBy: 2 * Double.pi)
            try file.write(contentsOf: Data(PCM.bytes(samples)))
        }
    }
}
