import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// A book of eleven hours in one file, whose tables have megabytes, through the built player.
@Suite(.serialized) struct BookPlayingTests {
    private static let hours = 11

    /// A minute of noise, again and again, with the tables in front or behind.
    private static func book(in folder: TemporaryFolder, isFront: Bool) async throws -> [UInt8] {
        let silent = ["-v", "error", "-nostdin", "-y"]
        let minute = folder.path("minute.m4a")
        let noise = "anoisesrc=duration=60:sample_rate=24000:seed=1:color=pink:amplitude=0.1"
        let coding = ["-c:a", "aac", "-b:a", "12k", "-aac_pns", "0"]
        _ = try await RunningProcess.run("ffmpeg", silent + ["-f", "lavfi", "-i", noise] + coding + [minute])
        let output = folder.path("book.m4b")
        let loop = ["-stream_loop", "\(hours * 60 - 1)", "-i", minute, "-c", "copy"]
        let order = isFront ? ["-movflags", "+faststart"] : []
        _ = try await RunningProcess.run("ffmpeg", silent + loop + order + [output])
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: output)))
    }

    @Test(arguments: [true, false])
    func `a book starts at any hour with a part of its tables, and without a request the next time`(
        isFront: Bool
    ) async throws {
        let stage = try await Stage()
        let path = "/book.m4b"
        stage.server.set(try await Self.book(in: stage.folder, isFront: isFront), at: path)
        let options = ["--read-ahead", "64kB", "--seek", "7:00:00"]
        let first = try stage.session([stage.url(path)], sink: "null", options: options)
        let playing = try await first.event("playing")
        #expect(playing.exact == true && playing.position == 7 * 3_600)
        let position = try await first.event("position")
        #expect(abs((position.duration ?? 0) - Double(Self.hours * 3_600)) < 60)
        let log = stage.server.log
        // The head, the tables, the place in each of them, the music, and what is read ahead of it.
        #expect(log.requests.count <= 7, "\(log.requests.map(\.range))")
        #expect(log.bytesSent < 2_000_000, "\(log.bytesSent)")
        #expect(try first.anonymousKilobytes() <= 14 << 10)
        try await first.quit()

        stage.server.origin.script([], thenAlways: [.silence], for: path)
        let second = try stage.session([stage.url(path)], sink: "null", options: options)
        let again = try await second.event("playing")
        #expect(again.exact == true && again.position == playing.position)
        try await second.quit()
    }
}
