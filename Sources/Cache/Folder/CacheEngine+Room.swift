import Media

// Keeping the objects within their bounds. All of it on the committing thread, with the folder's lock held.
extension CacheEngine {
    /// Removes entries that are too old, and least recently played ones until the folder is within its bounds
    /// with `needed` more bytes. Returns how many bytes too many are left then.
    @discardableResult
    func keepWithinBounds(in folder: OpenedFolder, needed: Int64 = 0) throws -> Int64 {
        try keepWithin(policy, in: folder, needed: needed).excess
    }

    /// The bounds as the settings have them.
    var policy: EvictionPolicy {
        EvictionPolicy(
            budget: settings.budget,
            minimumFree: settings.minimumFree,
            expiry: settings.maximumAge.map { settings.wallClock() - $0 }
        )
    }

    func keepWithin(
        _ policy: EvictionPolicy,
        in folder: OpenedFolder,
        needed: Int64 = 0
    ) throws -> (removed: Set<EntryID>, excess: Int64) {
        var allRemoved = Set<EntryID>()
        var sought = try policy.sought(fullness(of: folder, needed: needed))
        var last: EvictionCandidate?
        // In the order of their age: behind one that may stay, none is too old.
        while sought > 0 || last.map({ policy.isExpired($0) }) ?? (policy.expiry != nil) {
            var page = try folder.index.candidates(after: last, limit: Self.pageSize)
            guard let end = page.last else { break }
            last = end
            while case let victims = policy.victims(among: page, excess: sought), !victims.isEmpty {
                let removed = try remove(victims, from: folder)
                allRemoved.formUnion(removed)
                // What another opener uses is only found out by trying: the next choice knows it.
                for index in page.indices where victims.contains(page[index].entry) {
                    page[index].isOpen = true
                }
                sought = try policy.sought(fullness(of: folder, needed: needed))
            }
        }
        return (allRemoved, try policy.excess(fullness(of: folder, needed: needed)))
    }

    /// Makes room for `needed` bytes of an entry whose resource is `length` bytes long, or throws `.notKept`.
    func makeRoom(for needed: Int64, length: Int64?, in folder: OpenedFolder) throws {
        guard needed > 0 else { return }
        let path = SafeText("cache folder \(settings.path)")
        if let length, length > settings.budget {
            // Everything else would go for it, and in the end it would not be whole either.
            throw MediaError(.notKept, path, "its budget is smaller than this one piece of music")
        }
        guard try keepWithinBounds(in: folder, needed: needed) > 0 else { return }
        let free = try settings.files.freeBytes(of: folder.objects.descriptor)
        let isDiskFull = policy.excess(Fullness(allocated: 0, free: free, needed: needed)) > 0
        let cause: SafeText =
            isDiskFull
            ? "its disk is too full, and nothing in it may go"
            : "it is full, and all that is in it is pinned or being played"
        throw MediaError(.notKept, path, cause)
    }

    private func fullness(of folder: OpenedFolder, needed: Int64) throws -> Fullness {
        let free =
            settings.minimumFree > 0 ? try settings.files.freeBytes(of: folder.objects.descriptor) : .max
        return Fullness(allocated: try folder.index.allocated(), free: free, needed: needed)
    }

    /// Removes those of `entries` that nobody has open, and returns them.
    func remove(_ entries: [EntryID], from folder: OpenedFolder) throws -> Set<EntryID> {
        var removed = Set<EntryID>()
        for start in stride(from: 0, to: entries.count, by: Self.pageSize) {
            let batch = entries[start..<min(entries.count, start + Self.pageSize)]
            // The exclusive locks last until the files are gone: as long as `held` lives.
            let held = batch.map { (entry: $0, hold: folder.objects.holdForRemoval($0)) }
                .filter { if case .inUse = $0.hold { false } else { true } }
            // Rows go first: a file without a row is litter, a row without its file would be a lie.
            try folder.index.transaction {
                for (entry, _) in held { try folder.index.remove(entry) }
            }
            for (entry, _) in held { folder.objects.unlink(entry) }
            removed.formUnion(held.map(\.entry))
        }
        return removed
    }

    /// Removes those of `entries` that nobody has open, and counts.
    func remove(
        entries: [EvictionCandidate],
        includingPinned: Bool,
        from folder: OpenedFolder
    ) throws -> CacheRemoval {
        var removal = CacheRemoval()
        let wanted = entries.filter { includingPinned || !$0.isPinned }
        let removed = try remove(wanted.map(\.entry), from: folder)
        removal.entriesRemoved = removed.count
        removal.entriesInUse = wanted.count - removed.count
        removal.entriesPinned = entries.count - wanted.count
        removal.bytesFreed = wanted.filter { removed.contains($0.entry) }.reduce(0) { $0 + $1.allocated }
        return removal
    }

    /// How many entries are handled at once: few enough for the limit of open files (often 1,024).
    private static let pageSize = 256
}
