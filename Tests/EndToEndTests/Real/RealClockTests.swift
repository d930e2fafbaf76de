import Foundation
import System
import TestSupport
import Testing

/// The difference between the reported and the heard position; `make soak` prints the figure too.
@Suite(.serialized, .enabled(if: TestCount.isFull))
struct RealClockTests {
    /// How long is listened to.
    private static let seconds = 60
    /// The frames before a report that are compared with the music.
    private static let length = 1_000
    /// What the told may be before or behind the heard in the middle, in milliseconds: less than anybody
    /// sees.
    private static let mostMedian = 30

    @Test func `the position told over a minute with pauses and seeks is the one heard`() async throws {
        let stage = try await RealStage()
        let path = try await MP3Fixtures.file(.init(seconds: 300))
        let music = try await RealMusic(of: [path]).frames
        let recording = try await stage.audio.runningRecord()
        let player = try stage.play([path])
        try await player.event("playing")
        // Each reported position with the end of the recording at that moment, and the places of commands in
        // it.
        var told: [(position: Double, recorded: Int)] = []
        var commands = [recording.frameCount]
        var seen = 0
        var random = SeededGenerator(seed: 4)
        let begun = ContinuousClock.now
        var next = begun + .seconds(7)
        while ContinuousClock.now < begun + .seconds(Self.seconds) {
            let lines = player.lines
            for line in lines[seen...] where line.contains("\"event\":\"position\"") {
                let event = try ReportedEvent(line: line)
                if let position = event.position { told.append((position, recording.frameCount)) }
            }
            seen = lines.count
            if ContinuousClock.now > next {
                next = ContinuousClock.now + .seconds(7)
                commands.append(recording.frameCount)
                if Bool.random(using: &random) {
                    try player.send("seek \(Int.random(in: 5...280, using: &random))")
                } else {
                    try player.send("pause")
                    let paused = recording.frameCount
                    try await wait(for: "the pause") { recording.frameCount > paused + 44_100 }
                    commands.append(recording.frameCount)
                    try player.send("play")
                }
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        try player.send("quit")
        try await player.waitForExit()
        let recorded = RealMusic.frames(try await recording.stop())
        let quiet = told.filter { told in
            !commands.contains { (-4_410...44_100).contains(told.recorded - $0) }
        }
        let errors = try quiet.compactMap { told -> Int? in
            guard told.recorded >= Self.length, told.recorded <= recorded.count else { return nil }
            let heard = recorded[told.recorded - Self.length..<told.recorded]
            // A busy machine puts silence anywhere; at a zero crossing fewer frames are silent.
            guard !heard.split(whereSeparator: { $0 != 0 }).contains(where: { $0.count >= 16 })
            else { return nil }
            let expected = Int(told.position * 44_100)
            let near = max(0, expected - 22_050)..<min(music.count - Self.length, expected + 22_050)
            let place = near.first { music[$0..<$0 + Self.length].elementsEqual(heard) }
            let start = try #require(
                place,
                "away from commands, the sound is the music at \(told.position) s"
            )
            return Int((Double(expected - start - Self.length) / 44.1).rounded())
        }.sorted()
        try #require(errors.count > Self.seconds / 2)
        let median = errors[errors.count / 2]
        print(
            "position told minus heard: median \(median) ms, \(errors[0]) to \(errors[errors.count - 1]) ms, "
                + "\(errors.count) of \(told.count) positions, \(quiet.count) away from commands"
        )
        #expect(abs(median) <= Self.mostMedian)
    }
}
