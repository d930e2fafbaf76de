import Glibc
import Media
import System

/// The connection of the `look` thread to the index (see `CacheEngine`), opened at the first query.
final class IndexQuestions: @unchecked Sendable {
    // Unchecked: touched on the `look` thread only, or in `deinit`, when no job is left.
    private var reading: IndexReading?
    private let path: String
    private let protection: Protection

    init(path: String, protection: Protection) {
        self.path = path
        self.protection = protection
    }

    /// Queries the index without the folder's lock.
    ///
    /// Throws if the index is missing, of another format or damaged; `CacheEngine.ask` then repairs it on the
    /// committing thread.
    func ask<Answer>(_ question: (CacheIndex) throws -> Answer) throws -> Answer {
        do {
            if let reading, !reading.isCurrent { self.reading = nil }
            let current = try reading ?? IndexReading(path: path, protection: protection)
            reading = current
            return try current.index.snapshot { try question(current.index) }
        } catch {
            reading = nil
            throw error
        }
    }

    /// Closes the index; the next query opens it again.
    func close() { reading = nil }
}

/// Shows, on the caller's thread, if anything was committed to the index since an earlier `Stamp`. Reads
/// SQLite's `data_version` on a separate connection.
final class IndexVersion: Sendable {
    /// Two stamps are equal if nothing was committed between them.
    struct Stamp: Equatable, Sendable {
        fileprivate let opening: Int
        fileprivate let version: Int64
    }

    // Serializes the calls of SQLite. Once the index is open, each reads only a few words of shared memory.
    private let state = Locked<(reading: IndexReading?, openings: Int)>((nil, 0))
    private let path: String
    private let protection: Protection

    init(path: String, protection: Protection) {
        self.path = path
        self.protection = protection
    }

    /// `nil` if the index cannot be read.
    var current: Stamp? {
        state.withLock { state in
            if state.reading?.isCurrent != true {
                state.reading = try? IndexReading(path: path, protection: protection)
                state.openings += 1
            }
            guard let version = try? state.reading?.index.dataVersion() else {
                state.reading = nil
                return nil
            }
            return Stamp(opening: state.openings, version: version)
        }
    }

    /// Closes the index; the next use of `current` opens it again.
    func close() { state.withLock { $0.reading = nil } }
}

/// An index that is open for queries only.
final class IndexReading {
    let index: CacheIndex
    private let root: FolderRoot
    private let number: ino_t

    /// Opens the index of the folder at `path`. Creates nothing.
    ///
    /// Throws if there is no readable index, or if one of its files is not the user's own.
    init(path: String, protection: Protection) throws {
        root = try FolderRoot(path: path)
        try root.checkOwner()
        guard let number = root.indexNumber else { throw SystemError("find the index") }
        self.number = number
        index = try CacheIndex(readingAt: root.indexPath, protection: protection)
    }

    /// `true` if this is still the index in the folder; see `OpenedFolder.isCurrent`.
    var isCurrent: Bool { root.indexNumber == number }
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
        } catch is IndexError where hasLog {
            // Without its log, the index only lacks the latest changes.
            return try CacheIndex(unwritableAt: path, hasLog: false, protection: protection)
        }
    }

    /// Opens the file of an entry for reading, and locks it as in use if possible.
    func object(_ entry: EntryID, files: any FileLayer) throws -> ObjectFile {
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let opened = try check("open an object", openat(objects, entry.fileName, flags))
        let file = ObjectFile(descriptor: opened, files: files)
        _ = try file.ownStatus()
        try? file.lockShared()
        return file
    }
}
