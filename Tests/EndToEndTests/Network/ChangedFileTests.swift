import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// A file that is replaced on its server during playback, through the binary.
@Suite struct ChangedFileTests {
    @Test func `if the file changes during playback, the new one goes on at the same position`() async throws
    {
        let old = ExactMusic.made(MP3Fixtures.Options(seconds: 60, rate: .constant(192), seed: 3))
        let new = ExactMusic.made(MP3Fixtures.Options(seconds: 60, rate: .constant(192), seed: 4))
        let stage = try await Stage(try await old.bytes)
        let path = Stage.path(0)
        let gate = stage.server.origin.hold(path, .afterBytesTogether(300_000))
        let run = try stage.session([stage.url()], options: ["--read-ahead", "200kB"])
        try await gate.reached()
        stage.server.set(try await new.bytes, at: path)
        gate.release()
        let sound = try await run.finish()

        let before = try await old.reference
        let after = try await new.reference
        let change = try #require(sound.firstDifference(from: before), "the new file is heard")
        // At 192 kbit/s a quarter of a megabyte is ten seconds.
        #expect(change > 10 * 44_100 * 4)
        expectSame(sound.suffix(from: change), as: after.suffix(from: change))
        #expect(try run.ends.map(\.reason) == ["finished"])
        #expect(try run.notices.map(\.code) == ["resource-changed"])

        // Only the new file is cached, as far as it was played.
        let claims = try stage.claims()
        #expect(try claims.firstFalseByte(comparedWith: try await new.bytes) == nil)
        #expect(claims.ranges.byteCount > 500_000)
    }

    /// nginx makes its validators of size and time, so those of two servers differ for one file.
    @Test func `a file behind two servers with different validators is downloaded and played to its end`()
        async throws
    {
        let bytes = try await MP3Fixtures.bytes(.init(seconds: 60, rate: .constant(320)))
        let stage = try await Stage()
        var servers: [NginxServer] = []
        for (name, hours) in [("one", 1.0), ("two", 2.0)] {
            try stage.folder.makeFolder(name)
            let path = try stage.folder.write(bytes, to: name + "/song.mp3")
            servers.append(try await NginxServer(serving: stage.folder.path(name)))
            let date = Date(timeIntervalSinceNow: -3_600 * hours)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
        // The requests of a connection go to the two in turn.
        let balancer = try await NginxServer(
            serving: stage.folder.path("one"),
            extra: """
                location / {
                    if ($connection_requests ~ "[02468]$") { proxy_pass \(servers[0].baseURL); }
                    proxy_pass \(servers[1].baseURL);
                }
                """
        )
        let played = try await stage.play([balancer.url("/song.mp3")])
        #expect(played.status == 0)
        #expect(played.events.last { $0.event == "ended" }?.reason == "finished")
        #expect(played.events.filter { $0.event == "notice" }.map(\.code) == ["resource-changed"])
        try await balancer.settle()
        #expect(servers.allSatisfy { $0.accesses.contains { $0.status == 206 } }, "both have served parts")
        // Of each of the two changes, at most what was read ahead until then is downloaded again.
        let sent = balancer.accesses.filter { $0.status == 206 }.reduce(0) { $0 + $1.bytes }
        #expect(sent < 2 * bytes.count, "\(sent)")
        // Without validators, bytes after a jump are cached only once others reach them. If a change came so
        // late that the player jumped, the second playing fetches those between.
        let second = try await stage.play([balancer.url("/song.mp3")])
        #expect(second.status == 0)
        #expect(second.events.allSatisfy { $0.event != "notice" }, "the bytes are compared from the start")
        let third = try await stage.play([balancer.url("/song.mp3")])
        #expect(third.status == 0)
        #expect(third.events.last?.requests == 0, "all is cached")
    }
}
