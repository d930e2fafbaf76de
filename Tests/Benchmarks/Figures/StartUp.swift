import Foundation
import RepriseOrigin
import TestSupport

/// The start of the program itself, and from a key to what it changes on the screen.
enum StartUp {
    private static let section = "Start and screen"

    static func measure(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        for _ in 0..<rounds * 5 {
            for kind in stage.players where kind != .mpd {
                let program = kind == .reprise ? RepriseRun.binary : PlayerKind.find(kind.rawValue) ?? ""
                let option = kind == .ffplay ? "-version" : "--version"
                let run = try await Stopwatch.run(program, [option], environment: stage.environment)
                let wall = run.wall / .milliseconds(1)
                table.add(section, "--version", .milliseconds, kind, wall, goal: "≤ 10 ms", limit: 10)
            }
        }
        try await measureScreen(stage, keys: rounds * 4, &table)
        try await measureScreenCPU(stage, &table)
    }

    /// Help comes and goes while the server says nothing.
    private static func measureScreen(_ stage: BenchStage, keys: Int, _ table: inout FigureTable) async throws
    {
        let server = try stage.origin(["/song.mp3": try await stage.song()])
        let gate = server.origin.hold(nil, .beforeHead)
        defer { gate.release() }
        let screen = try BenchScreen([server.url("/song.mp3")], stage)
        try await wait(for: "a screen") { gate.isReached && screen.shown > 0 }
        // The first picture is whole when nothing more comes for a while.
        try await screen.rest()
        for _ in 0..<keys {
            let begun = ContinuousClock.now
            let change = try await screen.press("?")
            let time = (change - begun) / .milliseconds(1)
            table.add(
                section,
                "key to screen, server silent",
                .milliseconds,
                .reprise,
                time,
                goal: "≤ 16 ms",
                limit: 16
            )
            try await screen.rest()
        }
        try await screen.end()
    }

    private static func measureScreenCPU(_ stage: BenchStage, _ table: inout FigureTable) async throws {
        let song = try stage.folder.write(try await stage.song(), to: "screen.mp3")
        let screen = try BenchScreen([song], stage)
        try await Task.sleep(for: .seconds(3))
        let (cpu, wakeUps) = try await cost(of: screen)
        let name = "CPU for a minute of music, with the screen"
        table.add(section, name, .seconds, .reprise, cpu, goal: "≤ 2 × mpg123")
        if let peer = table.median("CPU for a minute of music", of: .mpg123) {
            table.add(section, name, .seconds, .reprise, nil, limit: 2 * peer)
        }
        table.add(section, "wake-ups, playing with the screen", .perSecond, .reprise, wakeUps)
        _ = try await screen.press("v")
        let picture = try await cost(of: screen)
        table.add(section, "CPU, with the picture of the sound", .seconds, .reprise, picture.cpu)
        try await screen.end()
    }

    private static func cost(of screen: BenchScreen) async throws -> (cpu: Double, wakeUps: Double) {
        let identifier = try screen.playerIdentifier()
        let before = ProcessReading(identifier)
        try await Task.sleep(for: .seconds(8))
        let after = ProcessReading(identifier)
        return (after.cpuSecondsPerMinute(since: before), after.wakeUpsPerSecond(since: before))
    }
}
