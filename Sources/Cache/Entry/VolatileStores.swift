import Glibc
package import Media
import System

/// Opens stores that last no longer than the process, for bytes that must not or cannot be cached.
///
/// Each call creates a new, empty store on an unlinked file of its own, so that nothing is left behind
/// however the process ends. If no file can be created, the store is in memory. Two stores of one URL share
/// nothing. The files are sealed with a key that only this process has, so that the disk does not reveal
/// later what was played.
package final class VolatileStores: ByteStoreOpener {
    private let folder: String
    private let files: any FileLayer
    let io = WorkThread(name: "cache-volatile")
    /// Seals the files.
    let protection = Protection(.generate())

    /// The files are created in `folder`: by default in `/var/tmp`, because `/tmp` may be in memory, and an
    /// hour of music takes a hundred megabytes.
    package init(folder: String = "/var/tmp", files: any FileLayer = SystemFiles()) {
        self.folder = folder
        self.files = files
    }

    deinit { io.stop() }

    /// An empty store; in memory if no file can be created. Never throws.
    package func replace(_ url: WebURL) async throws -> any ByteStore {
        let folder = folder
        let files = files
        let file = try? await io.run { try Self.makeFile(in: folder, files: files) }
        return VolatileStore(file: file, subject: url.safeText, owner: self)
    }

    /// The same as `replace`: every store is new.
    package func open(_ key: ResourceKey, isOffline: Bool) async throws -> any ByteStore {
        try await replace(key.url)
    }

    private static func makeFile(in folder: String, files: any FileLayer) throws -> ObjectFile {
        // `mkstemp` creates a new file with mode 0600; unlike O_TMPFILE it works on every filesystem.
        var template = Array("\(folder)/reprise-XXXXXX".utf8CString)
        let descriptor = try check("make a temporary file", mkstemp(&template))
        // The random number binds the sealed bytes to this file.
        let file = ObjectFile(descriptor: descriptor, of: .random(), files: files)
        try check("prepare a temporary file", fcntl(file.descriptor, F_SETFD, FD_CLOEXEC))
        try check("unlink a temporary file", unlink(template))
        return file
    }
}
