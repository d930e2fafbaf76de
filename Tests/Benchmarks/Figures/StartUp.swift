import Foundation
import RepriseOrigin
import System
import TestSupport

/// The start of the program, and the time from a key to the change on the screen.
enum StartUp {
    static func measure(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        table.begin("Start and screen")
        for _ in 0..<rounds * 5 {
            for kind in stage.players where kind != .mpd {
                let program = kind == .reprise ? RepriseRun.binary : kind.rawValue
                let option = kind == .ffplay ? "-version" : "--version"
                let run = try await RunningProcess.time(program, [option], environment: stage.environment)
                table.add("--version", .milliseconds, run.wall / .milliseconds(1), of: kind, atMost: 10)
            }
        }
        try await measureScreen(stage, keys: rounds * 4, &table)
        try await measureScreenCPU(stage, &table)
    }

    /// Shows and hides the help while the server is silent.
    private static func measureScreen(_ stage: BenchStage, keys: Int, _ table: inout FigureTable) async throws
    {
        let server = try stage.origin(["/song.mp3": try await stage.song()])
        let gate = server.origin.hold(nil, .beforeHead)
        defer { gate.release() }
        let screen = try BenchScreen([server.url("/song.mp3")], stage)
        try await wait(for: "a screen") { gate.isReached && screen.shown > 0 }
        // The first frame is complete once no output arrives for a while.
        try await screen.rest()
        for _ in 0..<keys {
            let change = try await screen.press("?")
            table.add("key to screen, server silent", [change.first], atMost: 16)
        }
        try await screen.end()
    }

    /// Two players of the same song side by side, one of which shows the spectrum.
    private static func measureScreenCPU(_ stage: BenchStage, _ table: inout FigureTable) async throws {
        let song = try stage.folder.write(try await stage.song(), to: "screen.mp3")
        let plain = try BenchScreen([song], stage)
        let pictured = try BenchScreen([song], stage)
        try await Task.sleep(for: .seconds(3))
        try pictured.type("v")
        // Only changes are written, so bars that stand still would not count.
        try await wait(for: "bars that move", deadline: .seconds(20)) { pictured.pictures() >= 10 }
        let name = "CPU for a minute of music, with the screen"
        for _ in 0..<3 {
            let before = (ProcessReading(plain.processIdentifier), ProcessReading(pictured.processIdentifier))
            let begun = ContinuousClock.now
            let start = pictured.shown
            try await Task.sleep(for: .seconds(8))
            let after = (ProcessReading(plain.processIdentifier), ProcessReading(pictured.processIdentifier))
            let rate = Double(pictured.pictures(from: start)) / ((ContinuousClock.now - begun) / .seconds(1))
            let cpu = after.0.cpuSecondsPerMinute(since: before.0)
            table.add(name, .seconds, cpu)
            let wakeUps = after.0.wakeUpsPerSecond(since: before.0)
            table.add("wake-ups, playing with the screen", .perSecond, wakeUps)
            let picturedCPU = after.1.cpuSecondsPerMinute(since: before.1)
            table.add("CPU, with the picture of the sound", .seconds, picturedCPU)
            // A drawing at the edge of the interval counts whole.
            table.add("drawings of the picture", .perSecond, rate, atMost: 20.5)
        }
        let peer = table.median("CPU for a minute of music", of: .mpg123)
        table.limit(name, to: peer.map { $0 * 2 }, goal: "≤ 2 × mpg123")
        guard plain.pictures() == 0 else { throw BenchmarkFailure("bars where no picture was asked for") }
        try await plain.end()
        try await pictured.end()
    }
}
