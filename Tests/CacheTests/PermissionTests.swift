import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// The permissions and the owner of the folder.
@Suite struct PermissionTests {
    private let scene = CacheScene()

    enum Start: CaseIterable {
        case missing
        case empty
        /// Everything in it may be read and written by all users.
        case open
        /// With a file that is not the cache's.
        case shared
    }

    @Test(arguments: Start.allCases)
    func `the cache's files are private, and so is the folder, unless it holds other files`(
        start: Start
    ) async throws {
        if start == .open {
            try await scene.opener().cache("a", 10)
            for path in try ["", "objects", "index.sqlite", "lock"].map(scene.file) + [scene.firstObject] {
                #expect(chmod(path, 0o777) == 0)
            }
        } else if start != .missing {
            #expect(mkdir(scene.cache, 0o755) == 0)
        }
        if start == .shared { try scene.put(at: scene.file("letter.txt")) }
        let store = try await scene.opener().opened("a", 0..<20)
        #expect(try scene.permissions(scene.cache) == (start == .shared ? 0o755 : 0o700))
        #expect(try scene.permissions(scene.file("objects")) == 0o700)
        let files = ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "lock"].map(scene.file)
        for path in try files + [scene.firstObject] { #expect(try scene.permissions(path) == 0o600) }
        await store.close()
    }

    /// Only root can give a file away.
    @Test(.enabled(if: geteuid() == 0))
    func `no query or opening removes a log that belongs to another user`() async throws {
        try await scene.fill(0..<10)
        let log = scene.index + "-wal"
        try scene.put(Data(), at: log)
        #expect(chown(log, 65_534, 65_534) == 0)
        let opener = scene.opener()
        await #expect(throws: MediaError.self) { _ = try await opener.list() }
        #expect(await opener.availability(of: [try url("a")]) == [nil])
        #expect(await !opener.holdsSome(of: try url("a")))
        _ = try await opener.refusedOpening()
        let owner = try FileManager.default.attributesOfItem(atPath: log)[.ownerAccountID] as? Int
        #expect(owner == 65_534)
    }

    @Test(arguments: [0o775, 0o757, 0o1777] as [mode_t])
    func `a folder with other files into which other users may write is refused and not changed`(
        mode: mode_t
    ) async throws {
        #expect(mkdir(scene.cache, 0o700) == 0)
        try scene.put(at: scene.file("letter.txt"))
        chmod(scene.cache, mode)
        let error = try await scene.opener().refusedOpening()
        #expect(error?.code == .notCached)
        #expect(error?.cause.string.contains("run chmod go-w on it, or use another folder") == true)
        #expect(try scene.permissions(scene.cache) == Int(mode))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.cache) == ["letter.txt"])
    }

    @Test func `a folder of another user is refused`() async throws {
        // For root, one that it gave away; for other users, one of root's.
        if geteuid() == 0 {
            #expect(mkdir(scene.cache, 0o777) == 0)
            #expect(chown(scene.cache, 65_534, 65_534) == 0)
        }
        let path = geteuid() == 0 ? scene.cache : "/usr"
        let error = try await CacheFolder(path: path, clock: TestClock()).refusedOpening()
        #expect(error?.cause.string.contains("belongs to another user") == true)
        #expect(!FileManager.default.fileExists(atPath: path + "/objects"))
    }

    @Test func `a folder gets no permissions that its owner took away`() async throws {
        #expect(mkdir(scene.cache, 0o555) == 0)
        // Root can write into it nevertheless.
        _ = try? await scene.opener().openEntry(ResourceKey(url("a")), isOffline: false)
        #expect(try scene.permissions(scene.cache) == 0o500)
        chmod(scene.cache, 0o700)
    }
}
