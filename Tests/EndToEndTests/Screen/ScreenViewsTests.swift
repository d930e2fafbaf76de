import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The views and the commands of the queue, in the built program.
struct ScreenViewsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Three songs of 40 seconds from a server, the first one playing.
    private func start(_ server: TestOrigin) async throws -> ScreenStage {
        for (seed, name) in ["first", "second", "third"].enumerated() {
            let song = try await MP3Fixtures.file(.init(seconds: 40, seed: UInt64(seed + 1)))
            server.set([UInt8](try Data(contentsOf: URL(fileURLWithPath: song))), at: "/\(name).mp3")
        }
        let urls = ["first", "second", "third"].map { server.url("/\($0).mp3") }
        let stage = try await ScreenStage.playing(urls, folder: folder)
        return stage
    }

    @Test func `each view shows its content, and the playing track cannot be deleted from the cache`()
        async throws
    {
        let server = try TestOrigin()
        let stage = try await start(server)
        try await stage.keys("2")
        try await stage.terminal.wait(for: "MPEG-1 Layer III")
        try await stage.keys("3")
        // The track played last comes first.
        try await stage.wait(for: "the piece that plays") { stage in
            try await stage.terminal.capture()[3].contains("first")
        }
        try await stage.keys("d")
        try await stage.terminal.wait(for: "again to delete")
        try await stage.keys("d")
        try await stage.terminal.wait(for: "it is being played")
        try await stage.keys("P")
        try await stage.terminal.wait(for: "♦")
        try await stage.keys("4")
        try await stage.terminal.wait(for: "demand")
        try await stage.terminal.wait(for: "206  first.mp3")
        try await stage.keys("5")
        try await stage.terminal.wait(for: "No messages yet")
        try await stage.keys("Tab")
        try await stage.terminal.wait(for: "play/pause")
        for isPinned in [true, false] {
            let pinned = ["cache", "list", "--json", "--pinned", "--cache-dir", folder.path("cache")]
            try await wait(for: "the changed pin in the cache") {
                let list = try await RunningProcess.run(BuiltProducts.reprise, pinned)
                return String(decoding: list, as: UTF8.self).contains("/first.mp3") == isPinned
            }
            try await stage.keys("1")
            for isShown in [isPinned, !isPinned] {
                try await stage.wait(for: "the pin in the queue") { stage in
                    try await stage.terminal.capture().contains {
                        $0.contains("1   first") && $0.contains("♦") == isShown
                    }
                }
                // It changes what is shown.
                if isShown == isPinned { try await stage.keys("P") }
            }
        }
        try await stage.quit()
    }

    @Test func `the open view of the cache follows the bytes stored and the tracks played, without a key`()
        async throws
    {
        let first = try await MP3Fixtures.bytes(.init(seconds: 60, rate: .constant(320), seed: 1))
        let second = try await MP3Fixtures.bytes(.init(seconds: 60, rate: .constant(320), seed: 2))
        let server = try TestOrigin(["/first.mp3": first, "/second.mp3": second])
        let gate = server.origin.hold("/first.mp3", .afterBytesTogether(1_000_000))
        let stage = try await ScreenStage.playing(
            ["--read-ahead", "all", server.url("/first.mp3"), server.url("/second.mp3")],
            folder: folder
        )
        try await stage.keys("3")
        try await gate.reached()
        try await stage.wait(for: "a part of the track") { stage in
            let row = try await stage.terminal.capture()[2]
            return row.contains("first") && row.contains("%") && !row.contains("100 %")
        }
        gate.release()
        try await stage.wait(for: "the whole track") { stage in
            try await stage.terminal.capture()[2].contains("100 %")
        }
        #expect(server.log.sentRanges(for: "/first.mp3") == ByteRangeSet(0..<Int64(first.count)))
        #expect(server.log.bytesSent(for: "/first.mp3") == Int64(first.count))
        try await stage.keys(">")
        try await stage.wait(for: "the current track in the first row") { stage in
            let screen = try await stage.terminal.capture()
            return screen[2].contains("second") && screen[3].contains("first")
        }
        try await stage.quit()
    }

    @Test func `tracks are found, filtered, marked, removed, restored, sorted and saved`() async throws {
        let server = try TestOrigin()
        let stage = try await start(server)
        try await stage.terminal.type("fsec")
        try await stage.terminal.wait(for: "1 of 3")
        try await stage.keys("Enter", "x", "Escape")
        try await stage.terminal.wait(for: "• 2   second")
        try await stage.terminal.type("/thi")
        try await stage.terminal.wait(for: "/thi▏")
        try await stage.keys("Enter", "x")
        try await stage.terminal.wait(for: "2 marked")
        try await stage.keys("d")
        try await stage.terminal.wait(for: "1 track")
        try await stage.keys("u")
        try await stage.terminal.wait(for: "Restored 2 tracks")
        try await stage.keys("g", "j", "J")
        try await stage.waitForCurrent(2)
        try await stage.terminal.type("Ssource")
        try await stage.keys("Enter")
        try await stage.waitForCurrent(1)
        let list = folder.path("saved.m3u8")
        try await stage.terminal.type("w\(list)")
        try await stage.keys("Enter")
        try await stage.terminal.wait(for: "Saved 3 tracks as")
        let saved = try String(contentsOfFile: list, encoding: .utf8)
        #expect(saved.split(separator: "\n").filter { $0.hasPrefix("http") }.count == 3)
        try await stage.quit()
    }

    @Test func `the mouse seeks in the bar, plays a row and opens a view`() async throws {
        let server = try TestOrigin()
        let stage = try await start(server)
        try await stage.pause()
        // As terminals report buttons: cells count from 1.
        try await stage.terminal.type("\u{1B}[<0;41;22M\u{1B}[<0;41;22m")
        try await stage.wait(for: "the middle") { (19...21).contains(try await $0.position ?? 0) }
        let click = "\u{1B}[<0;9;5M\u{1B}[<0;9;5m"
        try await stage.terminal.type(click + click)
        try await stage.waitForCurrent(2)
        try await stage.terminal.type("\u{1B}[<0;24;1M\u{1B}[<0;24;1m")
        try await stage.terminal.wait(for: "LAST PLAYED")
        try await stage.quit()
    }
}
