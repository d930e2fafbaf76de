import Glibc
package import Media

/// The persistent cache: a folder with an index and one sparse file per entry.
///
/// Any number of processes, and of objects in one process, may use one folder. All work is done on
/// two threads of its own; these end when the object and every store of it are gone.
package final class CacheFolder: ByteStoreOpener {
    /// 10 GB: some 2,500 pieces of music of four minutes at 128 kbit/s.
    package static let defaultBudget: Int64 = 10_000_000_000

    let engine: CacheEngine

    /// Takes the folder at `path`, without touching it: the first call that needs it makes it ready.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory at the first use; made when missing.
    ///   - budget: the most bytes that the objects may take on the disk.
    ///   - maximumAge: what was not played for so long goes at the next clean-up; nil keeps it.
    ///   - clock: for the rhythm of commits.
    ///   - wallClock: the time of day in seconds since 1970, for "last played".
    ///   - files: the file operations; another one only in tests.
    ///   - onDamage: called on a thread of the cache with a sentence about bytes that were damaged and
    ///     dropped, for the notice `damaged-extent`; must not block.
    package init(
        path: String,
        budget: Int64 = CacheFolder.defaultBudget,
        maximumAge: Duration? = nil,
        clock: any MonotonicClock = SystemClock(),
        wallClock: @escaping @Sendable () -> Int64 = { Int64(time(nil)) },
        files: any FileLayer = SystemFiles(),
        onDamage: @escaping @Sendable (SafeText) -> Void = { _ in }
    ) {
        engine = CacheEngine(
            settings: CacheSettings(
                path: path,
                budget: max(0, budget),
                maximumAge: maximumAge.map { max(0, $0.components.seconds) },
                clock: clock,
                wallClock: wallClock,
                files: files,
                onDamage: onDamage
            )
        )
    }

    /// The entry of `url`, made empty where there is none, and marked as played now.
    ///
    /// Throws `MediaError` with `.notKept` and the folder as its subject when the folder cannot be used.
    /// A second open of the same URL gives a second store on the same entry (see `PersistentStore`).
    package func open(_ url: WebURL) async throws -> any ByteStore {
        try await open(url) { engine throws in try engine.open(url) }
    }

    /// A new, empty entry in place of the one there is; stores that are open on that read on, from a
    /// file without a name, and commit nothing more.
    package func replace(_ url: WebURL) async throws -> any ByteStore {
        try await open(url) { engine throws in try engine.replace(url) }
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
