import Media
import System

/// The threads of a cache folder, and all that happens on the committing one.
///
/// `io` reads objects and does nothing else, so that no read waits for a flush or for the index.
/// `committer` writes and flushes objects, and alone changes the index and takes the folder's lock.
/// `look` asks the index, so that no question waits for a flush and no commit for a question.
final class CacheEngine: @unchecked Sendable {
    // Unchecked: `opened`, `hasTidied`, `setAsideCount`, `outdated` and `replaced` are touched on `committer` only,
    // `reading` on `look` only, and all in `deinit`, when no job is left that could.
    private var opened: OpenedFolder?
    private var hasTidied = false
    /// How many damaged indexes this object has set aside.
    private(set) var setAsideCount = 0
    /// Keys of entries in whose place new ones should have come, and could not be made.
    var outdated: Set<[UInt8]> = []
    /// Entries that this object has put new ones in the place of: who still has one open loses nothing unexpectedly.
    var replaced: Set<EntryID> = []
    private var reading: IndexReading?
    private let observer = Locked<(@Sendable () -> Void)?>(nil)

    let settings: CacheSettings
    let protection: Protection
    // Started at once, since later an `OptionalLibrary` may be in the way.
    let io = WorkThread(name: "cache-io", isReady: true)
    let committer = WorkThread(name: "cache-commit", isReady: true)
    let look = WorkThread(name: "cache-look", isReady: true)
    /// Takes what the folder does not.
    let volatile = VolatileStores()
    private let lastNotCached = Locked<MediaError?>(nil)

    init(settings: CacheSettings) {
        self.settings = settings
        protection = Protection(settings.secret)
    }

    deinit {
        io.stop()
        committer.stop()
        look.stop()
    }

    /// The key that `url` is found by.
    func key(of url: WebURL) -> [UInt8] {
        protection.key(of: settings.identity.text(of: url))
    }

    /// The failure as listeners are told of it.
    func notKept(_ cause: any Error) -> MediaError {
        if let error = cause as? MediaError { return error }
        let code: MediaError.Code = cause is SealError ? .cacheSecret : .notKept
        return MediaError(code, SafeText("cache folder \(settings.path)"), SafeText("\(cause)"))
    }

    /// Reports that something is not cached, unless the last report said the same: a full folder refuses every track.
    func reportNotCached(_ error: MediaError) {
        let isNew = lastNotCached.withLock { last in
            defer { last = error }
            return last != error
        }
        if isNew { settings.onNotice(error) }
    }

    // MARK: The committing thread

    /// Runs `body` with the folder made ready and locked. Committing thread only.
    ///
    /// When the index proves damaged it is set aside, and `body` runs again on an empty one.
    func perform<Value>(_ body: (OpenedFolder) throws -> Value) throws(MediaError) -> Value {
        do {
            return try performOrFail(body)
        } catch {
            throw notKept(error)
        }
    }

    /// The same, with the failure as it was met.
    func performOrFail<Value>(_ body: (OpenedFolder) throws -> Value) throws -> Value {
        do {
            return try attempt(body)
        } catch let error as IndexError where error.isDamage {
            try setIndexAside()
            return try attempt(body)
        }
    }

    private func attempt<Value>(_ body: (OpenedFolder) throws -> Value) throws -> Value {
        do {
            if let folder = opened, !folder.isCurrent { opened = nil }
            let folder = try opened ?? makeFolder()
            opened = folder
            let before = folder.index.connection.allChangeCount
            defer {
                if folder.index.connection.allChangeCount != before { observer.withLock { $0 }?() }
            }
            return try folder.lock.withLock { try body(folder) }
        } catch let error as IndexError where !error.isDamage {
            // Whatever it was (a full disk, a lost mount), the next call starts with a fresh connection.
            opened = nil
            throw error
        }
    }

    private func makeFolder() throws -> OpenedFolder {
        let folder = try OpenedFolder(path: settings.path, files: settings.files, protection: protection)
        if let aside = folder.indexSetAside { tellSetAside(aside) }
        // To another index the objects of the one before are nobody's.
        hasTidied = false
        return folder
    }

    /// Whether the log of the index is long. Committing thread only.
    var hasLongLog: Bool { opened.map { $0.isCurrent && $0.logSize > Self.longLog } ?? false }

    /// A session that only plays what is kept adds some 10 KB and never waits for the disk; half a dozen commits
    /// make this much.
    private static let longLog: Int64 = 256 * 1024

    /// Lets go of the index: the next question opens it anew. Looking thread only.
    func endReading() { reading = nil }

    /// The same. Committing thread only.
    func endWriting() { opened = nil }

