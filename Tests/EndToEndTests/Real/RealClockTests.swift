import Foundation
import TestSupport
import Testing

/// How far the position told is from the position heard, as a figure: `make soak` prints it.
@Suite(.serialized, .enabled(if: TestCount.isFull))
struct RealClockTests {
    /// How long is listened to.
    private static let seconds = 60

    @Test func `the position told over a minute with pauses and seeks is the one heard`() async throws {
        let stage = try await RealStage()
        let path = try await MP3Fixtures.file(.init(seconds: 300))
        let music = try await RealMusic(of: [path]).frames
        let recording = try stage.pulse.record()
        try await wait(for: "the recording to run") { recording.frameCount > 0 }
        let player = try stage.play(["--sink", "pulse:test", path])
        try await player.event("playing")
        // Each told position with the end of the recording at that moment.
        var told: [(position: Double, recorded: Int)] = []
        var seen = 0
        var random = SeededGenerator(seed: 4)
        let begun = ContinuousClock.now
        var next = begun + .seconds(7)
        while ContinuousClock.now < begun + .seconds(Self.seconds) {
            let lines = player.lines
            for line in lines[seen...] where line.contains("\"event\":\"position\"") {
                let event = try ToldEvent(line: line)
                if let position = event.position { told.append((position, recording.frameCount)) }
            }
            seen = lines.count
            if ContinuousClock.now > next {
                next = ContinuousClock.now + .seconds(7)
                if Bool.random(using: &random) {
                    try player.send("seek \(Int.random(in: 5...280, using: &random))")
                } else {
                    try player.send("pause")
                    let paused = recording.frameCount
                    try await wait(for: "the pause") { recording.frameCount > paused + 44_100 }
                    try player.send("play")
                }
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        try player.send("quit")
        try await player.waitForExit()
        let recorded = RealMusic.frames(try await recording.stop())
        let errors = told.compactMap { error(of: $0.position, at: $0.recorded, recorded, music) }.sorted()
        try #require(errors.count > Self.seconds / 2)
        let median = errors[errors.count / 2]
        print(
            "position told minus heard: median \(median) ms, \(errors[0]) to \(errors[errors.count - 1]) ms, "
                + "\(errors.count) positions"
        )
    }

    /// Told minus heard in milliseconds; nil where no music stands before this end of the recording.
    private func error(of told: Double, at end: Int, _ recorded: [UInt32], _ music: [UInt32]) -> Int? {
        let length = 1_000
        let expected = Int(told * 44_100)
        guard end > length, end <= recorded.count else { return nil }
        let heard = recorded[end - length..<end]
        let range = max(0, expected - 22_050)..<min(music.count - length, expected + 22_050)
        guard let first = heard.first, heard.allSatisfy({ $0 != 0 }), !range.isEmpty else { return nil }
        let place = range.first { music[$0] == first && music[$0..<$0 + length].elementsEqual(heard) }
        return place.map { Int((Double(expected - $0 - length) / 44.1).rounded()) }
    }
}
