import CSQLite
import Glibc
import Media
import System

/// A layer between SQLite and its files (sqlite.org/vfs.html), which reports writes and flushes to
/// `RecordedDisk`, and makes them fail on demand. All other calls go directly to SQLite's own layer.
///
/// Installed once for the whole process; it does not affect folders that are not watched.
enum RecordingVFS {
    private static let disks = Locked<[String: RecordedDisk]>([:])

    /// Reports to `disk` all operations on the index in the folder `root`.
    static func watch(_ root: String, by disk: RecordedDisk) {
        precondition(isRegistered, "SQLite takes no other file layer")
        disks.withLock { $0[root] = disk }
    }

    static func unwatch(_ root: String) { disks.withLock { $0[root] = nil } }

    /// The disk on which `path` lies, where that is watched.
    private static func disk(of path: String) -> RecordedDisk? {
        disks.withLock { disks in disks.first { path.hasPrefix($0.key + "/") }?.value }
    }

    // SQLite keeps the pointers for as long as the process lives, and nothing writes to them again.
    private nonisolated(unsafe) static let system = findSystem()
    private nonisolated(unsafe) static let methods = RecordingMethods.make()
    private nonisolated(unsafe) static let layer = makeLayer()
    private static let isRegistered = sqlite3_vfs_register(layer, 1) == SQLITE_OK

    private static func findSystem() -> UnsafeMutablePointer<sqlite3_vfs> {
        guard let system = sqlite3_vfs_find(nil) else { preconditionFailure("SQLite has no file layer") }
        return system
    }

    private static func makeLayer() -> UnsafeMutablePointer<sqlite3_vfs> {
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        layer.initialize(to: RecordingVFS.system.pointee)
        layer.pointee.zName = UnsafePointer(strdup("recording"))
        layer.pointee.pNext = nil
        layer.pointee.szOsFile = CInt(RecordedFile.size) + RecordingVFS.system.pointee.szOsFile
        layer.pointee.xOpen = { _, name, file, flags, outFlags in
            guard let file else { return SQLITE_ERROR }
            let status = RecordingVFS.system.pointee.xOpen(
                RecordingVFS.system,
                name,
                file.inner,
                flags,
                outFlags
            )
            guard status == SQLITE_OK else {
                file.pointee.pMethods = nil
                return status
            }
            let path = name.map { String(cString: $0) } ?? ""
            let isLog = flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0
            file.recorded.pointee.record = RecordingVFS.disk(of: path).map {
                Unmanaged.passRetained(FileRecord(path: path, isLog: isLog, disk: $0))
            }
            file.pointee.pMethods = UnsafePointer(RecordingVFS.methods)
            return SQLITE_OK
        }
        layer.pointee.xDelete = { _, name, isFlushing in
            guard let name else { return SQLITE_ERROR }
            let path = String(cString: name)
            let status = RecordingVFS.system.pointee.xDelete(RecordingVFS.system, name, isFlushing)
            if status == SQLITE_OK { RecordingVFS.disk(of: path)?.noteRemoval(of: path) }
            return status
        }
        return layer
    }
}
