import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Without a writable folder nothing more is cached, but everything else works.
@Suite(.serialized) struct LostFolderTests {
    @Test(arguments: [false, true])
    func `in a read-only folder cached bytes are played and the rest is fetched`(
        isPartlyCached: Bool
    ) async throws {
        let scene: FireScene = isPartlyCached ? .seek : .download
        let stage = try await scene.stage()
        try stage.folder.makeFolder("cache")
        let before = try stage.claims()
        let run = try stage.session([stage.url()], wrapper: PrivateMounts.readOnly(stage.cachePath))
        try await expectSame(run.finish(), as: FireScene.music[0].reference)
        #expect(try run.notices.map(\.code) == ["not-cached"])
        let length = Int64(try await FireScene.music[0].bytes.count)
        #expect(stage.server.log.bytesSent == length - before.ranges.byteCount)
        #expect(try stage.claims().ranges == before.ranges)
        #expect(try await stage.falseClaims() == [])
    }

    @Test func `a whole track in a read-only folder plays without a request and without a notice`()
        async throws
    {
        let stage = try await FireScene.download.stage()
        let bytes = try await FireScene.music[0].bytes
        try await stage.prepareCache(ByteRangeSet(0..<Int64(bytes.count)), of: bytes)
        let wrapper = PrivateMounts.readOnly(stage.cachePath)
        let run = try stage.session([stage.url()], wrapper: wrapper)
        try await expectSame(run.finish(), as: FireScene.music[0].reference)
        #expect(stage.server.log.requests.isEmpty)
        #expect(try run.notices.isEmpty)
        let list = try await stage.cache("list", wrapper: wrapper)
        #expect(list.status == 0 && list.output.contains(stage.url()), "\(list)")
        let exported = try await stage.cache("export", stage.url(), "-", wrapper: wrapper)
        #expect(exported.status == 0 && exported.bytes == bytes, "\(exported.errors)")
        #expect(try await stage.cache("verify", wrapper: wrapper).status == 0)
        // Damage is found there too, and reported as still there.
        try flipBit(at: 70_000, in: stage.objectFiles[0])
        let damaged = try await stage.cache("verify", wrapper: wrapper)
        #expect(damaged.status == 3)
        #expect(damaged.lines.last?.contains("the folder is read-only or full") == true)
    }

    @Test(arguments: [false, true])
    func `bytes that a killed player left in the index's log are played from a read-only folder`(
        hasSharedFile: Bool
    ) async throws {
        let stage = try await FireScene.download.stage()
        let gate = stage.server.origin.hold(Stage.path(0), .afterBytesTogether(1_200_000))
        let killed = try stage.session([stage.url()])
        try await gate.reached()
        try await wait(for: "a commit") { try !stage.claims().ranges.isEmpty }
        try await killed.kill()
        // From here on, the log has no bytes that the server still sends to the killed player.
        stage.server.log.reset()
        gate.release()
        let before = try stage.claims()
        let shared = stage.cachePath + "/index.sqlite-shm"
        if !hasSharedFile { try FileManager.default.removeItem(atPath: shared) }
        let wrapper = PrivateMounts.readOnly(stage.cachePath)
        let run = try stage.session([stage.url()], wrapper: wrapper)
        try await expectSame(run.finish(), as: FireScene.music[0].reference)
        let end = try #require(try run.ends.first)
        #expect(end.bytes?.cached == before.ranges.byteCount)
        let length = Int64(try await FireScene.music[0].bytes.count)
        #expect(stage.server.log.bytesSent == length - before.ranges.byteCount)
        let list = try await stage.cache("list", wrapper: wrapper)
        #expect(list.status == 0 && list.output.contains(stage.url()), "\(list)")
    }

    @Test(arguments: ["", "objects", "object", "index.sqlite", "index.sqlite-wal", "lock"])
    func `another user's file is refused and left alone, and the music plays`(part: String) async throws {
        let stage = try await FireScene.seek.stage()
        let object = try #require(stage.objectFiles.first)
        let path = part == "object" ? object : stage.cachePath + "/" + part
        // Root gives the file away; another user puts one of root's in its place.
        let script =
            geteuid() == 0
            ? #"[ -e "$1" ] || : >"$1"; chown 65534:65534 "$1"; shift; "$@"; status=$?; chown 0:0 "$0"; exit $status"#
            : #"[ -e "$1" ] || : >"$1"; [ -d "$1" ] && other=/usr || other=/etc/passwd; mount --bind "$other" "$1"; shift; exec "$@""#
        var wrapper = PrivateMounts.running(script, path)
        if geteuid() == 0 { wrapper[wrapper.count - 2] = path }
        let before = try Data(contentsOf: URL(fileURLWithPath: object))
        let run = try stage.session([stage.url()], wrapper: wrapper)
        try await expectSame(run.finish(), as: FireScene.music[0].reference)
        let notices = try run.notices
        #expect(notices.map(\.code) == ["not-cached"], "\(notices)")
        // The owner of a file that cannot be opened is unknown.
        let causes = ["belongs to another user", "Permission denied"]
        #expect(causes.contains { notices.first?.message?.contains($0) == true }, "\(notices)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: object)) == before)
        #expect(try await stage.falseClaims() == [])
    }

    @Test(arguments: ["", "/objects", "/index.sqlite"], [100_000, 1_200_000] as [Int64])
    func `files removed during playback cost no music`(part: String, held: Int64) async throws {
        let stage = try await FireScene.download.stage()
        let gate = stage.server.origin.hold(Stage.path(0), .afterBytesTogether(held))
        let run = try stage.session([stage.url()])
        try await gate.reached()
        if held > 1 << 20 {
            try await wait(for: "a commit") { try !stage.claims().ranges.isEmpty }
        }
        try FileManager.default.removeItem(atPath: stage.cachePath + part)
        gate.release()
        let sound = try await run.finish()
        let reference = try await FireScene.music[0].reference
        expectSame(sound, as: reference)
        let notices = try run.notices
        #expect(notices.map(\.code) == ["not-cached"], "\(notices)")
        #expect(try await stage.falseClaims() == [])

        let next = try await stage.samples()
        expectSame(next, as: reference)
        let length = Int64(try await FireScene.music[0].bytes.count)
        #expect(try stage.claims().ranges == ByteRangeSet(0..<length))
        #expect(try await stage.falseClaims() == [])
    }
}
