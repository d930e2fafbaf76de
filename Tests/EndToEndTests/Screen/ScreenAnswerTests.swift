import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Keys are answered while the player waits for something else.
@Suite(.serialized)
struct ScreenAnswerTests {
    private let folder: TemporaryFolder
    private let songs: [String]

    init() async throws {
        folder = try TemporaryFolder()
        let bytes = try await MP3Fixtures.bytes(.init(seconds: 55))
        songs = try ["first", "second"].map { [folder] in try folder.write(bytes, to: "\($0).mp3") }
    }

    @Test func `a screen without a sound server stays, and plays once there is one`() async throws {
        let audio = try await PulseServer()
        try await audio.crash()
        var surroundings = audio.environment
        surroundings["HOME"] = nil
        let stage = try await ScreenStage(
            ["--sink", "pulse:test"] + songs,
            folder: folder,
            environment: surroundings
        )
        try await stage.waitForStatus("No sound server, waiting")
        try await stage.terminal.wait(for: "no sound server answers")
        try await stage.keys(">")
        try await stage.wait(for: "the next track") { try await $0.nowPlaying.contains("second") }
        try await audio.start()
        try await stage.waitForStatus("Playing")
        try await stage.quit()
    }

    @Test(arguments: RealServerKind.allCases)
    func `keys are answered while the sound server is lost`(kind: RealServerKind) async throws {
        let audio = try await kind.start()
        var surroundings = audio.environment
        // The player uses the folders of the stage.
        surroundings["HOME"] = nil
        let stage = try await ScreenStage.playing(
            ["--sink", "pulse:test"] + songs,
            folder: folder,
            environment: surroundings
        )
        try await stage.wait(for: "music") { try await ($0.position ?? 0) >= 1 }
        try await audio.crash()
        try await stage.waitForStatus("No sound server, waiting")
        try await stage.terminal.wait(for: "Sound server lost – waiting")

        // The server is not started again: all of this happens without it.
        try await stage.keys("-")
        try await stage.waitForStatus(containing: "vol 95%")
        try await stage.keys("?")
        try await stage.terminal.wait(for: "play/pause")
        try await stage.keys("5")
        try await stage.terminal.wait(for: "Sound server lost – waiting")
        try await stage.keys("1")
        try await stage.terminal.wait(for: "2   second")
        try await stage.command("seek 0:30")
        try await stage.waitForPosition(30)
        try await stage.keys("Right")
        try await stage.waitForPosition(35)
        #expect(try await stage.isWaitingForBytes)
        try await stage.pause()
        try await stage.keys("Space")
        try await stage.waitForStatus("No sound server, waiting")
        try await stage.keys(">")
        try await stage.wait(for: "the next track") { try await $0.nowPlaying.contains("second") }
        #expect(try await stage.isWaitingForBytes)

        try await audio.start()
        try await stage.waitForStatus("Playing")
        try await stage.wait(for: "music") { try await ($0.position ?? 0) >= 1 }
        try await stage.quit()
    }

    /// A list of 100,000 tracks, of which the server holds back the second half.
    private func heldList() throws -> (server: TestOrigin, gate: OriginGate) {
        let text = (1...100_000).map { "track-\($0).mp3\n" }.joined()
        let server = try TestOrigin(["/long.m3u8": Array(text.utf8)])
        return (server, server.origin.hold("/long.m3u8", .afterBytesTogether(Int64(text.utf8.count) / 2)))
    }

    @Test func `keys are answered while 100,000 tracks are added`() async throws {
        let (server, gate) = try heldList()
        let stage = try await ScreenStage.playing([songs[0]], folder: folder)
        try await stage.command("add \(server.url("/long.m3u8"))")
        try await gate.reached()
        try await stage.pause()
        try await stage.command("seek 0:30")
        try await stage.waitForPosition(30)
        try await stage.keys("?")
        try await stage.terminal.wait(for: "play/pause")
        try await stage.keys("?", "-")
        try await stage.waitForStatus(containing: "vol 95%")
        #expect(try await stage.terminal.capture()[0].contains(" 1 track"))
        gate.release()
        try await keysAreAnswered(on: stage, until: "100001 tracks")
        try await stage.terminal.type("f99999")
        try await stage.wait(for: "the match") {
            try await $0.terminal.capture()[0].contains(" 1 of 100001")
        }
        try await stage.escape(from: "99999▏")
        try await stage.quit()
    }

    @Test func `keys are answered while the session begins with 100,000 tracks`() async throws {
        let (server, gate) = try heldList()
        let stage = try await ScreenStage([songs[0], server.url("/long.m3u8")], folder: folder)
        try await gate.reached()
        try await stage.keys("-")
        try await stage.waitForStatus(containing: "vol 95%")
        try await stage.keys("?")
        try await stage.terminal.wait(for: "play/pause")
        try await stage.keys("1")
        try await stage.terminal.wait(for: "Reading the playlist")
        gate.release()
        try await keysAreAnswered(on: stage, until: "100001 tracks")
        try await stage.quit()
    }

    /// Presses one key after the other, each after the effect of the last is visible, until `text` is on the
    /// screen.
    private func keysAreAnswered(on stage: ScreenStage, until text: String) async throws {
        var percent = 95
        while try await !stage.terminal.capture().contains(where: { $0.contains(text) }), percent > 0 {
            percent -= 5
            try await stage.keys("-")
            try await stage.waitForStatus(containing: "vol \(percent)%")
        }
        try await stage.terminal.wait(for: text)
    }
}
