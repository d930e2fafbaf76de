import Glibc
package import Media
package import System

/// The persistent cache: a folder with an index and one sparse file for each entry.
///
/// Any number of processes, and of objects in one process, may use one folder. The work is done on threads
/// of this object (see `CacheEngine`), except that stores look up the version of the index on the caller's
/// thread. The threads end when the object and all of its stores are released.
package final class CacheFolder: ByteStoreOpener {
    /// 10 GB: about 2,500 tracks of four minutes at 128 kbit/s.
    package static let defaultBudget: Int64 = 10_000_000_000

    /// 1 GB: with less, other programs that use the disk may fail.
    package static let defaultMinimumFree: Int64 = 1_000_000_000

    let engine: CacheEngine

    /// Only stores its parameters: the first call that needs the folder opens or creates it.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory at the first use; created if missing.
    ///   - budget: the most bytes that the objects may take on the disk.
    ///   - minimumFree: the bytes to leave free on the disk; 0 allows filling it.
    ///   - maximumAge: entries not played for this long are removed at the next clean-up; `nil` for never.
    ///   - identity: the query parameters to ignore when URLs are compared.
    ///   - secret: seals a new folder and opens a sealed one; `nil` for a folder that is not sealed. See
    ///     `checkSecret`.
    ///   - clock: times the commits.
    ///   - wallClock: the time of day in seconds since 1970.
    ///   - files: the file operations, which tests replace.
    ///   - onNotice: called on a thread of the cache with errors that the user should see and that no call
    ///     throws: `.damagedExtent` (bytes were damaged and dropped), `.damagedIndex` (it was set aside, the
    ///     cache is empty now), `.notCached` (something could not be cached). Must not block.
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

    // MARK: Stores

    /// Opens the entry of `key`, created empty if there is none, and marks it as played now.
    ///
    /// If the folder cannot be used, reports why and returns a volatile store, so that playback works anyway.
    /// Once there was no room for what is not played, all resources of that use get volatile stores. A second
    /// open of the same URL gives a second store on the same entry (see `PersistentStore`).
    package func open(_ key: ResourceKey, isOffline: Bool) async throws -> any ByteStore {
        if engine.refusedUses.withLock({ $0.contains(key.use) }) {
            return try await engine.volatile.open(key.url)
        }
        do {
            return try await openEntry(key, isOffline: isOffline)
        } catch let error as MediaError where error.code == .notCached {
            engine.reportNotCached(error)
            return try await engine.volatile.open(key.url)
        }
    }

    /// Like `open`, but throws `MediaError` with `.notCached` and the folder as its subject if the folder
    /// cannot be used.
    func openEntry(_ key: ResourceKey, isOffline: Bool) async throws -> any ByteStore {
        try await open(key.url, for: key.use) { entries throws in try entries.open(key, isOffline: isOffline)
        }
    }

    /// Replaces the entry of `url` by a new, empty one. Stores that have the old entry open can still read
    /// its unlinked file, but commit nothing more.
    package func replace(_ url: WebURL) async throws -> any ByteStore {
        try await open(url) { entries throws in try entries.replace(url) }
    }

    package func openRendition(_ rendition: [UInt8], of url: WebURL) async throws -> any ByteStore {
        try await open(url) { entries throws in try entries.open(rendition, of: url) }
    }

    private func open(
        _ url: WebURL,
        for use: ResourceUse = .playing,
        by way: @escaping @Sendable (EntryCatalog) throws -> OpenEntry
    ) async throws -> any ByteStore {
        let opening = try await engine.committer.run { try way(self.engine.entries) }
        if opening.refusal == nil { engine.dropLater(opening.lost, of: opening.file.entry) }
        engine.tidyLater()
        return PersistentStore(opening, of: url, for: use, engine: engine)
    }

    /// Calls `observer`, on a thread of the cache, after this object may have changed what is cached: bytes
    /// were committed, an entry was opened, pinned or removed. `observer` must not block.
    @discardableResult
    package func observe(_ observer: @escaping @Sendable () -> Void) -> Observation {
        engine.session.observers.add { observer() }
    }

    /// Checkpoints a long write-ahead log of the index, which the next process would otherwise have to read
    /// first.
    ///
    /// Called when the process ends, so that waiting for the disk does not delay playback.
    package func settle() async {
        guard await engine.committer.run({ self.engine.session.hasLongLog }) else { return }
        // SQLite checkpoints when the last connection of any process closes.
        await engine.reader.close()
        await engine.committer.run { self.engine.session.close() }
    }

    /// Checks that the folder is sealed with the given secret, or not sealed if there is none, and opens the
    /// folder.
    ///
    /// Throws `MediaError` with `.cacheSecret` if the folder is sealed with another secret, if it is sealed
    /// and none was given, and if one was given and the folder is not sealed; nothing in the folder is
    /// changed then. Ignores other failures, which `open` reports. Without a secret, a missing folder is not
    /// created.
    ///
    /// - Parameter isAsking: `true` if only queries follow. Then the index is read without the folder's lock
    ///   if possible, and the folder is not opened.
    package func checkSecret(isAsking: Bool = false) async throws {
        guard engine.settings.secret != nil || engine.settings.hasFolder else { return }
        do {
            if isAsking {
                try await engine.ask(orElse: ()) { _ in }
            } else {
                try await engine.committer.run { try self.engine.askOpening { _ in } }
            }
        } catch let error as MediaError where error.code != .cacheSecret {}
    }

    // MARK: Questions. A missing folder counts as empty, and a query does not create it.

    /// Every entry, the most recently played first. Throws `.notCached` if the folder cannot be used.
    package func list() async throws -> [CachedItem] {
        try await engine.ask(orElse: []) { index in
            try index.entries.rows().map { try index.item($0) }
        }
    }

    /// The entry of `url`, with all its names; `nil` if there is none. Does not mark it as played.
    package func info(for url: WebURL) async throws -> CachedItem? { try await renditions(of: url).first }

    /// The entries of `url`, of which only a stream has several: first the rendition that is played.
    package func renditions(of url: WebURL) async throws -> [CachedItem] {
        let key = engine.entries.key(of: url)
        return try await engine.ask(orElse: []) { index in
            try index.entries.rows(named: key).map {
                try index.item($0, urls: index.names.urls(of: $0.entry))
            }
        }
    }

    /// The bytes that all objects take on the disk, as of their last commits.
    package var totalBytes: Int64 {
        get async throws { try await engine.ask(orElse: 0) { try $0.allocated() } }
    }

    /// `true` if bytes of `url` are cached.
    ///
    /// Also opens the folder, unless it is missing, because callers open `url` next. Opens no entry.
    package func holdsSome(of url: WebURL) async -> Bool {
        let row = try? await engine.change(orElse: nil as EntryRow?) {
            try $0.index.entries.row(named: self.engine.entries.key(of: url))
        }
        return ((row ?? nil)?.storedBytes ?? 0) > 0
    }
}

