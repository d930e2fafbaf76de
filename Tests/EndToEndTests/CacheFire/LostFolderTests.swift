import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Without a writable folder nothing more is cached, but everything else works.
@Suite(.serialized) struct LostFolderTests {
    @Test(arguments: [false, true])
    func `in a read-only folder what is kept is played and the rest is fetched`(isPartlyCached: Bool)
        async throws
    {
        let scene: FireScene = isPartlyCached ? .seek : .download
        let stage = try await scene.stage()
        try stage.folder.makeFolder("cache")
        let before = try stage.claims()
        let script = #"mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@""#
        let run = try ExactRun(
            [stage.url()],
            on: stage,
            wrapper: PrivateMounts.running(script, stage.cachePath)
        )
        let sound = try await run.finish()
        let reference = try await FireScene.music[0].reference
        #expect(sound.firstDifference(from: reference) == nil)
        let notices = try run.events.filter { $0.event == "notice" }
        #expect(notices.map(\.code) == ["not-cached"], "\(notices)")
        let length = Int64(try await FireScene.music[0].bytes.count)
        #expect(stage.server.log.bytesSent == length - before.ranges.byteCount)
        #expect(try stage.claims().ranges == before.ranges)
        #expect(try await stage.falseClaims() == [])
    }

    @Test func `what is kept whole in a read-only folder plays without a request and without a word`()
        async throws
    {
        let stage = try await FireScene.download.stage()
        let bytes = try await FireScene.music[0].bytes
        try await stage.prepareCache(ByteRangeSet(0..<Int64(bytes.count)), of: bytes, hasValidators: true)
        let script = #"mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@""#
        let wrapper = PrivateMounts.running(script, stage.cachePath)
        let run = try ExactRun([stage.url()], on: stage, wrapper: wrapper)
        let sound = try await run.finish()
        #expect(sound.firstDifference(from: try await FireScene.music[0].reference) == nil)
        #expect(stage.server.log.requests.isEmpty)
        #expect(try run.events.filter { $0.event == "notice" }.isEmpty)
        func ask(_ words: String...) async throws -> CacheStage.Ending {
            let command = [BuiltProducts.reprise, "cache"] + words + ["--cache-dir", stage.cachePath]
            return try await CacheStage.Ending(
                of: try RunningProcess(wrapper[0], Array(wrapper.dropFirst()) + command)
            )
        }
        let list = try await ask("list")
        #expect(list.status == 0 && list.text.contains(stage.url()), "\(list)")
        let exported = try await ask("export", stage.url(), "-")
        #expect(exported.status == 0 && exported.output == bytes, "\(exported.errors)")
        #expect(try await ask("verify").status == 0)
        // Damage is found there too, and not said to be mended.
        let objects = stage.cachePath + "/objects/"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: objects).first)
        try flipBit(at: 70_000, in: objects + name)
        let damaged = try await ask("verify")
        #expect(damaged.status == 3)
        #expect(damaged.lines.last?.contains("could not be dropped: the folder is read-only or full") == true)
    }

    @Test(arguments: [false, true])
    func `what a killed player left in the index's log is played from a read-only folder`(hasSharedFile: Bool)
        async throws
    {
        let stage = try await FireScene.download.stage()
        let gate = stage.server.origin.hold(ExactStage.path(0), .afterBytesTogether(1_200_000))
        let killed = try ExactRun([stage.url()], on: stage)
        try await gate.reached()
        try await wait(for: "a commit") { try !stage.claims().ranges.isEmpty }
        try await killed.kill()
        gate.release()
        let before = try stage.claims()
        let sent = stage.server.log.bytesSent
        let shared = stage.cachePath + "/index.sqlite-shm"
        if !hasSharedFile { try FileManager.default.removeItem(atPath: shared) }
        let script = #"mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@""#
        let wrapper = PrivateMounts.running(script, stage.cachePath)
        let run = try ExactRun([stage.url()], on: stage, wrapper: wrapper)
        let sound = try await run.finish()
        #expect(sound.firstDifference(from: try await FireScene.music[0].reference) == nil)
        let end = try #require(try run.ends.first)
        #expect(end.bytes?.cached == before.ranges.byteCount)
        let length = Int64(try await FireScene.music[0].bytes.count)
        #expect(stage.server.log.bytesSent - sent == length - before.ranges.byteCount)
        let command = [BuiltProducts.reprise, "cache", "list", "--cache-dir", stage.cachePath]
        let list = try await CacheStage.Ending(
            of: try RunningProcess(wrapper[0], Array(wrapper.dropFirst()) + command)
        )
        #expect(list.status == 0 && list.text.contains(stage.url()), "\(list)")
    }

    @Test(arguments: ["", "objects", "object", "index.sqlite", "index.sqlite-wal", "lock"])
    func `what belongs to another user is refused and left alone, and the music plays`(part: String)
        async throws
    {
        let stage = try await FireScene.seek.stage()
        let objects = stage.cachePath + "/objects/"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: objects).first)
        let path = part == "object" ? objects + name : stage.cachePath + "/" + part
        // Root gives it away. Who is not, puts something of root's in its place.
        let script =
            geteuid() == 0
            ? #"[ -e "$1" ] || : >"$1"; chown 65534:65534 "$1"; shift; "$@"; status=$?; chown 0:0 "$0"; exit $status"#
            : #"[ -e "$1" ] || : >"$1"; [ -d "$1" ] && other=/usr || other=/etc/passwd; mount --bind "$other" "$1"; shift; exec "$@""#
        var wrapper = PrivateMounts.running(script, path)
        if geteuid() == 0 { wrapper[wrapper.count - 2] = path }
        let before = try Data(contentsOf: URL(fileURLWithPath: objects + name))
        let run = try ExactRun([stage.url()], on: stage, wrapper: wrapper)
        let sound = try await run.finish()
        #expect(sound.firstDifference(from: try await FireScene.music[0].reference) == nil)
        let notices = try run.events.filter { $0.event == "notice" }
        #expect(notices.map(\.code) == ["not-cached"], "\(notices)")
        // What may not even be opened has no owner to be asked for.
        let causes = ["belongs to another user", "Permission denied"]
        #expect(causes.contains { notices.first?.message?.contains($0) == true }, "\(notices)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: objects + name)) == before)
        #expect(try await stage.falseClaims() == [])
    }

    @Test(arguments: ["", "/objects", "/index.sqlite"], [100_000, 1_200_000] as [Int64])
    func `what is removed while it plays costs nobody the music`(part: String, held: Int64) async throws {
        let stage = try await FireScene.download.stage()
        let gate = stage.server.origin.hold(ExactStage.path(0), .afterBytesTogether(held))
        let run = try ExactRun([stage.url()], on: stage)
        try await gate.reached()
        if held > 1 << 20 {
            try await wait(for: "a commit") { try !stage.claims().ranges.isEmpty }
        }
        try FileManager.default.removeItem(atPath: stage.cachePath + part)
        gate.release()
        let sound = try await run.finish()
        let reference = try await FireScene.music[0].reference
        #expect(sound.firstDifference(from: reference) == nil)
        let notices = try run.events.filter { $0.event == "notice" }
        #expect(notices.map(\.code) == ["not-cached"], "\(notices)")
        #expect(try await stage.falseClaims() == [])

        let next = try await stage.play()
        #expect(next.firstDifference(from: reference) == nil)
        let length = Int64(try await FireScene.music[0].bytes.count)
        #expect(try stage.claims().ranges == ByteRangeSet(0..<length))
        #expect(try await stage.falseClaims() == [])
    }
}
