import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// On a full disk nothing more is cached, but everything else works.
@Suite(.serialized) struct FullDiskSessionTests {
    @Test(arguments: [CallFaults.Kind.full, .fullOnce], TestCount.seeds(8, full: 60))
    func `at whichever call the disk is full the music is whole`(
        kind: CallFaults.Kind,
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let scene: FireScene = [.download, .seek, .eviction][Int(seed) % 3]
        let place = seed < 3 ? Int(seed) : Int.random(in: 0..<(try await scene.callCount()), using: &random)
        let subject = Comment(rawValue: "seed \(seed): \(scene), \(kind) from call \(place) on")
        let stage = try await scene.stage()
        let before = try stage.claims()
        let faults = try CallFaults(below: stage.cachePath, in: stage.folder, fault: (kind, place))
        let run = try stage.session([stage.url()], options: scene.options, environment: faults.environment)
        let sound = try await run.finish()
        let reference = try await FireScene.music[0].reference
        let expected = scene == .seek ? reference.suffix(from: 25 * 44_100 * 4) : reference[...]
        expectSame(sound, as: expected, subject)
        try expectOneNotice(of: run, subject)
        #expect(try await stage.falseClaims() == [], subject)
        #expect(try stage.claims().ranges.isSuperset(of: before.ranges), subject)

        // When there is room again, everything is cached as before.
        try await expectSame(stage.samples(), as: reference, subject)
        let length = Int64(try await FireScene.music[0].bytes.count)
        #expect(try stage.claims().ranges == ByteRangeSet(0..<length), subject)
        #expect(try await stage.falseClaims() == [], subject)
    }

    @Test func `on a disk without a free byte cached tracks play from it, and the rest is fetched`()
        async throws
    {
        let stage = try await FireScene.download.stage()
        let bytes = try await FireScene.music[0].bytes
        let length = Int64(bytes.count)
        try await stage.prepareCache(ByteRangeSet(0..<length), of: bytes)
        let script = """
            cache=$1; shift
            cp -r "$cache" "$cache-copy"
            mount -t tmpfs -o size=3m,mode=700 none "$cache"
            cp -r "$cache-copy/." "$cache"
            cat /dev/zero >"$cache/filler" 2>/dev/null
            exec "$@"
            """
        let run = try stage.session(
            [stage.url(0), stage.url(1)],
            options: ["--min-free", "0"],
            wrapper: PrivateMounts.running(script, stage.cachePath)
        )
        let sound = try await run.finish()
        let reference = try await FireScene.music[0].reference + FireScene.music[1].reference
        expectSame(sound, as: reference)
        #expect(stage.server.log.requests(for: Stage.path(0)).isEmpty)
        #expect(stage.server.log.bytesSent(for: Stage.path(1)) >= length)
        #expect(try run.notices.map(\.code) == ["not-cached"])
    }

    @Test(arguments: [40, 200, 700, 1_300])
    func `on a disk that is too small the music is whole`(kibibytes: Int) async throws {
        let stage = try await FireScene.download.stage()
        try stage.folder.makeFolder("cache")
        let copy = stage.folder.path("copy")
        let script = """
            mount -t tmpfs -o size=\(kibibytes)k,mode=700 none "$1"
            cache=$1; copy=$2; shift 2
            "$@"; status=$?
            cp -r "$cache" "$copy"
            exit $status
            """
        let run = try stage.session(
            [stage.url()],
            options: ["--min-free", "0"],
            wrapper: PrivateMounts.running(script, stage.cachePath, copy)
        )
        let sound = try await run.finish()
        let reference = try await FireScene.music[0].reference
        expectSame(sound, as: reference)
        try expectOneNotice(of: run, "\(kibibytes) KiB")
        let claims = try IndexClaims(cachePath: copy, url: stage.url())
        // The smaller ones have no room for an index and music; the largest caches what fits beside half a
        // megabyte of index.
        if kibibytes > 1_000 { #expect(claims.ranges.byteCount > 700_000) }
        #expect(try await claims.firstFalseByte(comparedWith: FireScene.music[0].bytes) == nil)
    }

    private func expectOneNotice(of run: Session, _ subject: Comment) throws {
        let notices = try run.notices
        #expect(notices.count <= 1, "\(subject): \(notices)")
        #expect(notices.allSatisfy { $0.code == "not-cached" }, "\(subject): \(notices)")
    }
}
