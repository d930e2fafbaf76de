import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// The permissions and the owner of the folder.
@Suite struct PermissionTests {
    private let scene = CacheScene()

    private func keep() async throws {
        let store = try await scene.opener().openEntry(url("a"))
        try await store.write(0..<10)
        try await store.commit()
        await store.close()
    }

    @Test func `permissions that give too much are taken back`() async throws {
        try await keep()
        let object = try scene.firstObject
        for path in [
            scene.cache, scene.file("objects"), scene.file("index.sqlite"), scene.file("lock"), object,
        ] {
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        }
        try await keep()
        #expect(try scene.permissions(scene.cache) == 0o700)
        #expect(try scene.permissions(scene.file("objects")) == 0o700)
        for path in [scene.file("index.sqlite"), scene.file("lock"), object] {
            #expect(try scene.permissions(path) == 0o600)
        }
    }

    /// Who is not root has nothing to give away.
    @Test(.enabled(if: geteuid() == 0))
    func `a question takes no log away that belongs to another user`() async throws {
        try await keep()
        let log = scene.file("index.sqlite-wal")
        try await scene.waitUntilClosed()
        #expect(FileManager.default.createFile(atPath: log, contents: nil))
        #expect(chown(log, 65_534, 65_534) == 0)
        let opener = scene.opener()
        await #expect(throws: MediaError.self) { _ = try await opener.list() }
        #expect(await opener.availability(of: [try url("a")]) == [nil])
        #expect(await !opener.holdsSome(of: try url("a")))
        let owner = try FileManager.default.attributesOfItem(atPath: log)[.ownerAccountID] as? Int
        #expect(owner == 65_534)
        await #expect(throws: MediaError.self) { _ = try await opener.openEntry(url("a")) }
    }

    @Test func `an empty folder that somebody made is the cache's own from then on`() async throws {
        #expect(mkdir(scene.cache, 0o755) == 0)
        try await keep()
        #expect(try scene.permissions(scene.cache) == 0o700)
    }

    @Test
    func `a folder that holds other things too stays as it is, and what is kept in it is kept to oneself`()
        async throws
    {
        #expect(mkdir(scene.cache, 0o755) == 0)
        chmod(scene.cache, 0o755)
        try scene.put(at: scene.file("letter.txt"))
        try await keep()
        #expect(try scene.permissions(scene.cache) == 0o755)
        let object = try scene.firstObject
        #expect(try scene.permissions(scene.file("objects")) == 0o700)
        for path in [scene.file("index.sqlite"), scene.file("lock"), object] {
            #expect(try scene.permissions(path) == 0o600)
        }
    }

    @Test(arguments: [0o775, 0o757, 0o1777] as [mode_t])
    func `a folder with other things, into which others may write, is refused and stays as it is`(
        mode: mode_t
    ) async throws {
        #expect(mkdir(scene.cache, 0o700) == 0)
        try scene.put(at: scene.file("letter.txt"))
        chmod(scene.cache, mode)
        let error = await #expect(throws: MediaError.self) { try await keep() }
        #expect(error?.code == .notCached)
        #expect(error?.cause.string.contains("chmod go-w it, or name another folder") == true)
        #expect(try scene.permissions(scene.cache) == Int(mode))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.cache) == ["letter.txt"])
    }

    @Test func `a folder of another user is refused`() async throws {
        // One that is there for everybody: root's, and for root one that it gave away.
        if geteuid() == 0 {
            #expect(mkdir(scene.cache, 0o777) == 0)
            #expect(chown(scene.cache, 65_534, 65_534) == 0)
        }
        let path = geteuid() == 0 ? scene.cache : "/usr"
        let error = await #expect(throws: MediaError.self) {
            try await CacheFolder(path: path, clock: TestClock()).openEntry(url("a"))
        }
        #expect(error?.cause.string.contains("belongs to another user") == true)
        #expect(!FileManager.default.fileExists(atPath: path + "/objects"))
    }

    @Test func `a right that the owner took away is not given back`() async throws {
        #expect(mkdir(scene.cache, 0o555) == 0)
        chmod(scene.cache, 0o555)
        // Root caches music there nevertheless.
        try? await keep()
        #expect(try scene.permissions(scene.cache) == 0o500)
        chmod(scene.cache, 0o700)
    }
}
