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

    /// The disk on which `path` lies, if that is watched.
    private static func disk(of path: String) -> RecordedDisk? {
        disks.withLock { disks in disks.first { path.hasPrefix($0.key + "/") }?.value }
    }

    // SQLite keeps the pointers for as long as the process lives, and nothing writes to them again.
    fileprivate nonisolated(unsafe) static let system = findSystem()
    private nonisolated(unsafe) static let layer = makeLayer()
    private static let isRegistered = sqlite3_vfs_register(layer, 1) == SQLITE_OK

    private static func findSystem() -> UnsafeMutablePointer<sqlite3_vfs> {
        guard let system = sqlite3_vfs_find(nil) else { preconditionFailure("SQLite has no file layer") }
        return system
    }

    private static func makeLayer() -> UnsafeMutablePointer<sqlite3_vfs> {
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        layer.initialize(to: system.pointee)
        layer.pointee.zName = UnsafePointer(strdup("recording"))
        layer.pointee.pNext = nil
        layer.pointee.szOsFile += CInt(MemoryLayout<FileRecord>.stride + MemoryLayout<FileRecord>.alignment)
        layer.pointee.xOpen = { _, name, file, flags, outFlags in
            let status = RecordingVFS.system.pointee.xOpen(RecordingVFS.system, name, file, flags, outFlags)
            let path = name.map { String(cString: $0) } ?? ""
            guard status == SQLITE_OK, let file, let disk = RecordingVFS.disk(of: path) else { return status }
            let isLog = flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0
            file.record.initialize(
                to: FileRecord(path: path, disk: disk, methods: file.pointee.pMethods, isFlushingNames: isLog)
            )
            disk.noteOpening(by: 1)
            let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            methods.initialize(to: RecordingVFS.watching(file.pointee.pMethods.pointee))
            file.pointee.pMethods = UnsafePointer(methods)
            return status
        }
        layer.pointee.xDelete = { _, name, isFlushing in
            let status = RecordingVFS.system.pointee.xDelete(RecordingVFS.system, name, isFlushing)
            if status == SQLITE_OK, let path = name.map({ String(cString: $0) }) {
                RecordingVFS.disk(of: path)?.noteRemoval(of: path)
            }
            return status
        }
        return layer
    }

    /// `methods` with those replaced that change the file.
    private static func watching(_ methods: sqlite3_io_methods) -> sqlite3_io_methods {
        var methods = methods
        methods.xClose = { file in
            guard let file else { return SQLITE_ERROR }
            let record = file.record.move()
            file.pointee.pMethods.deallocate()
            file.pointee.pMethods = record.methods
            record.disk.noteOpening(by: -1)
            return record.methods.pointee.xClose(file)
        }
        methods.xWrite = { file, buffer, count, offset in
            guard let file, let buffer, case let record = file.record.pointee else { return SQLITE_ERROR }
            // A full disk takes what there is room for first.
            let isFailing = record.disk.isFailing()
            let kept = isFailing ? count / 2 : count
            let status = record.methods.pointee.xWrite(file, buffer, kept, offset)
            guard status == SQLITE_OK else { return status }
            let bytes = Array(UnsafeRawBufferPointer(start: buffer, count: Int(kept)))
            record.disk.noteWrite(bytes, to: record.path, at: offset)
            return isFailing ? SQLITE_FULL : SQLITE_OK
        }
        methods.xTruncate = { file, length in
            guard let record = file?.record.pointee else { return SQLITE_ERROR }
            let status = record.methods.pointee.xTruncate(file, length)
            if status == SQLITE_OK { record.disk.noteTruncation(of: record.path, to: length) }
            return status
        }
        methods.xSync = { file, flags in
            guard let file, case let record = file.record.pointee else { return SQLITE_ERROR }
            // SQLITE_IOERR_FSYNC, a macro that Swift cannot see.
            if record.disk.isFailing() { return SQLITE_IOERR | (4 << 8) }
            let names = record.isFlushingNames ? [record.disk.root] : []
            file.record.pointee.isFlushingNames = false
            let ends = ([record.path] + names).map { record.disk.noteFlush(of: $0) }
            let status = record.methods.pointee.xSync(file, flags)
            if status == SQLITE_OK { for end in ends { end() } }
            return status
        }
        return methods
    }
}

/// A watched file of the index, in the memory behind SQLite's own structure of the file.
private struct FileRecord {
    let path: String
    let disk: RecordedDisk
    /// SQLite's own operations on the file.
    let methods: UnsafePointer<sqlite3_io_methods>
    // SQLite flushes the folder with the first flush of a log, and not again (`UNIXFILE_DIRSYNC`).
    var isFlushingNames: Bool
}

extension UnsafeMutablePointer<sqlite3_file> {
    fileprivate var record: UnsafeMutablePointer<FileRecord> {
        let end = UnsafeMutableRawPointer(self) + Int(RecordingVFS.system.pointee.szOsFile)
        return end.alignedUp(for: FileRecord.self).assumingMemoryBound(to: FileRecord.self)
    }
}
