import Glibc
package import Media
import System

// Commands of `reprise cache` that change the folder or read all of an entry. Removals lock the folder for
// one page of entries at a time, so that other processes can use it between pages.
extension CacheFolder {
    /// Removes every entry that no process has open; pinned ones only with `includingPinned`.
    ///
    /// With `includingPinned` it also removes an index of another format, whose pins cannot be read, and all
    /// objects that no process has open.
    package func clear(includingPinned: Bool) async throws -> CacheRemoval {
        if includingPinned, engine.settings.hasFolder,
            try await engine.committer.run({ try self.engine.session.removeOtherFormat() })
        {
            return try await engine.removeOrphans()
        }
        let all = try await engine.ask(orElse: []) { try $0.entries.removables().map(\.entry) }
        return try await evict(all, includingPinned: includingPinned)
    }

    /// Removes those of `entries` that no process has open; pinned ones only with `includingPinned`.
    package func evict(_ entries: [CachedItem.ID], includingPinned: Bool = false) async throws -> CacheRemoval
    {
        var removal = CacheRemoval()
        for page in entries.pages {
            removal += try await engine.change(orElse: CacheRemoval()) { folder in
                try self.engine.eviction.remove(page: page, includingPinned: includingPinned, from: folder)
            }
        }
        return removal
    }

    /// Pins the entry, or unpins it, if it still exists. Durable when this returns.
    package func setPinned(_ entry: CachedItem.ID, _ isPinned: Bool) async throws {
        try await engine.change(orElse: ()) { folder in
            try folder.index.transaction { try folder.index.entries.setPinned(isPinned, of: entry) }
        }
    }

    /// Removes the least recently played entries until the objects take at most `budget` bytes. Never
    /// removes open entries; removes pinned ones only with `includingPinned`, and after all others.
    package func evict(toBudget budget: Int64, includingPinned: Bool = false) async throws -> CacheRemoval {
        let policy = EvictionPolicy(budget: max(0, budget))
        let all = try await engine.ask(orElse: []) { try $0.entries.removables() }
        let pinned = all.filter(\.isPinned)
        var removal = CacheRemoval()
        for page in (all.filter { !$0.isPinned } + (includingPinned ? pinned : [])).pages {
            removal += try await engine.change(orElse: CacheRemoval()) { folder in
                var page = page.map(\.unpinned)
                var removal = CacheRemoval()
                while case let excess = try folder.index.allocated() - policy.budget,
                    case let victims = policy.victims(among: page, excess: excess), !victims.isEmpty
                {
                    removal += try self.engine.eviction.remove(
                        page: victims,
                        includingPinned: includingPinned,
                        from: folder
                    )
                    page.removeAll { victims.contains($0.entry) }
                }
                return removal
            }
        }
        if try await totalBytes <= policy.budget {
            removal.entriesInUse = 0
            removal.entriesPinned = 0
        } else if !includingPinned {
            removal.entriesPinned = pinned.count
        }
        return removal
    }

    /// The entries that `evict(toBudget:)` without `includingPinned` would remove if no entry were open, the
    /// least recently played first.
    package func victims(toBudget budget: Int64) async throws -> [CachedItem] {
        let policy = EvictionPolicy(budget: max(0, budget))
        return try await engine.ask(orElse: []) { index in
            var victims: [CachedItem] = []
            var excess = try index.allocated() - policy.budget
            var last: EvictionCandidate?
            while excess > 0 {
                let page = try index.entries.candidates(after: last, limit: Eviction.pageSize)
                guard let end = page.last else { break }
                last = end
                for entry in policy.victims(among: page, excess: excess) {
                    guard let row = try index.entries.row(entry) else { continue }
                    victims.append(try index.item(row))
                    excess -= row.allocated
                }
            }
            return victims
        }
    }

    // MARK: Export

    /// Opens an entry to read what is cached of it, without marking it as played; `nil` if there is no such
    /// entry.
    package func openToRead(_ entry: CachedItem.ID, at url: WebURL) async throws -> (any ByteStore)? {
        let opening = try await engine.committer.run { () -> OpenEntry? in
            guard self.engine.settings.hasFolder else { return nil }
            return try self.engine.entries.openToRead { try $0.entries.row(entry) }
        }
        guard var opening else { return nil }
        opening.refusal = MediaError(.notCached, url.safeText, "opened for reading only")
        return PersistentStore(opening, of: url, engine: engine)
    }

    /// Writes what is cached of an entry to an open, seekable file, each byte at its own offset from the
    /// file's start, and gives the file the resource's length if that is known; `nil` if there is no such
    /// entry.
    ///
    /// Checks every byte; a damaged extent becomes a gap. Does not mark the entry as played. Throws
    /// `.unreadable` if the file cannot be written, `CancellationError` if the task is cancelled.
    package func export(_ entry: CachedItem.ID, into descriptor: CInt) async throws -> CacheExport? {
        let reading = try await engine.committer.run { () -> OpenEntry? in
            guard self.engine.settings.hasFolder else { return nil }
            return try self.engine.entries.openToRead { try $0.entries.row(entry) }
        }
        guard let reading else { return nil }
        var written = ByteRangeSet()
        for extent in reading.extents + reading.lost {
            try Task.checkCancellation()
            let bytes = await engine.io.run { self.engine.entries.bytes(of: extent, in: reading.file) }
            guard let bytes else {
                _ = await engine.committer.run { self.engine.entries.drop([extent], of: entry) }
                continue
            }
            try await engine.io.run {
                do {
                    try SystemFiles().write(bytes[...], to: descriptor, at: extent.range.lowerBound)
                } catch {
                    throw MediaError(.unreadable, "exported file", SafeText("\(error)"))
                }
            }
            written.insert(contentsOf: extent.range)
        }
        let length = reading.description.length
        let end = max(length ?? 0, written.ranges.last?.upperBound ?? 0)
        guard ftruncate(descriptor, off_t(end)) == 0 else {
            throw MediaError(.unreadable, "exported file", SafeText("\(SystemError("set its length"))"))
        }
        let gaps = end > 0 ? written.gaps(in: 0..<end) : []
        return CacheExport(isWhole: length != nil && gaps.isEmpty, gaps: gaps)
    }
}

extension Array {
    /// The elements divided into pages, each of which is handled under one lock of the folder.
    fileprivate var pages: [ArraySlice<Element>] {
        stride(from: 0, to: count, by: Eviction.pageSize).map {
            self[$0..<Swift.min(count, $0 + Eviction.pageSize)]
        }
    }
}

extension EvictionCandidate {
    fileprivate var unpinned: EvictionCandidate {
        var candidate = self
        candidate.isPinned = false
        return candidate
    }
}
