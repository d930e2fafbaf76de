import Media
import System

/// The open folder of the committing thread: opens it, locks it for each job, and replaces a damaged index.
///
/// All calls are made on the committing thread.
final class FolderSession: @unchecked Sendable {
    // Unchecked: all variables are touched on the committing thread only, or in `deinit`, when no job is
    // left.
    private var opened: OpenedFolder?
    /// How often the folder was opened, including after it was replaced.
    private(set) var openCount = 0
    /// How many damaged indexes this object has set aside.
    private(set) var setAsideCount = 0
    /// `true` if opening the folder removes an index of another format.
    private var clears = false
    /// Called on the committing thread after each job that changed the index.
    let observers = Observers<Void>()
    let settings: CacheSettings
    let protection: Protection

    init(settings: CacheSettings, protection: Protection) {
        self.settings = settings
        self.protection = protection
    }

    /// Runs `body` with the folder open and locked.
    ///
    /// If the index turns out to be damaged, it is set aside, and `body` runs again on an empty one.
    func perform<Value>(_ body: (OpenedFolder) throws -> Value) throws(MediaError) -> Value {
        do {
            return try performOrFail(body)
        } catch {
            throw settings.notCached(error)
        }
    }

    /// Like `perform`, but throws the original error.
    func performOrFail<Value>(_ body: (OpenedFolder) throws -> Value) throws -> Value {
        do {
            return try attempt(body)
        } catch let error as SQLiteError where error.isDamage {
            try setIndexAside()
            return try attempt(body)
        }
    }

    private func attempt<Value>(_ body: (OpenedFolder) throws -> Value) throws -> Value {
        do {
            if let folder = opened, !folder.isCurrent { opened = nil }
            let folder = try opened ?? open()
            opened = folder
            let before = folder.index.changeCount
            defer {
                if folder.index.changeCount != before { observers.send(()) }
            }
            return try folder.lock.withLock { try body(folder) }
        } catch let error as SQLiteError where !error.isDamage {
            // Whatever the cause (a full disk, a lost mount), the next job opens a new connection.
            opened = nil
            throw error
        }
    }

    /// Removes the index if it has another format: its objects belong to no entry then. Returns `true` if it
    /// did.
    func removeOtherFormat() throws(MediaError) -> Bool {
        do {
            try performOrFail { _ in }
            return false
        } catch is IndexFormatError {
            clears = true
            defer { clears = false }
            try perform { _ in }
            return true
        } catch {
            throw settings.notCached(error)
        }
    }

    private func open() throws -> OpenedFolder {
        let folder = try OpenedFolder(settings, protection, clears: clears)
        openCount += 1
        if let index = folder.indexSetAside { report(index) }
        return folder
    }

    private func setIndexAside() throws {
        guard let folder = opened else { return }
        opened = nil
        if let index = try folder.lock.withLock({ try folder.setIndexAside() }) { report(index) }
    }

    private func report(_ index: String) {
        setAsideCount += 1
        let cause = SafeText("its index was damaged; it was renamed to \(index), and the cache starts empty")
        settings.onNotice(MediaError(.damagedIndex, SafeText("cache folder \(settings.path)"), cause))
    }

    /// Opens the folder for reading only, if `failure` means that it accepts no writes; `nil` for any other
    /// failure.
    func unwritableFolder(after failure: any Error) throws -> UnwritableFolder? {
        let isRefusal = (failure as? SystemError)?.isRefusal ?? (failure as? SQLiteError)?.isRefusal ?? false
        guard isRefusal else { return nil }
        return try UnwritableFolder(path: settings.path, protection: protection)
    }

    /// `true` if the write-ahead log of the index is long.
    var hasLongLog: Bool { opened.map { $0.isCurrent && $0.logSize > Self.longLog } ?? false }

    /// A session that only plays cached music adds about 10 KB, which is not worth a wait for the disk; half
    /// a dozen commits add this much.
    private static let longLog: Int64 = 256 * 1024

    /// Closes the folder; the next job opens it again.
    func close() { opened = nil }
}
