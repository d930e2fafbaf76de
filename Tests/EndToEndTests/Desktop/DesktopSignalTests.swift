import Foundation
import TestSupport
import Testing

/// The signals of the player on the bus, as a program that listens sees them.
struct DesktopSignalTests {
    /// A person's or program's action, and the signals that follow.
    private struct Action {
        /// Words for `playerctl`.
        var words: [String] = []
        /// A line for the player's standard input.
        var line = ""
        /// The properties that may change.
        let changed: Set<String>
        /// A text of one of the signals.
        var shown = ""
        /// The seconds that `Seeked` states, without their fraction; `nil` if no `Seeked` follows.
        var place: Int?
    }

    private static let actions = [
        Action(words: ["volume", "0.25"], changed: ["Volume"], shown: "<0.25>"),
        Action(words: ["loop", "Track"], changed: ["LoopStatus"], shown: "<'Track'>"),
        Action(words: ["loop", "Playlist"], changed: ["LoopStatus"], shown: "<'Playlist'>"),
        Action(words: ["loop", "None"], changed: ["LoopStatus"], shown: "<'None'>"),
        Action(words: ["shuffle", "On"], changed: ["Shuffle", "CanGoNext"], shown: "'Shuffle': <true>"),
        Action(words: ["shuffle", "Off"], changed: ["Shuffle", "CanGoNext"], shown: "'Shuffle': <false>"),
        Action(words: ["pause"], changed: ["PlaybackStatus"], shown: "<'Paused'>"),
        Action(words: ["position", "30"], changed: [], place: 30),
        Action(words: ["position", "5-"], changed: [], place: 25),
        Action(line: "seek 0:10", changed: [], place: 10),
        Action(line: "volume 50", changed: ["Volume"], shown: "<0.5>"),
        Action(line: "mute", changed: ["Volume"], shown: "<0.0>"),
        Action(line: "mute", changed: ["Volume"], shown: "<0.5>"),
        Action(line: "repeat all", changed: ["LoopStatus"], shown: "<'Playlist'>"),
        Action(line: "repeat off", changed: ["LoopStatus"], shown: "<'None'>"),
        Action(words: ["next"], changed: ["Metadata"], shown: "Title 2"),
        Action(words: ["next"], changed: ["Metadata", "CanGoNext"], shown: "Title 3"),
        Action(words: ["previous"], changed: ["Metadata", "CanGoNext"], shown: "Title 2"),
        Action(words: ["position", "40"], changed: [], place: 40),
        Action(words: ["previous"], changed: [], place: 0),
        Action(words: ["play"], changed: ["PlaybackStatus"], shown: "<'Playing'>"),
        Action(words: ["stop"], changed: ["PlaybackStatus", "CanSeek"], shown: "<'Stopped'>"),
    ]

    private let desktop: DesktopStage

    init() async throws { desktop = try await DesktopStage() }

    @Test func `each action is told once, with what it changes and nothing else`() async throws {
        let player = try await desktop.play()
        try await desktop.wait(for: "Title 1", "metadata", "title")
        let monitor = try RunningProcess(
            "gdbus",
            ["monitor", "--session", "--dest", "org.mpris.MediaPlayer2.reprise"],
            environment: desktop.bus.environment
        )
        try await monitor.waitForLine { $0.contains("is owned by") }
        for action in Self.actions {
            let start = monitor.lines.count
            if action.line.isEmpty {
                _ = try await RunningProcess.run(
                    "playerctl",
                    action.words,
                    environment: desktop.bus.environment
                )
            } else {
                try player.send(action.line)
            }
            try await monitor.waitForLine(from: start) { line in
                if let place = action.place { return Self.place(in: line) == place }
                return line.contains(action.shown)
            }
            let lines = monitor.lines.dropFirst(start)
            let changed = Set(lines.flatMap(Self.changed))
            #expect(changed.isSubset(of: action.changed), "\(action): \(lines)")
            // A busy machine may take long to begin.
            let mayJump = action.place != nil || action.changed.contains("PlaybackStatus")
            #expect(lines.compactMap(Self.place).count <= (mayJump ? 1 : 0), "\(action): \(lines)")
        }
        #expect(!monitor.lines.contains { $0.contains("Position") })
        try player.send("quit")
        #expect(try await player.waitForExit() == 0)
    }

    /// The names of the properties in a line about `PropertiesChanged`.
    private static func changed(in line: String) -> [String] {
        guard line.contains("PropertiesChanged ") else { return [] }
        // Those of the metadata have a colon in their names.
        return line.matches(of: #/'([A-Za-z]+)': /#).map { String($0.1) }
    }

    /// The seconds in a line about `Seeked`.
    private static func place(in line: String) -> Int? {
        line.firstMatch(of: /Seeked \(int64 (\d+),\)/).flatMap { Int($0.1) }.map { $0 / 1_000_000 }
    }
}
