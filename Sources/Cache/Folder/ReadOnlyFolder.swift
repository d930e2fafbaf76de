import Glibc
import Media
import System

/// Queries the index without the folder's lock, on a thread and a connection of its own: queries do not wait
/// for flushes, nor commits for queries.
final class IndexReader: @unchecked Sendable {
    // Unchecked: `reading` is touched on the thread only, or in `deinit`, when no job is left.
    private var reading: (index: CacheIndex, root: FolderRoot, number: ino_t)?
    // Started at once: while an `OptionalLibrary` is being opened, no thread can start.
    private let thread = WorkThread(name: "cache-query", isReady: true)
    private let path: String
    private let protection: Protection

    init(path: String, protection: Protection) {
        self.path = path
        self.protection = protection
    }

    deinit { thread.stop() }

    /// Opens the index if it is not open, and queries one state of it. Creates nothing.
    ///
    /// Throws if the index is missing, of another format or damaged, or not the user's own; `CacheEngine.ask`
    /// then repairs it on the committing thread.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (CacheIndex) throws -> Answer) async throws
        -> Answer
    {
        try await thread.run {
            do {
                // Another process may have replaced the index; see `OpenedFolder.isCurrent`.
                if let reading = self.reading, reading.root.indexNumber != reading.number {
                    self.reading = nil
                }
                let index = try self.reading?.index ?? self.open()
                return try index.snapshot { try question(index) }
            } catch {
                self.reading = nil
                throw error
            }
        }
    }

    private func open() throws -> CacheIndex {
        let root = try FolderRoot(path: path)
        try root.checkOwner()
        guard let number = root.indexNumber else { throw SystemError("find the index") }
        let index = try CacheIndex(readingAt: root.indexPath, protection: protection)
        reading = (index, root, number)
        return index
    }

    /// Closes the index; the next query opens it again.
    func close() async { await thread.run { self.reading = nil } }
}

/// A cache folder on a read-only or full disk: its cached bytes can be read.
///
/// Creates and changes nothing, and does not take the folder's lock. So an entry can be removed while it is
/// read here, and the index may be outdated. Neither does harm: every extent is checked when it is read, and
/// an open file remains readable.
final class UnwritableFolder {
    let index: CacheIndex
    private let objects: CInt

    /// Throws if there is no folder with a readable index, or if it is not the user's own.
    init(path: String, protection: Protection) throws {
        let root = try FolderRoot(path: path)
        try root.checkOwner()
        index = try Self.openIndex(at: root.indexPath, hasLog: root.logSize > 0, protection)
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        objects = try check("open objects/", openat(root.descriptor, "objects", flags))
    }

    deinit { close(objects) }

    private static func openIndex(
        at path: String,
        hasLog: Bool,
        _ protection: Protection
    ) throws -> CacheIndex {
        do {
            return try CacheIndex(unwritableAt: path, hasLog: hasLog, protection: protection)
        } catch is SQLiteError where hasLog {
            // Without its log, the index only lacks the latest changes.
            return try CacheIndex(unwritableAt: path, hasLog: false, protection: protection)
        }
    }

    /// Opens the file of an entry for reading, and locks it as in use if possible.
    func object(_ entry: EntryID, files: any FileLayer) throws -> ObjectFile {
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let opened = try check("open an object", openat(objects, entry.fileName, flags))
        let file = ObjectFile(descriptor: opened, of: entry, files: files)
        _ = try file.ownStatus()
        try? file.lockShared()
        return file
    }
}
