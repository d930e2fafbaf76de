import Foundation
import RepriseOrigin
import TestSupport

/// The formats beside MP3: requests, memory, and decoding beside each format's own tool.
enum Formats {
    /// A format, how to make it from `in.wav`, and its own decoder.
    private struct Format {
        let name: String
        let file: String
        /// The requests to the first sound, and those of a far seek, while nothing is cached.
        var requests = (start: 1, seek: 1)
        /// The program and arguments that make `file`; `nil` for `in.wav` itself.
        var encoder: [String]?
        /// The program and arguments that decode `file` and drop the samples; `nil` if there is none to
        /// compare with.
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
            requests: (1, 3),
            encoder: ["flac", "-s", "-o", "song.flac", "in.wav"],
            reference: ["flac", "-s", "-t", "song.flac"],
            share: 0.95
        ),
        Format(
            name: "Opus",
            file: "song.opus",
            requests: (1, 3),
            encoder: ["opusenc", "--quiet", "in.wav", "song.opus"],
            reference: ["opusdec", "--quiet", "--float", "--rate", "48000", "song.opus", "out.wav"]
        ),
        Format(
            name: "Vorbis",
            file: "song.ogg",
            requests: (1, 3),
            encoder: ["oggenc", "-Q", "-o", "song.ogg", "in.wav"],
            reference: ["oggdec", "-Q", "-o", "out.wav", "song.ogg"]
        ),
        Format(
            name: "M4A",
            file: "song.m4a",
            requests: (1, 1),
            encoder: ffmpeg + ["-movflags", "+faststart", "song.m4a"],
            reference: ["faad", "-q", "-b", "4", "-o", "out.wav", "song.m4a"]
        ),
        Format(
            name: "ALAC",
            file: "alac.m4a",
            requests: (1, 1),
            encoder: [
                "ffmpeg", "-v", "error", "-i", "in.wav", "-c:a", "alac", "-movflags", "+faststart",
                "alac.m4a",
            ]
        ),
        Format(
            name: "ADTS",
            file: "song.aac",
            requests: (1, 3),
            encoder: ffmpeg + ["song.aac"],
            reference: ["faad", "-q", "-b", "4", "-o", "out.wav", "song.aac"]
        ),
    ]

    static func measure(_ stage: BenchStage, isQuick: Bool, into table: inout FigureTable) async throws {
        table.begin("Formats, a song of 5 min")
        let folder = try TemporaryFolder()
        // Without `-R` the noise would be another one each time.
        let noise = ["synth", "300", "pinknoise", "tremolo", "0.05", "90", "gain", "-30"]
        let wave = ["sox", "-R", "-n", "-r", "48000", "-c", "2", "-b", "16", "in.wav"]
        try await run(wave + noise, in: folder)
        for format in formats {
            if let encoder = format.encoder { try await run(encoder, in: folder) }
            try await measureRequests(of: format, in: folder, stage, &table)
            try await measureSpeed(of: format, in: folder, rounds: isQuick ? 3 : 7, stage, &table)
        }
    }

    private static func measureRequests(
        of format: Format,
        in folder: TemporaryFolder,
        _ stage: BenchStage,
        _ table: inout FigureTable
    ) async throws {
        let server = try TestOrigin(folder: folder.path)
        let path = "/" + format.file
        /// The least number of answers after which music is heard, if all later requests get none.
        func answers(_ options: [String], from least: Int, cache: String) async throws -> Int? {
            for count in least...8 {
                server.origin.script(Array(repeating: [], count: count), thenAlways: [.silence], for: path)
                let words = ["--headless", "--json", "--sink", "null", "--cache-dir", folder.path(cache)]
                let player = try RunningProcess(
                    RepriseRun.binary,
                    words + options + [server.url(path)],
                    environment: stage.environment
                )
                let deadline = ContinuousClock.now + .seconds(2)
                while try !player.events.contains(where: { $0.event == "playing" }), .now < deadline {
                    try await Task.sleep(for: .milliseconds(20))
                }
                let isHeard = try player.events.contains { $0.event == "playing" }
                if isHeard, least > 0 {
                    table.add(
                        "\(format.name): memory, anonymous",
                        .megabytes,
                        ProcessReading.Memory(player.processIdentifier)?.anonymous,
                        atMost: 14.7,
                        goal: "≤ 14 MB"
                    )
                }
                try player.send("quit")
                try await player.waitForExit()
                if isHeard { return count }
                try? FileManager.default.removeItem(atPath: folder.path(cache))
            }
            return nil
        }
        let (start, seek) = format.requests
        let name = "\(format.name): requests "
        let begun = try await answers([], from: 1, cache: "start")
        table.add(name + "to the first sound", .count, begun.map(Double.init), atMost: Double(start))
        let again = try await answers([], from: 0, cache: "start")
        table.add(name + "to it, cached", .count, again.map(Double.init), atMost: 0)
        let far = try await answers(["--seek", "4:00"], from: 1, cache: "seek")
        table.add(
            name + "of a far seek",
            .count,
            far.map { Double($0 - (begun ?? 0)) },
            atMost: Double(seek)
        )
    }

    /// One after the other, so that a machine that slows down slows both.
    private static func measureSpeed(
        of format: Format,
        in folder: TemporaryFolder,
        rounds: Int,
        _ stage: BenchStage,
        _ table: inout FigureTable
    ) async throws {
        guard let reference = format.reference else { return }
        let options = ["--json", "--sink", "null:fast", "--no-cache", folder.path(format.file)]
        for _ in 0..<rounds {
            let own = try await RunningProcess.time(
                RepriseRun.binary,
                options,
                environment: stage.environment
            )
            let other = try await RunningProcess.time(
                reference[0],
                Array(reference[1...]),
                folder: folder.path
            )
            table.add(
                "\(format.name): CPU from a file, × \(reference[0])",
                .count,
                own.cpu / other.cpu,
                atMost: 1 / format.share,
                goal: "≥ \(format.share) × its speed"
            )
        }
    }

    private static func run(_ words: [String], in folder: TemporaryFolder) async throws {
        _ = try await RunningProcess.run(words[0], Array(words[1...]), folder: folder.path)
    }
}
