import Foundation
import TestSupport
import Testing

/// The bar of a high window as a waveform, compared with the samples that ffmpeg decodes.
struct ScreenWaveformTests {
    /// The cells of the bar in a window of 80 columns.
    private let columns = 78
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("web")
    }

    /// Makes a song that is loud, soft and loud again, and gets louder.
    private func song(_ name: String, seconds: Int, _ encoding: [String] = []) async throws -> String {
        let path = folder.path("web/" + name)
        let tone = "(0.15+0.6*t/\(seconds))*(1+0.3*sin(2*PI*t/\(seconds / 4)))*sin(2*PI*500*t)"
        _ = try await RunningProcess.run(
            "ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "aevalsrc=\(tone):s=44100:d=\(seconds)"] + encoding + [path]
        )
        return path
    }

    /// The mean of the peaks in 32 ms for each cell of the bar, in eighths of a row of two.
    private func expected(_ path: String) async throws -> [Double] {
        let bytes = try await RunningProcess.run(
            "ffmpeg",
            ["-v", "error", "-i", path, "-f", "s16le", "-ac", "1", "-ar", "44100", "-"]
        )
        let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        return (0..<columns).map { bar in
            let part = samples[samples.count * bar / columns..<samples.count * (bar + 1) / columns]
            let peaks = stride(from: part.startIndex, to: part.endIndex, by: 1_411).map { start in
                part[start..<min(start + 1_411, part.endIndex)].map { abs(Int($0)) }.max() ?? 0
            }
            return Double(peaks.reduce(0, +)) / Double(peaks.count) / 32_768 * 16
        }
    }

    /// The heights of the columns of the bar, in eighths of a row of two; `nil` if it is no waveform
    /// there.
    private func shown(_ stage: ScreenStage) async throws -> [Int?] {
        let rows = [String(try await stage.row(fromBelow: 4).dropFirst()), try await stage.bar]
        let cells = rows.map { Array($0.padding(toLength: columns, withPad: " ", startingAt: 0)) }
        let levels = Array(" ▁▂▃▄▅▆▇█")
        return zip(cells[0], cells[1]).map { upper, lower in
            guard let high = levels.firstIndex(of: upper), let low = levels.firstIndex(of: lower) else {
                return nil
            }
            return high + low
        }
    }

    @Test(
        arguments: [
            ("song.mp3", ["-b:a", "128k"]), ("song.flac", []), ("song.wav", []),
            ("song.ogg", ["-c:a", "libvorbis"]), ("song.opus", ["-c:a", "libopus"]),
            ("song.m4a", ["-c:a", "aac", "-movflags", "+faststart"]),
        ] as [(String, [String])]
    )
    func `what an earlier session has decoded is as high as it is loud`(name: String, encoding: [String])
        async throws
    {
        let path = try await song(name, seconds: 40, encoding)
        let server = try await FolderServer(.nginx, serving: folder.path("web"))
        let url = server.baseURL + "/" + name
        let options = ["--headless", "--sink", "null:fast", "--fresh", "--cache-dir", folder.path("cache")]
        _ = try await RunningProcess.run(BuiltProducts.reprise, options + [url])
        let stage = try await ScreenStage.playing(["--waveform", "played", url], folder: folder)
        try await stage.pause()
        let expected = try await expected(path)
        let shown = try await shown(stage)
        // The position is in one of the first columns.
        for column in 4..<columns {
            let height = try #require(shown[column], "column \(column)")
            #expect(abs(Double(height) - expected[column]) <= 1.2, "column \(column)")
        }
        try await stage.quit()
    }

    @Test func `cached music is decoded in the background while it plays, and not by request`() async throws {
        let path = try await song("song.flac", seconds: 120)
        let server = try await FolderServer(.nginx, serving: folder.path("web"))
        let url = server.baseURL + "/song.flac"
        let cache = ["--cache-dir", folder.path("cache")]
        _ = try await RunningProcess.run(BuiltProducts.reprise, ["cache", "fetch"] + cache + [url])
        let stage = try await ScreenStage.playing([url], folder: folder)
        let expected = try await expected(path)
        // Away from the sign of the position.
        try await stage.wait(for: "the waveform of all that is cached") { stage in
            let heights = try await shown(stage)
            return (21..<columns).allSatisfy { abs(Double(heights[$0] ?? 0) - expected[$0]) <= 1.2 }
        }
        try await stage.quit()
    }
}
