import Glibc
import Media
import System

/// The threads of a cache folder, and the machines that they run.
///
/// `io` reads objects and does nothing else, so that no read waits for a flush or for the index. `committer`
/// writes and flushes objects; it alone changes the index and takes the folder's lock. `reader` has a thread
/// of its own.
final class CacheEngine: Sendable {
    let settings: CacheSettings
    let protection: Protection
    // Started at once: while an `OptionalLibrary` is being opened, no thread can start.
    let io = WorkThread(name: "cache-io", isReady: true)
    let committer = WorkThread(name: "cache-commit", isReady: true)
    /// Stores the bytes that must not or cannot be cached.
    let volatile = VolatileStores()
    let reader: IndexReader

    // The machines of the committing thread.
    let session: FolderSession
    let entries: EntryCatalog
    let commits: EntryCommits
    let eviction: Eviction
    private let lastNotCached = Locked<MediaError?>(nil)
    /// The uses for whose bytes there was no room, since they may not evict what others need more.
    let refusedUses = Locked<Set<ResourceUse>>([])
    /// The entries that are not evicted for what is downloaded ahead, since they are to be played, too.
    let spared = Locked<Set<EntryID>>([])

    init(settings: CacheSettings) {
        self.settings = settings
        protection = Protection(settings.secret)
        reader = IndexReader(path: settings.path, protection: protection)
        session = FolderSession(settings: settings, protection: protection)
        eviction = Eviction(settings: settings)
        entries = EntryCatalog(session: session, eviction: eviction)
        commits = EntryCommits(session: session, eviction: eviction)
    }

    deinit {
        io.stop()
        committer.stop()
    }

    /// Reports that something is not cached, unless the last report said the same and nothing was cached
    /// since: a full folder refuses every track.
    func reportNotCached(_ error: MediaError) {
        let isNew = lastNotCached.withLock { last in
            defer { last = error }
            return last != error
        }
        if isNew { settings.onNotice(error) }
    }

    /// Something was cached: the next refusal is reported, even if it has the same cause as the last one.
    func noteCached() { lastNotCached.withLock { $0 = nil } }

    // MARK: Questions

    /// Queries the index. Returns `nothing` if there is no folder: a query does not create one.
    ///
    /// If the reader fails, for example because the index is missing, damaged or of another format, the
    /// committing thread opens the folder, repairing it if necessary, and queries again.
    func ask<Answer: Sendable>(
        orElse nothing: Answer,
        _ question: @escaping @Sendable (CacheIndex) throws -> Answer
    ) async throws -> Answer {
        guard settings.hasFolder else { return nothing }
        do {
            return try await reader.ask(question)
        } catch let error as SealError {
            throw settings.notCached(error)
        } catch {
            return try await committer.run { try self.askOpening(question) }
        }
    }

    /// Opens the folder, repairing it if necessary, and queries its index; one that accepts no writes is only
    /// read. Committing thread only.
    func askOpening<Answer>(_ question: (CacheIndex) throws -> Answer) throws(MediaError) -> Answer {
        do {
            return try session.performOrFail { try question($0.index) }
        } catch {
            do {
                if let folder = try session.unwritableFolder(after: error) {
                    return try question(folder.index)
                }
            } catch let error as SealError {
                throw settings.notCached(error)
            } catch {}
            throw settings.notCached(error)
        }
    }

    /// Runs `change` on the committing thread. Returns `nothing` if there is no folder.
    func change<Value: Sendable>(
        orElse nothing: Value,
        _ change: @escaping @Sendable (OpenedFolder) throws -> Value
    ) async throws -> Value {
        try await committer.run {
            guard self.settings.hasFolder else { return nothing }
            return try self.session.perform(change)
        }
    }

    /// Removes the files in `objects/` that belong to no entry, a page at a time, so that other jobs and
    /// processes can use the folder in between.
    func removeOrphans() async throws -> CacheRemoval {
        let walk = try await committer.run { try self.session.perform { try $0.objects.walk() } }
        var removal = CacheRemoval()
        while true {
            try Task.checkCancellation()
            let swept = try await committer.run { () -> CacheRemoval? in
                guard let page = walk.next(Eviction.pageSize) else { return nil }
                return try self.session.perform { try self.eviction.sweep(page, in: $0) }
            }
            guard let swept else { return removal }
            removal += swept
        }
    }

    // MARK: Background jobs

    /// Removes from the index the extents whose bytes the file has lost. Runs in the background, since it
    /// waits for the disk.
    func dropLater(_ extents: [Extent], of entry: EntryID) {
        guard !extents.isEmpty else { return }
        committer.submit { [weak self] in self?.entries.drop(extents, of: entry) }
    }

    /// Removes the leftovers of earlier processes and then evicts entries, in the background.
    func tidyLater() {
        committer.submit { [weak self] in
            guard let self else { return }
            tidyLater(eviction.beginTidying(session), eviction.trimming())
        }
    }

    /// Sweeps one page of `walk`, or else evicts one page, so that other jobs and processes can use the
    /// folder in between. Evicts last, based on the corrected sizes.
    private func tidyLater(_ walk: ObjectWalk?, _ trimming: Trimming) {
        committer.submit { [weak self] in
            guard let self else { return }
            // If this fails, the next commit fails for the same reason and reports it.
            if let entries = walk?.next(Eviction.pageSize) {
                _ = try? session.perform { try eviction.sweep(entries, in: $0) }
                return tidyLater(walk, trimming)
            }
            var trimming = trimming
            guard (try? session.perform({ try eviction.trim(&trimming, in: $0) })) != nil else { return }
            if !trimming.isDone { tidyLater(nil, trimming) }
        }
    }
}

/// The parameters of `CacheFolder.init`, which describes them.
struct CacheSettings: Sendable {
    let path: String
    let budget: Int64
    let minimumFree: Int64
    /// In seconds.
    let maximumAge: Int64?
    let identity: CacheIdentity
    let secret: CacheSecret?
    let clock: any MonotonicClock
    let wallClock: @Sendable () -> Int64
    let files: any FileLayer
    let onNotice: @Sendable (MediaError) -> Void

    /// `false` only if nothing exists at `path`.
    var hasFolder: Bool { access(FileName.cString(path), F_OK) == 0 || errno != ENOENT }

    /// The error that reports `cause` to users.
    func notCached(_ cause: any Error) -> MediaError {
        if let error = cause as? MediaError { return error }
        let code: MediaError.Code = cause is SealError ? .cacheSecret : .notCached
        return MediaError(code, SafeText("cache folder \(path)"), SafeText("\(cause)"))
    }
}
