import Glibc
import Media
import System

/// A cache folder that takes nothing, as on a read-only or a full disk: what is kept in it can be read.
///
/// Nothing is locked, made or changed, so an entry can go while it is read here, and the index is as its last
/// owner left it. That does no harm: every byte has its check, and a file that is open stays.
final class UnwritableFolder {
    let index: CacheIndex
    private let objects: CInt

    /// Throws where there is no folder with an index that can be read, or where it is not the user's own.
    init(path: String, protection: Protection) throws {
        guard let resolved = realpath(path, nil) else { throw SystemError("find the folder") }
        defer { free(resolved) }
        let root = try check("open the folder", open(resolved, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        defer { close(root) }
        try ForeignOwnerError.check(root, name: "the folder", permissions: 0o777)
        try OpenedFolder.checkIndexFiles(in: root)
        let path = String(cString: resolved) + "/" + OpenedFolder.indexName
        index = try Self.openIndex(at: path, hasLog: Self.hasLog(in: root), protection)
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        objects = try check("open objects/", openat(root, "objects", flags))
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
            // A log that cannot be read costs what is in it, and no more.
            return try CacheIndex(unwritableAt: path, hasLog: false, protection: protection)
        }
    }

    private static func hasLog(in root: CInt) -> Bool {
        var status = stat()
        let name = OpenedFolder.indexName + "-wal"
        return fstatat(root, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_size > 0
    }

    /// The file of an entry, to be read only. Where that is possible, it is said to be in use.
    func object(_ entry: EntryID, files: any FileLayer) throws -> ObjectFile {
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let opened = try check("open an object", openat(objects, entry.fileName, flags))
        let file = ObjectFile(descriptor: opened, files: files)
        _ = try file.ownStatus()
        try? file.lockShared()
        return file
    }
}

// All of it on the committing thread.
extension CacheEngine {
    /// The folder to be read only, where `failure` says that it takes nothing; nil for any other failure.
    func unwritableFolder(after failure: any Error) throws -> UnwritableFolder? {
        let isRefusal = (failure as? SystemError)?.isRefusal ?? (failure as? IndexError)?.isRefusal ?? false
        guard isRefusal else { return nil }
        return try UnwritableFolder(path: settings.path, protection: protection)
    }

    /// The entry of `key` in a folder that takes nothing, as `failure` says; nil when there is none.
    func openUnwritable(_ key: [UInt8], after failure: any Error) throws -> Opening? {
        guard let folder = try unwritableFolder(after: failure), let row = try folder.index.entry(key: key)
        else { return nil }
        let file = try folder.object(row.entry, files: settings.files)
        return try Opening(row, of: folder.index, file: file, refusal: notKept(failure))
    }
}

extension CacheEngine.Opening {
    /// The entry of `row` as it stands, with the extents that `file` is long enough for: nothing is withdrawn.
    init(
        _ row: EntryRow,
        of index: CacheIndex,
        file: ObjectFile,
        refusal: MediaError? = nil
    ) throws {
        let length = try file.size().length
        var description = row.description
        description.seekTable = try index.seekTable(of: row.entry)
        self.init(
            entry: row.entry,
            file: file,
            description: description,
            extents: try index.extents(of: row.entry).filter { $0.range.upperBound <= length },
            refusal: refusal
        )
    }
}
