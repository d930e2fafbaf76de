import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// The player and the machine's power, by logind and NetworkManager.
struct PowerTests {
    @Test(arguments: ["sleep", "idle"])
    func `the machine may not do what the user has chosen while music plays`(what: String) async throws {
        let power = try await PowerStage()
        let words = ["--mpris", "--inhibit", what]
        let player = try await power.desktop.play(words, environment: power.environment)
        try await power.wait(forInhibitors: ["sleep delay", what + " block"])
        for (command, isHeld) in [("pause", false), ("play", true), ("stop", false), ("play", true)] {
            try player.send(command)
            if isHeld {
                try await power.wait(forInhibitors: ["sleep delay", what + " block"])
            } else {
                try await power.wait(forInhibitors: ["sleep delay"])
            }
        }
        try player.send("quit")
        #expect(try await player.waitForExit() == 0 && player.errorText.isEmpty)
        try await power.wait(forInhibitors: [])
    }

    @Test func `a script inhibits nothing, and neither does a player into a file`() async throws {
        let power = try await PowerStage()
        let options = ["--inhibit", "sleep"]
        let script = try await power.desktop.play(options, environment: power.environment)
        let file = try power.stage.startPlaying(
            ["--mpris"] + options + power.desktop.tracks,
            sink: "wav:" + power.stage.folder.path("music.wav"),
            environment: power.environment
        )
        #expect(try await file.waitForExit() == 0)
        // A player on the desktop came later, and has its inhibitors.
        let player = try await power.desktop.play(["--mpris"] + options, environment: power.environment)
        try await power.wait(forInhibitors: ["sleep delay", "sleep block"])
        for process in [script, player] {
            try process.send("quit")
            #expect(try await process.waitForExit() == 0)
        }
    }

    @Test(arguments: [false, true])
    func `before the sleep the music is paused, and after it nothing plays unless that was chosen`(
        resumes: Bool
    ) async throws {
        let power = try await PowerStage()
        let words = ["--mpris"] + (resumes ? ["--resume-after-sleep"] : [])
        let player = try await power.desktop.play(words, environment: power.environment)
        try await power.wait(forInhibitors: ["sleep delay"])
        for isPlaying in [true, false] {
            // Without the option, it still is.
            if !isPlaying, resumes { try await player.event("paused", of: "pause") }
            let count = player.lines.count
            try await power.signalSleep(true)
            try await power.wait(forInhibitors: [])
            if isPlaying { try await player.event("paused", after: count) }
            try await power.signalSleep(false)
            try await power.wait(forInhibitors: ["sleep delay"])
            if resumes, isPlaying {
                try await player.event("playing", after: count)
            } else {
                _ = try await player.event("status", of: "status")
                #expect(player.lines.last { $0.contains("\"status\"") }?.contains("\"paused\"") == true)
            }
        }
        try player.send("quit")
        #expect(try await player.waitForExit() == 0 && player.errorText.isEmpty)
    }

    @Test func `on a metered network nothing is downloaded ahead, and what plays is read`() async throws {
        let power = try await PowerStage(metered: 1)
        let urls = try await tracks(on: power)
        let player = try await power.desktop.play(
            ["--mpris", "--ahead", "all"],
            sources: urls,
            environment: power.environment
        )
        try await player.waitForLine { $0.contains("\"metered\"") }
        #expect(power.stage.server.log.requests(for: "/2.mp3").isEmpty)
        let download = try await player.event("notice", of: "download 2")
        #expect(download.code == "download")
        try await player.waitForLine(from: player.lines.count - 1) { $0.contains("\"metered\"") }
        #expect(power.stage.server.log.requests(for: "/2.mp3").isEmpty)
        // The next track needs its bytes, and gets them.
        _ = try await player.event("playing", of: "next")
        // A guess counts as well.
        try await power.setMetered(3)
        try await power.setMetered(2)
        try await player.waitForLine { $0.contains("\"unmetered\"") }
        try await player.waitForLine { $0.contains("\"download\"") && $0.contains("3.mp3") }
        try player.send("quit")
        #expect(try await player.waitForExit() == 0)
    }

    @Test(arguments: ["use", "nobody"])
    func `downloads go on if the user says so, or if nobody knows of the network`(reason: String) async throws
    {
        let power = try await PowerStage(metered: 1, hasServices: reason == "use")
        let urls = try await tracks(on: power)
        let options = reason == "use" ? ["--metered", "use"] : []
        let player = try await power.desktop.play(
            ["--mpris", "--ahead", "all"] + options,
            sources: urls,
            environment: power.environment
        )
        try await player.waitForLine { $0.contains("\"event\":\"download\"") && $0.contains("3.mp3") }
        #expect(!player.lines.contains { $0.contains("metered") })
        try player.send("quit")
        #expect(try await player.waitForExit() == 0 && player.errorText.isEmpty)
    }

    @Test func `the machine's bus may die and come back`() async throws {
        let power = try await PowerStage()
        let player = try await power.desktop.play(
            ["--mpris", "--inhibit", "idle"],
            environment: power.environment
        )
        try await power.wait(forInhibitors: ["sleep delay", "idle block"])
        try await power.bus.crash()
        try await player.event("position", after: player.lines.count)
        try await power.bus.start()
        try await power.startServices()
        try await power.wait(forInhibitors: ["sleep delay", "idle block"])
        try player.send("quit")
        #expect(try await player.waitForExit() == 0 && player.errorText.isEmpty)
    }

    @Test func `a player with a screen says that downloads wait`() async throws {
        let power = try await PowerStage(metered: 1)
        let urls = try await tracks(on: power)
        let screen = try await ScreenStage.playing(
            ["--ahead", "all"] + urls,
            folder: power.stage.folder,
            environment: power.environment
        )
        try await screen.terminal.wait(for: "This network is metered")
        try await power.wait(forInhibitors: ["sleep delay"])
        try await screen.keys("q")
    }

    /// The addresses of three tracks of 40 s.
    private func tracks(on power: PowerStage) async throws -> [String] {
        let song = try await MP3Fixtures.bytes(.init(seconds: 40))
        return (1...3).map { number in
            power.stage.server.set(song, at: "/\(number).mp3")
            return power.stage.url("/\(number).mp3")
        }
    }
}