    private func setIndexAside() throws {
        guard let folder = opened else { return }
        opened = nil
        if let aside = try folder.lock.withLock({ try folder.setIndexAside() }) { tellSetAside(aside) }
    }

    private func tellSetAside(_ index: IndexSetAside) {
        setAsideCount += 1
        let cause = index.cause + SafeText("; it was renamed to \(index.name), and the cache starts empty")
        settings.onNotice(MediaError(.damagedIndex, SafeText("cache folder \(settings.path)"), cause))
    }

    /// Calls `observer` on the committing thread whenever this object may have changed the index. One at a time.
    func observe(_ observer: (@Sendable () -> Void)?) { self.observer.withLock { $0 = observer } }

    // MARK: The looking thread

    /// Asks the index, without the folder's lock; nil when there is no folder. Looking thread only.
    ///
    /// Only what the committing thread has made ready is asked: an index that is missing, of another format or
    /// damaged throws, and `ask` then sees to it.
    func reading<Answer>(_ question: (CacheIndex) throws -> Answer) throws -> Answer {
        do {
            if let reading, !reading.isCurrent { self.reading = nil }
            let current = try reading ?? IndexReading(path: settings.path, protection: protection)
            reading = current
            return try current.index.connection.snapshot { try question(current.index) }
        } catch {
            reading = nil
            throw error
        }
    }

    /// Asks the index; a folder that is not there has `nothing`, and is not made by asking.
    func ask<Answer: Sendable>(
        orElse nothing: Answer,
        _ question: @escaping @Sendable (CacheIndex) throws -> Answer
    ) async throws -> Answer {
        guard IndexReading.isFolder(settings.path) else { return nothing }
        if let answer = try? await look.run({ try self.reading(question) }) { return answer }
        return try await committer.run {
            do {
                return try self.performOrFail { try question($0.index) }
            } catch {
                guard let answer = try? self.unwritableFolder(after: error).map({ try question($0.index) })
                else {
                    throw self.notKept(error)
                }
                return answer
            }
        }
    }

    // MARK: Tidying

    /// Cleans up what earlier processes left and makes room, behind what is asked for now.
    func tidyLater() {
        committer.submit { [weak self] in self?.tidy() }
    }

    private func tidy() {
        guard !hasTidied else { return trimLater(Trimming(policy)) }
        // Tidying has no listener; what stops it will be met, and told, by the next commit.
        try? perform { folder in
            hasTidied = true
            try folder.index.repairSum()
            sweep(try folder.objects.walk())
        }
    }

    /// Removes objects that no entry has, and counts the others, a page at a time, so that other work comes
    /// in between; then makes room by what they really take.
    private func sweep(_ walk: ObjectWalk) {
        // The walk is handed from job to job of one thread and is never used by two.
        nonisolated(unsafe) let walk = walk
        committer.submit { [weak self] in
            guard let self else { return }
            guard let entries = walk.next(Self.sweepSize) else { return trimLater(Trimming(policy)) }
            try? perform { _ = try sweep(entries, in: $0) }
            sweep(walk)
        }
    }

    /// Few, because the first commits wait for a page of them.
    private static let sweepSize = 64

    /// The same for some names in `objects`; returns how many were no entry's, and the bytes they took.
    /// The lock must be held.
    func sweep(_ entries: [EntryID], in folder: OpenedFolder) throws -> (orphans: Int, bytes: Int64) {
        var orphans = 0
        var bytes: Int64 = 0
        var sizes: [(entry: EntryID, allocated: Int64)] = []
        for entry in entries {
            let (length, allocated) = folder.objects.size(entry)
            if try folder.index.end(of: entry) > length {
                let lost = try folder.index.extents(of: entry).filter { $0.range.upperBound > length }
                try folder.index.transaction {
                    for extent in lost { try folder.index.remove(extent, of: entry) }
                }
            }
            if let counted = try folder.index.allocated(of: entry) {
                // What somebody is just committing is counted already, and not yet on the disk.
                if counted != allocated, let settled = folder.objects.settledAllocated(entry) {
                    sizes.append((entry, settled))
                }
                continue
            }
            // A file in use belongs to a store whose entry was replaced or cleared.
            guard case .held = folder.objects.holdForRemoval(entry) else { continue }
            folder.objects.unlink(entry)
            orphans += 1
            bytes += allocated
        }
        guard !sizes.isEmpty else { return (orphans, bytes) }
        try folder.index.relaxedTransaction {
            for (entry, allocated) in sizes { try folder.index.setAllocated(allocated, of: entry) }
        }
        return (orphans, bytes)
    }
}
