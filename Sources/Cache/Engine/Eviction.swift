import Media

/// Keeps the objects within their limits and removes files that belong to no entry.
///
/// Used by the committing thread only. Works on one page of entries at a time, so that other jobs and
/// processes can use the folder in between.
final class Eviction: @unchecked Sendable {
    // Unchecked: touched on the committing thread only.
    /// The number of the last opening of the folder that was tidied. A new opening may have a new index, to
    /// which the objects of the previous one are orphans.
    private var tidiedOpening = 0
    private let settings: CacheSettings

    /// The number of entries handled under one lock of the folder: few, because unlinking a long file takes
    /// milliseconds, while other processes wait for the lock.
    static let pageSize = 64

    init(settings: CacheSettings) { self.settings = settings }

    /// Starts an eviction down to the limits of the settings.
    func trimming() -> Trimming {
        Trimming(
            EvictionPolicy(
                budget: settings.budget,
                minimumFree: settings.minimumFree,
                expiry: settings.maximumAge.map { settings.wallClock() - $0 }
            )
        )
    }

    // MARK: Removing

    /// Removes those entries of a page that no store has open, and returns them.
    func remove(_ entries: [EntryID], from folder: OpenedFolder) throws -> Set<EntryID> {
        // The exclusive locks last as long as `held`: until the files are unlinked.
        let held = entries.map { (entry: $0, hold: folder.objects.holdForRemoval($0)) }
            .filter { if case .inUse = $0.hold { false } else { true } }
        guard !held.isEmpty else { return [] }
        // Rows are removed first: a file without a row only wastes space, but a row without its file would
        // claim bytes that are missing.
        try folder.index.transaction {
            for (entry, _) in held { try folder.index.entries.remove(entry) }
        }
        for (entry, _) in held { folder.objects.unlink(entry) }
        return Set(held.map(\.entry))
    }

    /// Like `remove(_:from:)`, but returns a report, which does not count entries that were already removed.
    func remove(
        page: some Collection<EntryID>,
        includingPinned: Bool,
        from folder: OpenedFolder
    ) throws -> CacheRemoval {
        // Read again, because other processes may have changed them since they were listed.
        let rows = try page.compactMap { try folder.index.entries.row($0) }
        let wanted = rows.filter { includingPinned || !$0.isPinned }
        let removed = try remove(wanted.map(\.entry), from: folder)
        return CacheRemoval(
            entriesRemoved: removed.count,
            bytesFreed: wanted.filter { removed.contains($0.entry) }.reduce(0) { $0 + $1.allocated },
            entriesInUse: wanted.count - removed.count,
            entriesPinned: rows.count - wanted.count
        )
    }

    // MARK: Bounds

    /// Evicts entries of the next page of candidates as needed. Sets `isDone` if no more entries need to be,
    /// or can be, evicted.
    func trim(_ trimming: inout Trimming, in folder: OpenedFolder) throws {
        let policy = trimming.policy
        var sought = try policy.sought(fullness(of: folder, needed: trimming.needed))
        // Candidates are sorted by age: after one that was played and has not expired, none has.
        let isOld = trimming.last.map { policy.isExpired($0) || !$0.isPlayed } ?? true
        let isMore = sought > 0 || (policy.expiry != nil && isOld)
        var page =
            isMore ? try folder.index.entries.candidates(after: trimming.last, limit: Self.pageSize) : []
        guard let end = page.last else {
            trimming.isDone = true
            return
        }
        trimming.last = end
        while case let victims = policy.victims(among: page, excess: sought), !victims.isEmpty {
            _ = try remove(victims, from: folder)
            // `remove` skips open entries. If too little was freed, the next turn chooses others of the page.
            page.removeAll { victims.contains($0.entry) }
            sought = try policy.sought(fullness(of: folder, needed: trimming.needed))
        }
    }

    /// Makes room for `trimming.needed` bytes of the entry of `row`, whose resource is `length` bytes long.
    ///
    /// Returns `false` if there is not enough room yet: it removed a page of other entries and must be called
    /// again. Throws `.notCached` if there cannot be enough room.
    func makeRoom(
        _ trimming: inout Trimming,
        for row: EntryRow,
        length: Int64?,
        in folder: OpenedFolder
    ) throws -> Bool {
        let policy = trimming.policy
        let path = SafeText("cache folder \(settings.path)")
        if let length, length > policy.budget {
            // All other entries would be evicted, and the track would still not fit.
            throw MediaError(.notCached, path, "its budget is smaller than this one track")
        }
        if let length, try length > policy.budget - folder.index.entries.pinnedBytes(besides: row.entry) {
            throw MediaError(.notCached, path, "pinned tracks leave too little room for this one")
        }
        let size = row.allocated + trimming.needed
        let isTooFull = try policy.sought(fullness(of: folder, needed: trimming.needed)) > 0
        if length == nil, isTooFull, !policy.mayPushOut(unknownLengthOf: size) {
            throw MediaError(
                .notCached,
                path,
                "it is full, and the server does not say how long this track is"
            )
        }
        try trim(&trimming, in: folder)
        guard trimming.isDone else { return false }
        guard try policy.excess(fullness(of: folder, needed: trimming.needed)) > 0 else { return true }
        // A process that was killed may have counted bytes that it never wrote.
        try settleSizes(in: folder)
        guard try policy.excess(fullness(of: folder, needed: trimming.needed)) > 0 else { return true }
        let free = try settings.files.freeBytes(of: folder.objects.descriptor)
        let isDiskFull = policy.excess(Fullness(allocated: 0, free: free, needed: trimming.needed)) > 0
        let cause: SafeText =
            isDiskFull
            ? "its disk is too full, and evicting tracks would not free enough"
            : "it is full, and every track in it is pinned or being played"
        throw MediaError(.notCached, path, cause)
    }

