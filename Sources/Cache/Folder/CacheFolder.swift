import Glibc
package import Media
package import System

/// The persistent cache: a folder with an index and one sparse file per entry.
///
/// Any number of processes, and of objects in one process, may use one folder. All work is done on
/// two threads of its own; these end when the object and every store of it are gone.
package final class CacheFolder: ByteStoreOpener {
    /// 10 GB: some 2,500 pieces of music of four minutes at 128 kbit/s.
    package static let defaultBudget: Int64 = 10_000_000_000

    /// 1 GB: a disk that is fuller makes trouble for everything else on it.
    package static let defaultMinimumFree: Int64 = 1_000_000_000

    let engine: CacheEngine

    /// Takes the folder at `path`, without touching it: the first call that needs it makes it ready.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory at the first use; made when missing.
    ///   - budget: the most bytes that the objects may take on the disk.
    ///   - minimumFree: the bytes of the disk that are left free, at least; 0 fills it.
    ///   - maximumAge: what was not played for so long goes at the next clean-up; nil keeps it.
    ///   - identity: what of a URL does not tell one resource from another.
    ///   - secret: seals all that is kept, from the making of the folder on; nil for a folder that is not
    ///     sealed. See `checkSecret`.
    ///   - clock: for the rhythm of commits.
    ///   - wallClock: the time of day in seconds since 1970, for "last played".
    ///   - files: the file operations; another one only in tests.
    ///   - onNotice: called on a thread of the cache with what a listener should know and no call can throw:
    ///     `.damagedExtent` (bytes were damaged and dropped), `.damagedIndex` (set aside, the cache is empty
    ///     now), `.notKept` (the last bytes of an entry that was closed). Must not block.
    package init(
        path: String,
        budget: Int64 = CacheFolder.defaultBudget,
        minimumFree: Int64 = 0,
        maximumAge: Duration? = nil,
        identity: CacheIdentity = CacheIdentity(),
        secret: CacheSecret? = nil,
        clock: any MonotonicClock = SystemClock(),
        wallClock: @escaping @Sendable () -> Int64 = { Int64(time(nil)) },
        files: any FileLayer = SystemFiles(),
        onNotice: @escaping @Sendable (MediaError) -> Void = { _ in }
    ) {
        engine = CacheEngine(
            settings: CacheSettings(
                path: path,
                budget: max(0, budget),
                minimumFree: max(0, minimumFree),
                maximumAge: maximumAge.map { max(0, $0.components.seconds) },
                identity: identity,
                secret: secret,
                clock: clock,
                wallClock: wallClock,
                files: files,
                onNotice: onNotice
            )
        )
    }

    /// The entry of `url`, made empty where there is none, and marked as played now.
    ///
    /// If the folder cannot be used, reports why and returns a volatile store, so that the music plays all the same.
    /// A second open of the same URL gives a second store on the same entry (see `PersistentStore`).
    package func open(_ url: WebURL) async throws -> any ByteStore {
        do {
            return try await openEntry(url)
        } catch let error as MediaError where error.code == .notKept {
            engine.reportNotCached(error)
            return try await engine.volatile.open(url)
        }
    }

    /// The same, but throws `MediaError` with `.notKept` and the folder as its subject if the folder cannot be used.
    func openEntry(_ url: WebURL) async throws -> any ByteStore {
        try await open(url) { engine throws in try engine.open(url) }
    }

    /// A new, empty entry in place of the one there is; stores that are open on that read on, from a
    /// file without a name, and commit nothing more.
    package func replace(_ url: WebURL) async throws -> any ByteStore {
        try await open(url) { engine throws in try engine.replace(url) }
    }

    /// Calls `observer`, on a thread of the cache, when what is kept may be another than before by what this object
    /// did: bytes came, an entry was opened, pinned or removed. It must not block. One at a time: nil ends it.
    package func observe(_ observer: (@Sendable () -> Void)?) { engine.observe(observer) }

    /// Leaves a folder that is quick to open: a long log of the index, which the next process would have to read
    /// before anything else, is put into the index. For the end of a process, where waiting for the disk delays
    /// no music.
    package func settle() async {
        let engine = engine
        guard await engine.committer.run({ engine.hasLongLog }) else { return }
        // SQLite does it when the last connection closes; where another process has one, that is left to it.
        await engine.look.run { engine.endReading() }
        await engine.committer.run { engine.endWriting() }
    }

    private func open(
        _ url: WebURL,
        by way: @escaping @Sendable (CacheEngine) throws -> CacheEngine.Opening
    ) async throws -> any ByteStore {
        let engine = engine
        let opening = try await engine.committer.run { try way(engine) }
        engine.tidyLater()
        return PersistentStore(opening, of: url, engine: engine)
    }
}
