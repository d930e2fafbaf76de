import Foundation
import RepriseOrigin
import System
import TestSupport

/// The cost of tracks of one and ten hours beside that of a song.
enum LongMusic {
    static func measure(_ stage: BenchStage, into table: inout FigureTable) async throws {
        table.begin("Long music, 12 s of it and a seek to the middle")
        for (name, minutes) in [("5 min", 5), ("1 h", 60), ("10 h", 600)] {
            let folder = try await folder(minutes: minutes)
            let results = try await stage.together(stage.players) { kind in
                let server = try TestOrigin(folder: folder.path, shaping: BenchStage.line)
                return try await stage.with(kind, [server.url("/long.mp3")]) { run, ear in
                    let sound = try await ear.firstSound(after: run.begun) ?? .now
                    try await Task.sleep(until: sound + .seconds(2))
                    let before = ProcessReading(run.identifier)
                    try await Task.sleep(until: sound + .seconds(12))
                    let after = ProcessReading(run.identifier)
                    let cpu = after.cpuSecondsPerMinute(since: before)
                    if kind.seeks {
                        try await run.seek(to: minutes * 30)
                        try await Task.sleep(for: .seconds(3))
                    }
                    return (cpu: cpu, memory: ProcessReading.Memory(run.identifier))
                }
            }
            for (kind, result) in results {
                table.add("\(name): CPU for a minute of music", .seconds, result.cpu, of: kind)
                table.add("\(name): ", memory: result.memory, of: kind)
            }
        }
        let short = table.median("5 min: memory, anonymous")
        table.limit("10 h: memory, anonymous", to: short.map { $0 + 2.1 }, goal: "≤ 5 min + 2 MB")
    }

    /// A folder with `long.mp3`: one minute of music, repeated.
    static func folder(minutes: Int) async throws -> TemporaryFolder {
        let minute = try await MP3Fixtures.bytes(.init(seconds: 60, rate: .constant(128)))
        let folder = try TemporaryFolder()
        let path = try folder.write([], to: "long.mp3")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        // Without its first frame, which states a length of one minute.
        let music = Data(minute.dropFirst(417))
        for _ in 0..<minutes { try file.write(contentsOf: music) }
        return folder
    }
}
