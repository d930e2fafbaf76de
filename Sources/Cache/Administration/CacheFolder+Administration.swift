import Glibc
package import Media

/// What `reprise cache …` asks for. A folder that is not there is empty, and is not made by asking.
extension CacheFolder {
    /// Every entry, the most recently played first. Throws `.notKept` when the folder cannot be used.
    package func list() async throws -> [CacheEntrySummary] {
        try await engine.ask(orElse: []) { index in
            try index.entries().map { CacheEntrySummary($0.row, stored: $0.stored) }
        }
    }

    /// The entry of `url`; nil when there is none. Does not count as playing it.
    package func info(for url: WebURL) async throws -> CacheEntrySummary? {
        let key = engine.key(of: url)
        return try await engine.ask(orElse: nil) { index in
            guard let row = try index.entry(key: key) else { return nil }
            return CacheEntrySummary(row, stored: try index.storedRanges(of: row.entry))
        }
    }

    /// The bytes that all objects take on the disk, as of their last commits.
    package var totalBytes: Int64 {
        get async throws { try await engine.ask(orElse: 0) { try $0.allocated() } }
    }

    /// Removes every entry that no process has open; pinned ones only when asked to.
    package func clear(includingPinned: Bool) async throws -> CacheRemoval {
        try await change { engine, folder in
            try engine.remove(
                entries: folder.index.removables(),
                includingPinned: includingPinned,
                from: folder
            )
        }
    }

    /// Removes the entries of `urls` that no process has open; pinned ones only when asked to.
    package func evict(_ urls: [WebURL], includingPinned: Bool = false) async throws -> CacheRemoval {
        try await change(orElse: CacheRemoval(entriesMissing: urls.count)) { engine, folder in
            var entries: [EntryID: EvictionCandidate] = [:]
            var missing = 0
            for url in urls {
                guard let row = try folder.index.entry(key: engine.key(of: url)) else {
                    missing += 1
                    continue
                }
                entries[row.entry] = EvictionCandidate(row)
            }
            let all = entries.values.sorted { $0.entry.value < $1.entry.value }
            var removal = try engine.remove(entries: all, includingPinned: includingPinned, from: folder)
            removal.entriesMissing = missing
            return removal
        }
    }

    /// Removes the entry with this number, unless it is pinned or some process has it open.
    package func evict(number: Int64) async throws -> CacheRemoval {
        try await change(orElse: CacheRemoval(entriesMissing: 1)) { engine, folder in
            guard let row = try folder.index.entry(EntryID(number)) else {
                return CacheRemoval(entriesMissing: 1)
            }
            return try engine.remove(entries: [EvictionCandidate(row)], includingPinned: false, from: folder)
        }
    }

    /// Pins the entry with this number, or unpins it; one that is gone stays gone. Durable when this returns.
    package func setPinned(number: Int64, _ isPinned: Bool) async throws {
        let engine = engine
        try await engine.committer.run {
            guard IndexReading.isFolder(engine.settings.path) else { return }
            try engine.perform { folder in
                try folder.index.transaction { try folder.index.setPinned(isPinned, of: EntryID(number)) }
            }
        }
    }

    /// Removes least recently played entries until the objects take no more than `budget` bytes; never open
    /// ones, and pinned ones, after all others, only when asked to.
    package func evict(toBudget budget: Int64, includingPinned: Bool = false) async throws -> CacheRemoval {
        try await change { engine, folder in
            let before = try folder.index.removables()
            let policy = EvictionPolicy(budget: max(0, budget))
            var (removed, excess) = try engine.keepWithin(policy, in: folder)
            if excess > 0, includingPinned {
                var pinned = before.filter(\.isPinned)
                for index in pinned.indices { pinned[index].isPinned = false }
                removed.formUnion(
                    try engine.remove(policy.victims(among: pinned, excess: excess), from: folder)
                )
                excess = max(0, try folder.index.allocated() - policy.budget)
            }
            var removal = CacheRemoval(entriesRemoved: removed.count)
            for candidate in before {
                if removed.contains(candidate.entry) {
                    removal.bytesFreed += candidate.allocated
                } else if excess > 0, candidate.isPinned, !includingPinned {
                    removal.entriesPinned += 1
                } else if excess > 0, candidate.allocated > 0 {
                    removal.entriesInUse += 1
                }
            }
            return removal
        }
    }

    /// Tests the secret, or its absence, against the folder, and makes the folder ready.
    ///
    /// Throws `MediaError` with `.cacheSecret` when the folder is sealed with another secret, when it is sealed
    /// and none was given, and when one was given and the folder is not sealed; nothing in it is touched then.
    /// Other troubles are no matter of this call: a folder that cannot be used is told by `open`. Without a
    /// secret, a folder that is not there is not made.
    package func checkSecret() async throws {
        let engine = engine
        guard engine.settings.secret != nil || IndexReading.isFolder(engine.settings.path) else { return }
        do {
            try await engine.committer.run { try engine.perform { _ in } }
        } catch let error as MediaError where error.code == .notKept {
            return
        }
    }

    private func change(
        orElse nothing: CacheRemoval = CacheRemoval(),
        _ change: @escaping @Sendable (CacheEngine, OpenedFolder) throws -> CacheRemoval
    ) async throws -> CacheRemoval {
        let engine = engine
        return try await engine.committer.run {
            guard IndexReading.isFolder(engine.settings.path) else { return nothing }
            return try engine.perform { try change(engine, $0) }
        }
    }
}

extension EvictionCandidate {
    init(_ row: EntryRow) {
        self.init(
            entry: row.entry,
            allocated: row.allocated,
            lastPlayed: row.lastPlayed,
            isPinned: row.isPinned
        )
    }
}
