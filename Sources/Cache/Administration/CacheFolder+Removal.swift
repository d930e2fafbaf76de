package import Media
import System

// Removing what is kept, a page at a time: others have the folder in between.
extension CacheFolder {
    /// Removes every entry that no process has open; pinned ones only when asked to.
    package func clear(includingPinned: Bool) async throws -> CacheRemoval {
        let all = try await engine.ask(orElse: []) { try $0.removables().map(\.entry) }
        return try await remove(all, includingPinned: includingPinned)
    }

    /// Removes the entries of `urls` that no process has open; pinned ones only when asked to.
    package func evict(_ urls: [WebURL], includingPinned: Bool = false) async throws -> CacheRemoval {
        let found = try await change(orElse: [EntryID?](repeating: nil, count: urls.count)) {
            engine,
            folder in
            try urls.map { try folder.index.entry(key: engine.key(of: $0))?.entry }
        }
        let entries = Set(found.compactMap(\.self)).sorted { $0.value < $1.value }
        var removal = try await remove(entries, includingPinned: includingPinned)
        removal.entriesMissing = found.count { $0 == nil }
        return removal
    }

    /// Removes the entry with this number, unless it is pinned or some process has it open.
    package func evict(number: Int64) async throws -> CacheRemoval {
        try await change(orElse: CacheRemoval(entriesMissing: 1)) { engine, folder in
            guard let row = try folder.index.entry(EntryID(number)) else {
                return CacheRemoval(entriesMissing: 1)
            }
            return try engine.remove(page: [row.entry], includingPinned: false, from: folder)
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
        let policy = EvictionPolicy(budget: max(0, budget))
        let before = try await engine.ask(orElse: []) { try $0.removables() }
        var trimming = Trimming(policy)
        while !before.isEmpty, !trimming.isDone {
            let resumed = trimming
            let next = try await change(orElse: nil as Trimming?) { engine, folder in
                var trimming = resumed
                try engine.trim(&trimming, in: folder)
                return trimming
            }
            guard let next else { break }
            trimming = next
        }
        var removed = trimming.removed
        if includingPinned {
            var pinned = before.filter(\.isPinned)
            for index in pinned.indices { pinned[index].isPinned = false }
            let excess = try await totalBytes - policy.budget
            let victims = policy.victims(among: pinned, excess: excess)
            for page in victims.pages {
                removed.formUnion(try await change(orElse: []) { try $0.remove(Array(page), from: $1) })
            }
        }
        return Self.removal(
            of: removed,
            from: before,
            excess: try await totalBytes - policy.budget,
            includingPinned
        )
    }

    /// What `evict(toBudget:)` would remove if nothing were open, without pinned ones; removes nothing.
    package func victims(toBudget budget: Int64) async throws -> CacheRemoval {
        let policy = EvictionPolicy(budget: max(0, budget))
        return try await engine.ask(orElse: CacheRemoval()) { index in
            var removal = CacheRemoval()
            var last: EvictionCandidate?
            while case let excess = try index.allocated() - removal.bytesFreed - policy.budget, excess > 0 {
                let page = try index.candidates(after: last, limit: CacheEngine.pageSize)
                guard let end = page.last else { break }
                last = end
                let victims = Set(policy.victims(among: page, excess: excess))
                removal.entriesRemoved += victims.count
                removal.bytesFreed += page.filter { victims.contains($0.entry) }.reduce(0) {
                    $0 + $1.allocated
                }
            }
            return removal
        }
    }

    /// What became of `before`, of which `removed` went, when `excess` bytes too many are left.
    private static func removal(
        of removed: Set<EntryID>,
        from before: [EvictionCandidate],
        excess: Int64,
        _ includesPinned: Bool
    ) -> CacheRemoval {
        var removal = CacheRemoval(entriesRemoved: removed.count)
        for candidate in before {
            if removed.contains(candidate.entry) {
                removal.bytesFreed += candidate.allocated
            } else if excess > 0, candidate.isPinned, !includesPinned {
                removal.entriesPinned += 1
            } else if excess > 0, candidate.allocated > 0 {
                removal.entriesInUse += 1
            }
        }
        return removal
    }

    /// Removes page by page.
    private func remove(_ entries: [EntryID], includingPinned: Bool) async throws -> CacheRemoval {
        var removal = CacheRemoval()
        for page in entries.pages {
            removal += try await change(orElse: CacheRemoval()) { engine, folder in
                try engine.remove(page: page, includingPinned: includingPinned, from: folder)
            }
        }
        return removal
    }

    private func change<Value: Sendable>(
        orElse nothing: Value,
        _ change: @escaping @Sendable (CacheEngine, OpenedFolder) throws -> Value
    ) async throws -> Value {
        let engine = engine
        return try await engine.committer.run {
            guard IndexReading.isFolder(engine.settings.path) else { return nothing }
            return try engine.perform { try change(engine, $0) }
        }
    }
}

extension [EntryID] {
    /// These, as many at a time as are handled while the folder is locked.
    fileprivate var pages: [ArraySlice<EntryID>] {
        stride(from: 0, to: count, by: CacheEngine.pageSize).map {
            self[$0..<Swift.min(count, $0 + CacheEngine.pageSize)]
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
