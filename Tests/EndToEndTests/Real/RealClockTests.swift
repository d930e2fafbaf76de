import Foundation
import System
import TestSupport
import Testing

/// The difference between the reported and the heard position; `make soak` prints the figure too.
@Suite(.serialized, .enabled(if: TestCount.isFull))
struct RealClockTests {
    /// How long is listened to.
    private static let seconds = 60
    /// What the told may be before or behind the heard in the middle, in milliseconds: less than anybody sees.
    private static let mostMedian = 30

    /// The sound that was heard when a position was reported.
    private enum Finding: Equatable {
        /// The music at the reported position, this many milliseconds off.
        case music(error: Int)
        /// Silence, or music with a gap.
        case silence
        /// Sound that is not within half a second of the reported position.
        case strange
    }

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
        let strange = quiet.filter { finding(of: $0.position, at: $0.recorded, recorded, music) == .strange }
        #expect(strange.isEmpty, "away from commands what is heard is the music told of")
        let errors = told.compactMap { told -> Int? in
            guard case .music(let error) = finding(of: told.position, at: told.recorded, recorded, music)
            else {
                return nil
            }
            return error
        }.sorted()
        try #require(errors.count > Self.seconds / 2)
        let median = errors[errors.count / 2]
        print(
            "position told minus heard: median \(median) ms, \(errors[0]) to \(errors[errors.count - 1]) ms, "
                + "\(errors.count) of \(told.count) positions, \(quiet.count) away from commands"
        )
        #expect(abs(median) <= Self.mostMedian)
    }

    private func finding(of told: Double, at end: Int, _ recorded: [UInt32], _ music: [UInt32]) -> Finding {
        let length = 1_000
        let expected = Int(told * 44_100)
        guard end > length, end <= recorded.count else { return .silence }
        let heard = recorded[end - length..<end]
        let range = max(0, expected - 22_050)..<max(0, min(music.count - length, expected + 22_050))
        guard !hasGap(heard), let first = heard.first else { return .silence }
        let place = range.first { music[$0] == first && music[$0..<$0 + length].elementsEqual(heard) }
        guard let place else { return .strange }
        return .music(error: Int((Double(expected - place - length) / 44.1).rounded()))
    }

    /// `true` if more frames in a row are silent than at a zero crossing.
    private func hasGap(_ frames: ArraySlice<UInt32>) -> Bool {
        var silent = 0
        for frame in frames {
            silent = frame == 0 ? silent + 1 : 0
            if silent >= 16 { return true }
        }
        return false
    }
}
