import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// Verification, repair and export.
@Suite struct VerifyTests {
    private let scene = CacheScene()

    private func object(of name: String) throws -> String {
        let sizes = try scene.objects.map { scene.file("objects/\($0)") }
        return try #require(sizes.first { FileManager.default.contents(atPath: $0)?.count == Int(name) })
    }

    private func cacheTwo() async throws {
        for size in [200_000, 300_000] as [Int64] { try await scene.opener().cache("\(size)", size) }
    }

    @Test func `a verification of a sound folder checks every byte and finds no damage`() async throws {
        try await cacheTwo()
        let steps = Locked<[VerifyProgress]>([])
        let report = try await scene.opener().verify { step in steps.withLock { $0.append(step) } }
        #expect(report.isSound)
        #expect((report.entries, report.bytes) == (2, 500_000))
        #expect((report.orphansRemoved, report.reclaimedBytes) == (0, 0))
        let seen = steps.withLock { $0 }
        #expect(seen.last?.bytes == 500_000)
        #expect(seen.allSatisfy { $0.totalBytes == 500_000 })
        #expect(seen.map(\.bytes) == seen.map(\.bytes).sorted())
    }

    @Test func `a verification drops damaged extents, removes orphans, and changes nothing else`()
        async throws
    {
        try await cacheTwo()
        try flipBit(0, ofByteAt: 70_000, in: object(of: "200000"))
        try flipBit(0, ofByteAt: 199_999, in: object(of: "200000"))
        try scene.put(at: scene.file("objects/12345"))
        let report = try await scene.opener().verify()
        #expect(!report.isSound)
        #expect(report.damagedBytes == 65_536 + 200_000 - 196_608)
        let lost = ByteRangeSet([65_536..<131_072, 196_608..<200_000] as [ByteRange])
        #expect(report.damaged == [VerifyReport.Damage(url: "http://radio.example/200000", ranges: lost)])
        #expect(report.orphansRemoved == 1)
        #expect(report.reclaimedBytes > 0)
        #expect(try scene.objects.count == 2)
        let opener = scene.opener()
        #expect(
            try await opener.info(for: url("200000"))?.stored
                == ByteRangeSet([0..<65_536, 131_072..<196_608] as [ByteRange])
        )
        #expect(try await opener.info(for: url("300000"))?.isComplete == true)
        #expect(try await opener.verify().isSound)
    }

    @Test func `content that fails a check of its own is damaged at the server, and stays`() async throws {
        try await cacheTwo()
        let part = try await scene.opener().open(url("part"))
        part.describe(length: 150_000)
        try await part.write(0..<100_000)
        await part.close()
        let asked = Locked<[Int64]>([])
        let report = try await scene.opener().verify(isDamaged: { content in
            let length = try #require(content.length)
            asked.withLock { $0.append(length) }
            var offset: Int64 = 0
            while case let bytes = try await content.read(at: offset, count: 50_000), !bytes.isEmpty {
                offset += Int64(bytes.count)
            }
            #expect(offset == length)
            return length == 300_000
        })
        // Only what is cached as a whole can be checked.
        #expect(asked.withLock { $0.sorted() } == [200_000, 300_000])
        #expect(report.damagedAtServer == ["http://radio.example/300000"])
        #expect(report.isSound)
        #expect(try await scene.opener().info(for: url("300000"))?.isComplete == true)

        // Bytes that the disk has damaged say nothing about the server.
        try flipBit(0, ofByteAt: 70_000, in: object(of: "300000"))
        let damaged = try await scene.opener().verify(isDamaged: { $0.length == 300_000 })
        #expect(damaged.damaged.count == 1 && damaged.damagedAtServer.isEmpty)
    }

    @Test func `a verification finds missing and truncated objects`() async throws {
        try await cacheTwo()
        try FileManager.default.removeItem(atPath: object(of: "200000"))
        #expect(truncate(try object(of: "300000"), 100_000) == 0)
        let report = try await scene.opener().verify()
        #expect(report.damagedBytes == 200_000 + 300_000 - 65_536)
        #expect(try await scene.stored("300000") == ByteRangeSet(0..<65_536))
    }

    @Test func `a verification frees disk space that no extent claims`() async throws {
        try await scene.opener().cache("200000", 200_000)
        let path = try object(of: "200000")
        // As a killed commit leaves it.
        let bytes = try #require(FileManager.default.contents(atPath: path)) + Data(pattern(0..<500_000))
        try scene.put(bytes, at: path)
        let report = try await scene.opener().verify()
        #expect(report.isSound)
        #expect(report.reclaimedBytes >= 490_000)
        #expect(try await scene.opener().totalBytes == scene.allocated)
        #expect(try await scene.opener().open(url("200000")).holds(0..<200_000))
    }

    @Test func `a verification takes no bytes from open stores`() async throws {
        let store = try await scene.opener().opened("a", 0..<100_000)
        try await store.write(150_000..<200_000)
        let report = try await scene.opener().verify()
        #expect(report.isSound && report.bytes == 100_000)
        #expect(try await store.holds(0..<100_000))
        #expect(try await store.holds(150_000..<200_000))
        await store.close()
        #expect(try await scene.stored()?.byteCount == 150_000)
    }

    @Test func `a cancelled verification ends`() async throws {
        for name in ["a", "b", "c"] { try await scene.opener().cache(name, 100_000) }
        let opener = scene.opener()
        let steps = Locked(0)
        let run = Task {
            try await opener.verify { _ in
                steps.withLock { $0 += 1 }
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(steps.withLock { $0 } == 1)
        #expect(try await opener.verify().isSound)
    }

    @Test func `an index with damaged pages is set aside by a verification`() async throws {
        for index in 0..<40 { try await scene.opener().cache("\(index)", 70_000) }
        try await scene.waitUntilClosed()
        let path = scene.file("index.sqlite")
        var bytes = try #require(FileManager.default.contents(atPath: path))
        for offset in stride(from: 12_288, to: bytes.count, by: 4_096) {
            bytes.replaceSubrange(offset..<offset + 8, with: Data(count: 8).map { $0 | 0xEE })
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        let report = try await scene.opener().verify()
        #expect(report.indexWasDamaged)
        #expect(report.orphansRemoved == 40)
        #expect(try await scene.opener().list() == [])
    }

    // MARK: Export

    private func export(_ name: String, from opener: CacheFolder) async throws -> (CacheExport?, [UInt8]) {
        let path = scene.path + "/exported"
        try? FileManager.default.removeItem(atPath: path)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let export = try await opener.export(opener.entries(name).first ?? CachedItem.ID(1), into: descriptor)
        return (export, Array(FileManager.default.contents(atPath: path) ?? Data()))
    }

    @Test func `a complete entry is exported whole`() async throws {
        try await scene.opener().cache("200000", 200_000)
        let (export, bytes) = try await export("200000", from: scene.opener())
        #expect(export == CacheExport(isWhole: true, gaps: []))
        #expect(bytes == pattern(0..<200_000))
    }

    @Test func `an export lists the gaps, those of damaged extents included`() async throws {
        let store = try await scene.opener().open(url("a"))
        try await store.write(0..<50_000)
        try await store.write(80_000..<300_000)
        store.describe(length: 400_000)
        await store.close()
        try flipBit(0, ofByteAt: 140_000, in: try scene.firstObject)
        let (export, bytes) = try await export("a", from: scene.opener())
        #expect(export?.gaps == [50_000..<80_000, 131_072..<196_608, 300_000..<400_000])
        #expect(export?.isWhole == false)
        #expect(bytes.count == 400_000)
        #expect(bytes[0..<50_000] == pattern(0..<50_000)[...])
        #expect(bytes[80_000..<131_072].elementsEqual(pattern(80_000..<131_072)))
        #expect(bytes[131_072..<196_608].allSatisfy { $0 == 0 })
    }

    @Test func `an export of a missing entry is empty, and fails if the file cannot be written`() async throws
    {
        try await scene.opener().cache("200000", 200_000)
        let (export, bytes) = try await export("b", from: scene.opener())
        #expect(export == nil)
        #expect(bytes.isEmpty)
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let error = await #expect(throws: MediaError.self) {
            try await scene.opener().export(scene.opener().entries("200000")[0], into: descriptor)
        }
        #expect(error?.code == .unreadable)
    }
}
