import Foundation
import TestSupport

/// The built player on a bus of its own, with three local tracks of a minute.
struct DesktopStage: Sendable {
    let stage: Stage
    let bus: SessionBus
    let tracks: [String]

    init() async throws {
        stage = try await Stage([:])
        bus = try await SessionBus()
        let folder = stage.folder
        let music = try await MP3Fixtures.bytes(.init(seconds: 60))
        tracks = try (1...3).map { number in
            let tag = MP3Fixtures.tag(title: "Title \(number)", artist: "Artist \(number)")
            return try folder.write(tag + music, to: "\(number).mp3")
        }
    }

    /// Starts the player without a screen; returns once its first track is heard.
    func play(
        _ words: [String] = ["--mpris"],
        sources: [String]? = nil,
        environment: [String: String]? = nil
    ) async throws -> RunningProcess {
        let player = try stage.startPlaying(
            words + (sources ?? tracks),
            environment: environment ?? bus.environment
        )
        try await player.event("playing")
        return player
    }

    /// Waits until exactly these players are on the bus.
    func wait(forPlayers names: String...) async throws {
        try await TestSupport.wait(for: "\(names) on the bus") { try await bus.players == names.sorted() }
    }

    /// The output of `playerctl` for these words.
    @discardableResult
    func playerctl(_ words: String...) async throws -> String {
        String(
            decoding: try await RunningProcess.run("playerctl", words, environment: bus.environment),
            as: UTF8.self
        ).trimmingCharacters(in: .newlines)
    }

    /// Waits until `playerctl` prints `text` for these words.
    func wait(for text: String, _ words: String...) async throws {
        try await TestSupport.wait(for: "\(text) as the answer to \(words)") {
            let output = try? await RunningProcess.run("playerctl", words, environment: bus.environment)
            return output.map { String(decoding: $0, as: UTF8.self) } == text + "\n"
        }
    }
}
