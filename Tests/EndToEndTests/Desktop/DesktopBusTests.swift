import Foundation
import TestSupport
import Testing

/// When the player is on the bus, under which name, and what happens if the bus is lost.
struct DesktopBusTests {
    private let desktop: DesktopStage

    init() async throws { desktop = try await DesktopStage() }

    @Test func `a second player has a name of its own, and only a player that was told to takes media keys`()
        async throws
    {
        // Scripts stay off the bus.
        let script = try await desktop.play([])
        let first = try await desktop.play()
        try await desktop.wait(forPlayers: "reprise")
        let second = try await desktop.play()
        try await desktop.wait(forPlayers: "reprise", "reprise.instance\(second.processIdentifier)")
        try first.send("quit")
        try await desktop.wait(forPlayers: "reprise.instance\(second.processIdentifier)")
        for player in [script, second] { try player.send("quit") }
        for player in [script, first, second] { #expect(try await player.waitForExit() == 0) }
    }

    @Test func `a player with a screen is on the bus, unless it is told not to`() async throws {
        let other = try await ScreenStage.playing(
            ["--no-mpris"] + desktop.tracks,
            folder: try TemporaryFolder(),
            environment: desktop.bus.environment
        )
        let screen = try await ScreenStage.playing(
            desktop.tracks,
            folder: desktop.stage.folder,
            environment: desktop.bus.environment
        )
        try await desktop.wait(forPlayers: "reprise")
        try await desktop.playerctl("pause")
        try await screen.waitForStatus("Paused")
        for stage in [other, screen] { try await stage.keys("q") }
    }

    @Test func `the bus may die and come back`() async throws {
        let player = try await desktop.play()
        try await desktop.wait(forPlayers: "reprise")
        try await desktop.bus.crash()
        let count = player.lines.count
        try await player.event("position", after: count)
        try await desktop.bus.start()
        try await desktop.wait(forPlayers: "reprise")
        try await desktop.playerctl("pause")
        try await player.event("paused")
        try player.send("quit")
        #expect(try await player.waitForExit() == 0 && player.errorText.isEmpty)
    }

    @Test func `a bus that gives it no name changes nothing`() async throws {
        let bus = try await SessionBus(refusesNames: true)
        let player = try await desktop.play(environment: bus.environment)
        // It has asked for both of its names once it takes commands again and again.
        for _ in 1...3 {
            let count = player.lines.count
            try player.send("status")
            try await player.event("status", after: count)
            try await player.event("position", after: count)
        }
        try player.send("quit")
        #expect(try await player.waitForExit() == 0 && player.errorText.isEmpty)
    }

    @Test func `without a bus the music plays, and nothing is said`() async throws {
        let player = try await desktop.play(environment: [:])
        try player.send("quit")
        #expect(try await player.waitForExit() == 0)
        #expect(player.errorText.isEmpty)
    }
}