extension CacheFolder: CacheStatus {
    /// Looks up how much of each of `urls` is cached. An element is `nil` if its URL has no entry, or if the
    /// folder cannot be used.
    ///
    /// Reads one row for each, in batches, so that other queries can run between them.
    package func availability(of urls: [WebURL]) async -> [Availability?] {
        await lookUp(urls) { index, row in
            let item = try index.item(row)
            return Availability(stored: item.stored, length: item.length, isPinned: item.isPinned)
        }
    }

    package func spare(_ urls: [WebURL]) async {
        let entries = await lookUp(urls) { _, row in row.entry }
        engine.spared.withLock { $0 = Set(entries.compactMap(\.self)) }
        engine.refusedUses.withLock { _ = $0.remove(.ahead) }
    }

    package var isFullAhead: Bool { engine.refusedUses.withLock { $0.contains(.ahead) } }

    package func count(_ bytes: HeardBytes, of url: WebURL) {
        engine.committer.submit { [engine] in
            guard engine.settings.hasFolder else { return }
            // The listener loses no music if this fails, so nothing is reported.
            try? engine.session.perform { folder in
                try folder.index.relaxedTransaction {
                    try folder.index.savings.add(bytes, of: url.host, at: engine.settings.wallClock())
                }
            }
        }
    }

    /// Reads the sums of `count`; they are 0 if there is no folder. Throws `MediaError` if the index can't be
    /// read.
    package func savings() async throws -> Savings {
        let time = engine.settings.wallClock()
        return try await engine.ask(orElse: Savings()) { try $0.savings.all(at: time) }
    }

    /// Looks up the tags and duration of each of `urls`, as `availability` does.
    package func facts(of urls: [WebURL]) async -> [TrackFacts?] {
        await lookUp(urls) { _, row in
            let facts = TrackFacts(tags: row.description.tags, duration: row.description.plausibleDuration)
            return facts == TrackFacts() ? nil : facts
        }
    }

    /// Calls `value` with the row of each of `urls` that has an entry.
    private func lookUp<Value: Sendable>(
        _ urls: [WebURL],
        _ value: @escaping @Sendable (CacheIndex, EntryRow) throws -> Value?
    ) async -> [Value?] {
        var answers: [Value?] = []
        answers.reserveCapacity(urls.count)
        for start in stride(from: 0, to: urls.count, by: Self.batchSize) {
            let batch = urls[start..<min(urls.count, start + Self.batchSize)]
            let nothing = [Value?](repeating: nil, count: batch.count)
            let found = try? await engine.ask(orElse: nothing) { index in
                try batch.map { url in
                    try index.entries.row(named: self.engine.entries.key(of: url))
                        .flatMap { try value(index, $0) }
                }
            }
            answers += found ?? nothing
        }
        return answers
    }

    /// A few milliseconds of work.
    private static let batchSize = 1_000

    /// Pins the entry of `url`, created empty if there is none, or unpins it. Durable when this returns.
    ///
    /// Throws `.notCached` if the folder cannot be used. Pinned entries are never evicted, and count towards
    /// the budget.
    package func setPinned(_ url: WebURL, _ isPinned: Bool) async throws {
        try await engine.committer.run { try self.engine.entries.setPinned(url, isPinned) }
    }
}
