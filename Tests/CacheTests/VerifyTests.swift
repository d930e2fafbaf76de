import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// Checking and mending the whole folder, and taking music out of it.
@Suite struct VerifyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeOpener() -> CacheFolder { folder.opener() }

    private func object(of name: String) throws -> String {
        let sizes = try folder.objects.map { folder.file("objects/\($0)") }
        return try #require(sizes.first { FileManager.default.contents(atPath: $0)?.count == Int(name) })
    }

    @Test func `a sound folder is found sound, and every byte was looked at`() async throws {
        try await makeOpener().cache("200000", 200_000)
        try await makeOpener().cache("300000", 300_000)
        let steps = Locked<[VerifyProgress]>([])
        let report = try await makeOpener().verify { step in steps.withLock { $0.append(step) } }
        #expect(report.isSound)
        #expect((report.entries, report.extents, report.bytes) == (2, 4 + 5, 500_000))
        #expect((report.damagedExtents, report.orphansRemoved, report.reclaimedBytes) == (0, 0, 0))
        let seen = steps.withLock { $0 }
        #expect(seen.last?.bytes == 500_000)
        #expect(seen.allSatisfy { $0.totalBytes == 500_000 })
        #expect(seen.map(\.bytes) == seen.map(\.bytes).sorted())
    }

    @Test func `damage is dropped, orphans are removed, and nothing else is touched`() async throws {
        try await makeOpener().cache("200000", 200_000)
        try await makeOpener().cache("300000", 300_000)
        try flipBit(0, ofByteAt: 70_000, in: object(of: "200000"))
        try flipBit(0, ofByteAt: 199_999, in: object(of: "200000"))
        #expect(FileManager.default.createFile(atPath: folder.file("objects/12345"), contents: Data([1, 2])))
        let report = try await makeOpener().verify()
        #expect(!report.isSound)
        #expect(report.damagedExtents == 2)
        #expect(report.damagedBytes == 65_536 + 200_000 - 196_608)
        let lost = ByteRangeSet([65_536..<131_072, 196_608..<200_000] as [ByteRange])
        #expect(report.damaged == [VerifyReport.Damage(url: "http://radio.example/200000", ranges: lost)])
        #expect(report.orphansRemoved == 1)
        #expect(report.reclaimedBytes > 0)
        #expect(try folder.objects.count == 2)
        let opener = makeOpener()
        #expect(
            try await opener.info(for: url("200000"))?.stored
                == ByteRangeSet([0..<65_536, 131_072..<196_608] as [ByteRange])
        )
        #expect(try await opener.info(for: url("300000"))?.isComplete == true)
        #expect(try await opener.verify().isSound)
    }

    @Test func `an object that is gone or short is found`() async throws {
        try await makeOpener().cache("200000", 200_000)
        try await makeOpener().cache("300000", 300_000)
        try FileManager.default.removeItem(atPath: object(of: "200000"))
        #expect(truncate(try object(of: "300000"), 100_000) == 0)
        let report = try await makeOpener().verify()
        #expect(report.damagedExtents == 4 + 4)
        #expect(try await makeOpener().info(for: url("300000"))?.stored == ByteRangeSet(0..<65_536))
    }

    @Test func `what nothing claims is given back to the disk`() async throws {
        try await makeOpener().cache("200000", 200_000)
        let path = try object(of: "200000")
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: 1_000_000)
        // As a killed commit leaves it.
        try handle.write(contentsOf: Data(count: 500_000).map { $0 | 1 })
        try handle.synchronize()
        try handle.close()
        let report = try await makeOpener().verify()
        #expect(report.isSound)
        #expect(report.reclaimedBytes >= 490_000)
        #expect(try await makeOpener().totalBytes == folder.allocated)
        let store = try await makeOpener().open(url("200000"))
        #expect(try await store.all(of: 0..<200_000) == pattern(0..<200_000))
        await store.close()
    }

    @Test func `it runs beside those who play and takes nothing from them`() async throws {
        let store = try await makeOpener().open(url("a"))
        try await store.write(pattern(0..<100_000), at: 0)
        try await store.commit()
        try await store.write(pattern(150_000..<200_000), at: 150_000)
        let report = try await makeOpener().verify()
        #expect((report.bytes, report.damagedExtents) == (100_000, 0))
        #expect(try await store.all(of: 0..<100_000) == pattern(0..<100_000))
        #expect(try await store.all(of: 150_000..<200_000) == pattern(150_000..<200_000))
        await store.close()
        #expect(try await makeOpener().info(for: url("a"))?.storedBytes == 150_000)
    }

    @Test func `it ends when it is cancelled, and what was mended stays so`() async throws {
        for name in ["a", "b", "c"] { try await makeOpener().cache(name, 100_000) }
        let opener = makeOpener()
        let task = Locked<Task<VerifyReport, any Error>?>(nil)
        let steps = Locked(0)
        let run = Task {
            try await opener.verify { _ in
                steps.withLock { $0 += 1 }
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        task.withLock { $0 = run }
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(steps.withLock { $0 } == 1)
        #expect(try await opener.verify().isSound)
    }

    @Test func `a folder that is not there is sound, and is not made`() async throws {
        #expect(try await makeOpener().verify() == VerifyReport())
        #expect(!FileManager.default.fileExists(atPath: folder.cache))
    }

    @Test func `an index whose pages do not fit together is set aside`() async throws {
        for index in 0..<40 { try await makeOpener().cache("\(index)", 70_000) }
        try await folder.waitUntilClosed()
        let path = folder.file("index.sqlite")
        var bytes = try #require(FileManager.default.contents(atPath: path))
        for offset in stride(from: 12_288, to: bytes.count, by: 4_096) {
            bytes.replaceSubrange(offset..<offset + 8, with: Data(count: 8).map { $0 | 0xEE })
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        let report = try await makeOpener().verify()
        #expect(report.indexWasDamaged)
        #expect(report.orphansRemoved == 40)
        #expect(try await makeOpener().list() == [])
    }

    // MARK: Export

    private func export(_ name: String, from opener: CacheFolder) async throws -> (CacheExport?, [UInt8]) {
        let path = folder.path + "/exported"
        try? FileManager.default.removeItem(atPath: path)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let export = try await opener.export(url(name), into: descriptor)
        return (export, Array(FileManager.default.contents(atPath: path) ?? Data()))
    }

    @Test func `a whole entry is exported as it was fetched`() async throws {
        try await makeOpener().cache("200000", 200_000)
        let (export, bytes) = try await export("200000", from: makeOpener())
        #expect(export == CacheExport(length: 200_000, writtenBytes: 200_000, gaps: []))
        #expect(export?.isWhole == true)
        #expect(bytes == pattern(0..<200_000))
    }

    @Test func `gaps are named, also those that damage made`() async throws {
        let store = try await makeOpener().open(url("a"))
        try await store.write(pattern(0..<50_000), at: 0)
        try await store.write(pattern(80_000..<300_000), at: 80_000)
        store.describe(length: 400_000)
        await store.close()
        try flipBit(0, ofByteAt: 140_000, in: try folder.firstObject)
        let (export, bytes) = try await export("a", from: makeOpener())
        #expect(export?.gaps == [50_000..<80_000, 131_072..<196_608, 300_000..<400_000])
        #expect(export?.isWhole == false)
        #expect(bytes.count == 400_000)
        #expect(bytes[0..<50_000] == pattern(0..<50_000)[...])
        #expect(bytes[80_000..<131_072].elementsEqual(pattern(80_000..<131_072)))
        #expect(bytes[131_072..<196_608].allSatisfy { $0 == 0 })
    }

    @Test func `what is not kept is not exported, and a file that cannot be written is told`() async throws {
        try await makeOpener().cache("200000", 200_000)
        let (export, bytes) = try await export("b", from: makeOpener())
        #expect(export == nil)
        #expect(bytes.isEmpty)
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let error = await #expect(throws: MediaError.self) {
            try await makeOpener().export(url("200000"), into: descriptor)
        }
        #expect(error?.code == .unreadable)
    }
}
