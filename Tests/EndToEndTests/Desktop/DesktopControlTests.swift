import Foundation
import TestSupport
import Testing

/// The player as other programs see and control it, by MPRIS.
struct DesktopControlTests {
    private let desktop: DesktopStage

    init() async throws { desktop = try await DesktopStage() }

    @Test func `a program reads what is played`() async throws {
        let player = try await desktop.play()
        try await desktop.wait(forPlayers: "reprise")
        try await desktop.wait(
            for: "Title 1|Artist 1|60000000",
            "metadata",
            "-f",
            "{{title}}|{{artist}}|{{mpris:length}}"
        )
        #expect(try await desktop.playerctl("status") == "Playing")
        #expect(try await desktop.playerctl("metadata", "xesam:url") == "file://" + desktop.tracks[0])
        try player.send("pause")
        try await desktop.wait(for: "Paused", "status")
        try player.send("seek 0:30")
        try await desktop.wait(for: "30.000000", "position")
        try player.send("quit")
        #expect(try await player.waitForExit() == 0)
    }

    @Test func `a program controls the player`() async throws {
        let player = try await desktop.play()
        try await desktop.wait(forPlayers: "reprise")
        for (words, event) in [
            (["pause"], "paused"), (["position", "20"], "seeked"), (["volume", "0.4"], "volume"),
            (["loop", "Playlist"], "mode"), (["shuffle", "On"], "mode"), (["play"], "playing"),
            (["next"], "track"), (["stop"], "ended"), (["play-pause"], "playing"),
        ] {
            let count = player.lines.count
            _ = try await RunningProcess.run("playerctl", words, environment: desktop.bus.environment)
            try await player.event(event, after: count)
        }
        #expect(try await desktop.playerctl("volume") == "0.400000")
        #expect(try await desktop.playerctl("loop") == "Playlist")
        #expect(try await desktop.playerctl("shuffle") == "On")
        try await desktop.bus.run(
            "gdbus",
            "call",
            "--session",
            "--dest",
            "org.mpris.MediaPlayer2.reprise",
            "--object-path",
            "/org/mpris/MediaPlayer2",
            "--method",
            "org.mpris.MediaPlayer2.Quit"
        )
        #expect(try await player.waitForExit() == 0)
    }

    @Test func `the interfaces are those of the specification`() async throws {
        let player = try await desktop.play()
        try await desktop.wait(forPlayers: "reprise")
        let text = try await desktop.bus.run(
            "gdbus",
            "introspect",
            "--session",
            "--xml",
            "--dest",
            "org.mpris.MediaPlayer2.reprise",
            "--object-path",
            "/org/mpris/MediaPlayer2"
        )
        #expect(Self.members(in: text, of: "org.mpris.MediaPlayer2") == Self.root)
        #expect(Self.members(in: text, of: "org.mpris.MediaPlayer2.Player") == Self.player)
        try player.send("quit")
        #expect(try await player.waitForExit() == 0)
    }

    @Test(arguments: [true, false])
    func `the server of what a program opens gets no secret of another`(isHeader: Bool) async throws {
        let known = try await desktop.stage.nginx()
        let stranger = try await desktop.stage.nginx()
        var words = ["--mpris"]
        if isHeader {
            words += ["--header", "Authorization: Basic bWU6aHVzaC1odXNoLTQ3MTE="]
        } else {
            let logins = "machine 127.0.0.1\nlogin me\npassword hush-hush-4711\n"
            try desktop.stage.folder.write(logins, to: ".netrc")
        }
        let player = try await desktop.play(words, sources: [known.url("/song.mp3")])
        try await desktop.wait(forPlayers: "reprise")
        for (server, isKnown) in [(stranger, false), (known, true)] {
            let count = player.lines.count
            // Another URL than before: this one is neither cached nor open.
            try await desktop.playerctl("open", server.url("/song.mp3?again"))
            try await player.event("playing", after: count)
            try await desktop.wait(for: server.url("/song.mp3"), "metadata", "xesam:url")
            let asked = server.accesses.filter { $0.target.contains("again") }
            #expect(!asked.isEmpty && asked.allSatisfy { $0.authorization.isEmpty != isKnown })
        }
        try player.send("quit")
        #expect(try await player.waitForExit() == 0)
    }

    /// The members of an interface, each with its types, as `Seek(x)` or `Volume d readwrite`; sorted.
    private static func members(in text: String, of interface: String) -> [String] {
        guard let begin = text.range(of: "<interface name=\"\(interface)\">"),
            let end = text.range(of: "</interface>", range: begin.upperBound..<text.endIndex)
        else { return [] }
        var members: [String] = []
        for line in text[begin.upperBound..<end.lowerBound].split(separator: "\n") {
            func value(_ name: String) -> String {
                guard let start = line.range(of: " \(name)=\"")?.upperBound else { return "" }
                return String(line[start...].prefix { $0 != "\"" })
            }
            if line.contains("<method") || line.contains("<signal") {
                members.append(value("name") + "()")
            } else if line.contains("<arg"), let last = members.popLast() {
                members.append(last.dropLast() + value("type") + ")")
            } else if line.contains("<property") {
                members.append([value("name"), value("type"), value("access")].joined(separator: " "))
            }
        }
        return members.sorted()
    }

    /// From the specification of MPRIS 2.2.
    private static let root = [
        "CanQuit b read", "CanRaise b read", "DesktopEntry s read", "HasTrackList b read", "Identity s read",
        "Quit()", "Raise()", "SupportedMimeTypes as read", "SupportedUriSchemes as read",
    ]
    private static let player = [
        "CanControl b read", "CanGoNext b read", "CanGoPrevious b read", "CanPause b read", "CanPlay b read",
        "CanSeek b read", "LoopStatus s readwrite", "MaximumRate d read", "Metadata a{sv} read",
        "MinimumRate d read", "Next()", "OpenUri(s)", "Pause()", "Play()", "PlayPause()",
        "PlaybackStatus s read", "Position x read", "Previous()", "Rate d readwrite", "Seek(x)", "Seeked(x)",
        "SetPosition(ox)", "Shuffle b readwrite", "Stop()", "Volume d readwrite",
    ]
}