    private func fullness(of folder: OpenedFolder, needed: Int64) throws -> Fullness {
        let free =
            settings.minimumFree > 0 ? try settings.files.freeBytes(of: folder.objects.descriptor) : .max
        return Fullness(allocated: try folder.index.allocated(), free: free, needed: needed)
    }

    /// Corrects the recorded sizes of all files, except those to which a commit is writing.
    private func settleSizes(in folder: OpenedFolder) throws {
        var sizes: [(entry: EntryID, allocated: Int64)] = []
        for candidate in try folder.index.entries.removables()
        where candidate.allocated != folder.objects.size(candidate.entry).allocated {
            guard let settled = folder.objects.settledAllocated(candidate.entry) else { continue }
            sizes.append((candidate.entry, settled))
        }
        try record(sizes, in: folder)
    }

    private func record(_ sizes: [(entry: EntryID, allocated: Int64)], in folder: OpenedFolder) throws {
        guard !sizes.isEmpty else { return }
        try folder.index.relaxedTransaction {
            for (entry, allocated) in sizes {
                try folder.index.entries.setAllocated(allocated, of: entry)
            }
        }
    }

    // MARK: Tidying

    /// Starts removing the leftovers of earlier processes. Returns a walk through the objects, to be swept
    /// page by page.
    ///
    /// Returns `nil` if this index was tidied already, or if the folder cannot be used; then the next commit
    /// reports why.
    func beginTidying(_ session: FolderSession) -> ObjectWalk? {
        guard tidiedOpening != session.openCount || tidiedOpening == 0 else { return nil }
        return try? session.perform { folder in
            tidiedOpening = session.openCount
            try folder.index.repairSum()
            return try folder.objects.walk()
        }
    }

    /// Handles `entries`, whose files were found in `objects`: removes files without a row, withdraws claims
    /// beyond the end of a file, and corrects sizes.
    ///
    /// Reports the files without a row. The lock must be held.
    func sweep(_ entries: [EntryID], in folder: OpenedFolder) throws -> CacheRemoval {
        var removal = CacheRemoval()
        var sizes: [(entry: EntryID, allocated: Int64)] = []
        for entry in entries {
            let (length, allocated) = folder.objects.size(entry)
            // If the file is damaged, `length` may be that of a link in its place, so its claims stay: the
            // next verification, or the player, withdraws them.
            if !folder.objects.isDamaged(entry), try folder.index.extents.end(of: entry) > length {
                let lost = try folder.index.extents.all(of: entry).filter { $0.range.upperBound > length }
                try folder.index.transaction { try folder.index.extents.remove(lost, of: entry) }
            }
            if let counted = try folder.index.entries.allocated(of: entry) {
                // The bytes of a commit in progress are counted already, but not yet on the disk.
                if counted != allocated, let settled = folder.objects.settledAllocated(entry) {
                    sizes.append((entry, settled))
                }
                continue
            }
            // A file in use belongs to a store whose entry was replaced or removed.
            if case .inUse = folder.objects.holdForRemoval(entry) {
                removal.entriesInUse += 1
                continue
            }
            folder.objects.unlink(entry)
            removal += CacheRemoval(entriesRemoved: 1, bytesFreed: allocated)
        }
        try record(sizes, in: folder)
        return removal
    }

    /// Frees disk space of the entry's file that holds no claimed bytes, and corrects the entry's sums.
    /// Returns the number of bytes freed. The lock must be held.
    ///
    /// Does so only if no other store has the entry open: another process may still read bytes that were
    /// claimed when it read the index, and would get the zeros of a hole instead.
    func reclaim(_ file: ObjectFile, in folder: OpenedFolder) throws -> Int64 {
        let entry = file.entry
        guard let row = try folder.index.entries.row(entry) else { return 0 }
        let stored = try folder.index.extents.ranges(of: entry)
        let (length, allocated) = try file.size()
        var after = allocated
        // This excludes other stores of this process too: each has its own lock.
        if file.lockExclusive() {
            defer { try? file.lockShared() }
            for gap in stored.gaps(in: 0..<max(length, 0)) where length > 0 {
                try? settings.files.punch(gap, of: file.descriptor)
            }
            after = try file.size().allocated
        }
        if row.storedBytes != stored.byteCount || row.allocated != after {
            // The bytes of a commit in progress are counted already, but not yet on the disk.
            try file.ifNobodyCommits {
                let settled = try file.size().allocated
                try folder.index.relaxedTransaction {
                    try folder.index.extents.recount(entry)
                    try folder.index.entries.setAllocated(settled, of: entry)
                }
            }
        }
        return max(0, allocated - after)
    }
}

/// Eviction in progress, a page at a time.
struct Trimming: Sendable {
    var policy: EvictionPolicy
    /// The bytes to make room for.
    var needed: Int64 = 0
    /// The last candidate considered.
    fileprivate(set) var last: EvictionCandidate?
    /// `true` if no more entries need to be, or can be, evicted.
    fileprivate(set) var isDone = false

    init(_ policy: EvictionPolicy) { self.policy = policy }
}
