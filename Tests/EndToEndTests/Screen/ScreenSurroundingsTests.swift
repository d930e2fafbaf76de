import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// The screen with a stalled network, and with a list on standard input.
struct ScreenSurroundingsTests {
    private let folder: TemporaryFolder
    private let path: String

    init() async throws {
        folder = try TemporaryFolder()
        path = try await MP3Fixtures.file(.init(seconds: 60, rate: .constant(320)))
    }

    @Test func `while the network stalls the bar shows the missing bytes, and keys work`() async throws {
        let server = try TestOrigin()
        server.set([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))), at: "/song.mp3")
        // Less than a quarter of the track arrives, then nothing more.
        let gate = server.origin.hold("/song.mp3", .afterBytesTogether(500_000))
        let stage = try await ScreenStage.playing(
            ["--read-ahead", "600K", server.url("/song.mp3")],
            folder: folder
        )
        try await gate.reached()
        let levels = Set("▁▂▃▄▅▆▇█")
        try await stage.wait(for: "a bar of all parts") { stage in
            let bar = try await stage.bar
            return bar.first.map(levels.contains) == true && bar.contains("▒") && bar.hasSuffix("·")
        }
        let bar = try await stage.bar
        #expect(bar.count == 78)
        #expect(bar.filter(levels.contains).count < 20)
        // The seek lands after the gate, where no byte can arrive.
        try await stage.command("seek 0:50")
        try await stage.wait(for: "waiting for bytes") { try await $0.isWaitingForBytes }
        try await stage.keys("?")
        try await stage.terminal.wait(for: "play/pause")
        try await stage.keys("?", "-")
        try await stage.waitForStatus(containing: "vol 95%")
        try await stage.pause()
        try await stage.keys("Space")
        try await stage.wait(for: "waiting for bytes") { try await $0.isWaitingForBytes }
        gate.release()
        try await stage.waitForStatus("Playing")
        try await stage.wait(for: "second 50") { try await ($0.position ?? 0) >= 50 }
        try await stage.quit()
    }

    @Test func `quitting does not wait for a stalled network`() async throws {
        let server = try TestOrigin()
        server.set([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))), at: "/song.mp3")
        let gate = server.origin.hold("/song.mp3", .beforeHead)
        let stage = try await ScreenStage([server.url("/song.mp3")], folder: folder)
        try await gate.reached()
        try await stage.waitForStatus("Opening")
        try await stage.quit()
        #expect(!gate.isReleased && server.log.bytesSent(for: "/song.mp3") == 0)
    }

    @Test func `a list on standard input leaves the keys to the terminal`() async throws {
        let stage = try await ScreenStage.playing(
            ["-"],
            folder: folder,
            feed: "#EXTM3U\n#EXTINF:60,Piped\n\(path)\n"
        )
        #expect(try await stage.nowPlaying.contains("Piped"))
        try await stage.pause()
        try await stage.quit()
    }
}
