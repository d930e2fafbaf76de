import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// Who may look into the folder, and whose it has to be.
@Suite struct PermissionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func keep() async throws {
        let store = try await CacheFolder(path: folder.cache, clock: TestClock()).open(url("a.mp3"))
        try await store.write(pattern(0..<10), at: 0)
        try await store.commit()
        await store.close()
    }

    @Test func `permissions that give too much are taken back`() async throws {
        try await keep()
        let object = folder.file("objects/\(try #require(folder.objects.first))")
        for path in [
            folder.cache, folder.file("objects"), folder.file("index.sqlite"), folder.file("lock"), object,
        ] {
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        }
        try await keep()
        // The folder itself may be one that its owner shows to others; nobody else may write into it.
        #expect(try folder.permissions(folder.cache) == 0o755)
        #expect(try folder.permissions(folder.file("objects")) == 0o700)
        for path in [folder.file("index.sqlite"), folder.file("lock"), object] {
            #expect(try folder.permissions(path) == 0o600)
        }
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give a file away"),
        arguments: ["", "objects", "index.sqlite", "lock", "object"]
    )
    func `what belongs to another user is refused, and left alone`(name: String) async throws {
        try await keep()
        try await wait(for: "the index to be closed") {
            !FileManager.default.fileExists(atPath: self.folder.file("index.sqlite-wal"))
        }
        let object = folder.file("objects/\(try #require(folder.objects.first))")
        let path = name == "object" ? object : folder.file(name)
        #expect(chown(path, 65_534, 65_534) == 0)
        let error = await #expect(throws: MediaError.self) {
            try await CacheFolder(path: folder.cache, clock: TestClock()).open(url("a.mp3"))
        }
        #expect(error?.code == .notKept)
        #expect(error?.description.contains("belongs to another user") == true)
        #expect(chown(path, 0, 0) == 0)
        let next = CacheFolder(path: folder.cache, clock: TestClock())
        #expect(try await next.info(for: url("a.mp3"))?.storedBytes == 10)
    }
}
