import Glibc
import TestSupport

/// The formats beside MP3: decoding beside each format's own tool, and memory.
enum FormatSpeed {
    /// A format, how to make it from `in.wav`, and its own decoder.
    private struct Format {
        let name: String
        let file: String
        /// The program and arguments that make `file`; `nil` for `in.wav` itself.
        var encoder: [String]?
        /// The program and arguments that decode `file` and drop the samples; `nil` if there is none to compare with.
        var reference: [String]?
        /// The speed to reach, as a share of the reference's.
        var share = 0.9
    }

    private static let ffmpeg = ["ffmpeg", "-v", "error", "-i", "in.wav", "-c:a", "aac", "-b:a", "128k"]

    private static let formats = [
        Format(name: "WAV", file: "in.wav"),
        Format(
            name: "FLAC",
            file: "song.flac",
            encoder: ["flac", "-s", "-o", "song.flac", "in.wav"],
            reference: ["flac", "-s", "-t", "song.flac"],
            share: 0.95
        ),
        Format(
            name: "Opus",
            file: "song.opus",
            encoder: ["opusenc", "--quiet", "in.wav", "song.opus"],
            reference: ["opusdec", "--quiet", "--float", "--rate", "48000", "song.opus", "out.wav"]
        ),
        Format(
            name: "Vorbis",
            file: "song.ogg",
            encoder: ["oggenc", "-Q", "-o", "song.ogg", "in.wav"],
            reference: ["oggdec", "-Q", "-o", "out.wav", "song.ogg"]
        ),
        Format(
            name: "M4A",
            file: "song.m4a",
            encoder: ffmpeg + ["-movflags", "+faststart", "song.m4a"],
            reference: ["faad", "-q", "-b", "4", "-o", "out.wav", "song.m4a"]
        ),
        Format(
            name: "ADTS",
            file: "song.aac",
            encoder: ffmpeg + ["song.aac"],
            reference: ["faad", "-q", "-b", "4", "-o", "out.wav", "song.aac"]
        ),
    ]

    static func measure(_ stage: BenchStage, isQuick: Bool, into table: inout FigureTable) async throws {
        let (rounds, minutes) = isQuick ? (3, 3) : (7, 10)
        table.begin("Formats: \(minutes) min from a file, CPU × its own tool's; memory after 3 s")
        let folder = try TemporaryFolder()
        // Without `-R` the noise would be another one each time.
        let noise = ["synth", "\(minutes * 60)", "pinknoise", "tremolo", "0.05", "90", "gain", "-30"]
        try await run(
            ["sox", "-R", "-n", "-r", "48000", "-c", "2", "-b", "16", "in.wav"] + noise,
            in: folder
        )
        for format in formats {
            if let encoder = format.encoder { try await run(encoder, in: folder) }
            let source = folder.path(format.file)
            if let reference = format.reference {
                // One after the other, so that a machine that slows down slows both.
                for _ in 0..<rounds {
                    let own = try await RunningProcess.time(
                        RepriseRun.binary,
                        ["--json", "--sink", "null:fast", "--no-cache", source],
                        environment: stage.environment
                    )
                    let other = try await RunningProcess.time(
                        reference[0],
                        Array(reference[1...]),
                        folder: folder.path
                    )
                    table.add(
                        "\(format.name), × the time of \(reference[0])",
                        .count,
                        own.cpu / other.cpu,
                        atMost: 1 / format.share,
                        goal: "≥ \(format.share) × its speed"
                    )
                }
            }
            let player = try RunningProcess(
                RepriseRun.binary,
                ["--json", "--sink", "null", "--no-cache", source],
                environment: stage.environment
            )
            try await Task.sleep(for: .seconds(3))
            let memory = ProcessReading.Memory(player.processIdentifier)
            player.signal(SIGKILL)
            table.add(
                "\(format.name): memory, anonymous",
                .megabytes,
                memory?.anonymous,
                atMost: 14.7,
                goal: "≤ 14 MB"
            )
        }
    }

    private static func run(_ words: [String], in folder: TemporaryFolder) async throws {
        _ = try await RunningProcess.run(words[0], Array(words[1...]), folder: folder.path)
    }
}
