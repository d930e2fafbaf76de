import Foundation
import TestSupport
import Testing

/// A recording in progress behind nginx, played by the binary while it grows.
@Suite struct GrowingFileTests {
    /// Music without a header that states its length, as a recorder writes it.
    private func recording(seconds: Int) async throws -> [UInt8] {
        let song = try await MP3Fixtures.bytes(.init(seconds: seconds, rate: .constant(320)))
        // The first frame holds only the header of LAME.
        let second = try #require((500..<2_000).first { song[$0] == 0xFF && song[$0 + 1] == 0xFB })
        return Array(song[second...])
    }

    /// nginx makes its validators of size and time, so that each growth is another file to it.
    @Test(arguments: [true, false])
    func `a recording in progress plays to the end of its bytes, whatever its validators`(
        hasValidators: Bool
    ) async throws {
        let stage = try await Stage()
        let bytes = try await recording(seconds: 20)
        let second = bytes.count / 20
        try stage.folder.makeFolder("web")
        // Nine seconds more than the player reads ahead: for so long, a busy machine may keep this test from
        // writing.
        var written = 12 * second
        let path = try stage.folder.write(Array(bytes[..<written]), to: "web/recording.mp3")
        let server = try await NginxServer(
            serving: stage.folder.path("web"),
            extra: hasValidators ? "" : "etag off; add_header Last-Modified \"\";"
        )
        let process = try stage.startPlaying(["--read-ahead", "64kB", server.url("/recording.mp3")])
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        // Grows twice as fast as it is played.
        while written < bytes.count {
            try await process.event("position", after: process.lines.count)
            let end = min(bytes.count, written + 2 * second)
            try file.write(contentsOf: Data(bytes[written..<end]))
            written = end
        }
        let end = try await process.event("ended")
        #expect(end.reason == "finished", "\(process.lines)")
        let seconds = Double(end.frames ?? 0) / 44_100
        #expect(abs(seconds - 20) < 1, "\(seconds) s were heard")
        let notices = try process.events.filter { $0.event == "notice" }.map(\.code)
        #expect(notices == (hasValidators ? ["resource-changed"] : []))
        #expect(try await process.waitForExit() == 0)
    }
}
