import Foundation
import TestSupport
import Testing

/// The state that a session saves for the next.
@Suite struct ScreenSessionTests {
    private let folder: TemporaryFolder
    private let songs: [String]

    init() async throws {
        folder = try TemporaryFolder()
        let bytes = try await MP3Fixtures.bytes(.init(seconds: 40))
        songs = try ["first", "second", "third"].map { [folder] in try folder.write(bytes, to: "\($0).mp3") }
    }

    private var database: String { folder.path("state/reprise/state.sqlite") }

    /// The content of the state's database, the bytes between its texts included.
    private var savedText: String {
        String(decoding: (try? Data(contentsOf: URL(fileURLWithPath: database))) ?? Data(), as: UTF8.self)
    }

    /// Leaves a session with the second song paused at 0:30, at volume 45 and repeating.
    private func leave(by end: (ScreenStage) async throws -> Void) async throws {
        let stage = try await ScreenStage.playing(
            ["--volume", "50", "--repeat", "all"] + songs,
            folder: folder
        )
        try await stage.keys(">")
        try await stage.waitForCurrent(2)
        try await stage.keys("-", "Space")
        try await stage.waitForStatus("Paused")
        try await stage.command("seek 0:30")
        try await stage.waitForPosition(30)
        try await end(stage)
        _ = try await stage.ending()
    }

    private func expectResumed() async throws {
        let stage = try await ScreenStage([], folder: folder)
        try await stage.waitForStatus("Paused")
        try await stage.waitForPosition(30)
        #expect(try await stage.terminal.capture()[0].contains("3 tracks"))
        try await stage.waitForCurrent(2)
        let status = try await stage.status
        #expect(status.contains("vol 45%") && status.contains("repeat all"))
        try await stage.keys("Space")
        try await stage.wait(for: "time to pass") { try await ($0.position ?? 0) > 30 }
        try await stage.quit()
    }

    @Test(arguments: [0, SIGTERM, SIGHUP])
    func `the queue, the position, the volume and the modes are restored, after a signal too`(
        signal: Int32
    ) async throws {
        try await leave { try await signal > 0 ? $0.signal(signal) : $0.keys("q") }
        try await expectResumed()
        let mode = try FileManager.default.attributesOfItem(atPath: database)
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }

    @Test func `with a source only volume and modes are restored, and with --fresh nothing`()
        async throws
    {
        try await leave { try await $0.terminal.sendKeys("q") }
        let other = try await ScreenStage.playing([songs[2]], folder: folder)
        #expect(try await other.terminal.capture()[0].contains("1 track"))
        let status = try await other.status
        #expect(status.contains("vol 45%") && status.contains("repeat all"))
        try await other.quit()

        let fresh = try await ScreenStage(["--fresh"], folder: folder)
        try await fresh.terminal.wait(for: "0 tracks")
        #expect(try await fresh.status.contains("vol 100%"))
        try await fresh.quit()
        // Nothing was played, so the earlier state is still there.
        #expect(savedText.contains("third.mp3"))
    }

    @Test func `a damaged state is left as it is with a notice, and no secret is written`() async throws {
        try folder.write([0xFF, 0x00, 0x1B], to: "state/reprise/state.sqlite")
        let server = try TestOrigin(["/a.mp3": [UInt8](try Data(contentsOf: URL(fileURLWithPath: songs[0])))])
        let url = server.url("/a.mp3").replacing("://", with: "://me:hidden@")
        // The notice begins with a path.
        let stage = try await ScreenStage.playing([url], folder: folder, columns: 200)
        try await stage.wait(for: "the notice") {
            try await $0.row(fromBelow: 1).contains("state.sqlite: this session is not saved")
        }
        try await stage.quit()
        #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == Data([0xFF, 0x00, 0x1B]))
        try FileManager.default.removeItem(atPath: database)
        let next = try await ScreenStage.playing([url], folder: folder)
        try await next.quit()
        #expect(savedText.contains("/a.mp3") && !savedText.contains("hidden"))
    }

    @Test func `a long track resumes where it was left, whatever was played in between`() async throws {
        let long = try folder.write(
            try await MP3Fixtures.bytes(
                .init(seconds: 1_260, rate: .constant(16), sampleRate: 16_000, isMono: true)
            ),
            to: "podcast.mp3"
        )
        let stage = try await ScreenStage.playing([long, songs[0]], folder: folder)
        try await stage.command("seek 10:00")
        try await stage.wait(for: "10:00") { try await ($0.position ?? 0) >= 600 }
        try await stage.keys(">")
        try await stage.waitForCurrent(2)
        try await stage.keys("<")
        try await stage.waitForCurrent(1)
        try await stage.waitForStatus("Playing")
        try await stage.wait(for: "10:00 again") { try await ($0.position ?? 0) >= 600 }
        try await stage.quit()

        let next = try await ScreenStage.playing([long], folder: folder)
        try await next.wait(for: "10:00 the next day") { try await ($0.position ?? 0) >= 600 }
        try await next.quit()
    }
}
