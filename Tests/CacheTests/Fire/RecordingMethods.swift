import CSQLite

/// The header that `RecordingVFS` puts before each of SQLite's own files; the file itself follows it.
struct RecordedFile {
    /// Where SQLite expects it.
    var base = sqlite3_file()
    /// `nil` for a file that is not watched.
    var record: Unmanaged<FileRecord>?

    /// A multiple of what any file of SQLite's must be aligned to.
    static let size = (MemoryLayout<RecordedFile>.stride + 15) / 16 * 16
}

/// A file of the index that is watched. Used by the one thread that owns the connection.
final class FileRecord {
    let path: String
    let disk: RecordedDisk
    // SQLite flushes the folder with the first flush of a log, and not again (`UNIXFILE_DIRSYNC`).
    private var isFlushingNames: Bool

    init(path: String, isLog: Bool, disk: RecordedDisk) {
        self.path = path
        self.disk = disk
        isFlushingNames = isLog
        disk.noteOpening(by: 1)
    }

    deinit { disk.noteOpening(by: -1) }

    /// Records the start of flushes; the returned closure records their ends.
    func flushes() -> [() -> Void] {
        defer { isFlushingNames = false }
        return [disk.noteFlush(of: path)] + (isFlushingNames ? [disk.noteFlush(of: disk.root)] : [])
    }
}

extension UnsafeMutablePointer<sqlite3_file> {
    var recorded: UnsafeMutablePointer<RecordedFile> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: RecordedFile.self)
    }

    /// SQLite's own file.
    var inner: UnsafeMutablePointer<sqlite3_file> {
        (UnsafeMutableRawPointer(self) + RecordedFile.size).assumingMemoryBound(to: sqlite3_file.self)
    }

    fileprivate var record: FileRecord? { recorded.pointee.record?.takeUnretainedValue() }
    fileprivate var innerMethods: sqlite3_io_methods { inner.pointee.pMethods.pointee }
}

/// The operations on files that `RecordingVFS` has opened.
enum RecordingMethods {
    /// A table for SQLite, never freed.
    static func make() -> UnsafeMutablePointer<sqlite3_io_methods> {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 3
        watch(methods)
        passOn(methods)
        return methods
    }

    private static func watch(_ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
        methods.pointee.xClose = { file in
            guard let file else { return SQLITE_ERROR }
            let status = file.innerMethods.xClose(file.inner)
            // Balances the `passRetained` of `xOpen`.
            file.recorded.pointee.record?.release()
            file.recorded.pointee.record = nil
            return status
        }
        methods.pointee.xWrite = { file, buffer, count, offset in
            guard let file, let buffer else { return SQLITE_ERROR }
            guard let record = file.record else {
                return file.innerMethods.xWrite(file.inner, buffer, count, offset)
            }
            // A full disk takes what there is room for first.
            let isFailing = record.disk.isFailing()
            let kept = isFailing ? count / 2 : count
            let status = file.innerMethods.xWrite(file.inner, buffer, kept, offset)
            guard status == SQLITE_OK else { return status }
            let bytes = Array(UnsafeRawBufferPointer(start: buffer, count: Int(kept)))
            record.disk.noteWrite(bytes, to: record.path, at: offset)
            return isFailing ? SQLITE_FULL : SQLITE_OK
        }
        methods.pointee.xTruncate = { file, length in
            guard let file else { return SQLITE_ERROR }
            let status = file.innerMethods.xTruncate(file.inner, length)
            if let record = file.record, status == SQLITE_OK {
                record.disk.noteTruncation(of: record.path, to: length)
            }
            return status
        }
        methods.pointee.xSync = { file, flags in
            guard let file else { return SQLITE_ERROR }
            guard let record = file.record else { return file.innerMethods.xSync(file.inner, flags) }
            // SQLITE_IOERR_FSYNC, a macro that Swift cannot see.
            if record.disk.isFailing() { return SQLITE_IOERR | (4 << 8) }
            let ends = record.flushes()
            let status = file.innerMethods.xSync(file.inner, flags)
            if status == SQLITE_OK { for end in ends { end() } }
            return status
        }
    }

    private static func passOn(_ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
        methods.pointee.xRead = { file, buffer, count, offset in
            file?.innerMethods.xRead(file?.inner, buffer, count, offset) ?? SQLITE_ERROR
        }
        methods.pointee.xFileSize = { file, size in
            file?.innerMethods.xFileSize(file?.inner, size) ?? SQLITE_ERROR
        }
        methods.pointee.xLock = { file, level in
            file?.innerMethods.xLock(file?.inner, level) ?? SQLITE_ERROR
        }
        methods.pointee.xUnlock = { file, level in
            file?.innerMethods.xUnlock(file?.inner, level) ?? SQLITE_ERROR
        }
        methods.pointee.xCheckReservedLock = { file, answer in
            file?.innerMethods.xCheckReservedLock(file?.inner, answer) ?? SQLITE_ERROR
        }
        methods.pointee.xFileControl = { file, operation, argument in
            file?.innerMethods.xFileControl(file?.inner, operation, argument) ?? SQLITE_ERROR
        }
        methods.pointee.xSectorSize = { file in file?.innerMethods.xSectorSize(file?.inner) ?? 0 }
        methods.pointee.xDeviceCharacteristics = { file in
            file?.innerMethods.xDeviceCharacteristics(file?.inner) ?? 0
        }
        methods.pointee.xShmMap = { file, region, size, isExtending, address in
            file?.innerMethods.xShmMap(file?.inner, region, size, isExtending, address) ?? SQLITE_ERROR
        }
        methods.pointee.xShmLock = { file, offset, count, flags in
            file?.innerMethods.xShmLock(file?.inner, offset, count, flags) ?? SQLITE_ERROR
        }
        methods.pointee.xShmBarrier = { file in file?.innerMethods.xShmBarrier(file?.inner) }
        methods.pointee.xShmUnmap = { file, isDeleting in
            file?.innerMethods.xShmUnmap(file?.inner, isDeleting) ?? SQLITE_ERROR
        }
        methods.pointee.xFetch = { file, offset, count, address in
            file?.innerMethods.xFetch(file?.inner, offset, count, address) ?? SQLITE_ERROR
        }
        methods.pointee.xUnfetch = { file, offset, address in
            file?.innerMethods.xUnfetch(file?.inner, offset, address) ?? SQLITE_ERROR
        }
    }
}
