import Media
import System

// Keeping the objects within their bounds. All of it on the committing thread, and but for `trimLater` with the
// folder's lock held.
extension CacheEngine {
    /// The bounds as the settings have them.
    var policy: EvictionPolicy {
        EvictionPolicy(
            budget: settings.budget,
            minimumFree: settings.minimumFree,
            expiry: settings.maximumAge.map { settings.wallClock() - $0 }
        )
    }

    /// Removes what of the next page of candidates has to go; sets `isDone` when nothing more has to or may.
    func trim(_ trimming: inout Trimming, in folder: OpenedFolder) throws {
        let policy = trimming.policy
        var sought = try policy.sought(fullness(of: folder, needed: trimming.needed))
        // In the order of their age: behind one that may stay, none is too old.
        let isMore = sought > 0 || trimming.last.map { policy.isExpired($0) } ?? (policy.expiry != nil)
        var page = isMore ? try folder.index.candidates(after: trimming.last, limit: Self.pageSize) : []
        guard let end = page.last else {
            trimming.isDone = true
            return
        }
        trimming.last = end
        while case let victims = policy.victims(among: page, excess: sought), !victims.isEmpty {
            let removed = try remove(victims, from: folder)
            trimming.removed.formUnion(removed)
            // What another opener uses is only found out by trying: the next choice knows it.
            for index in page.indices where victims.contains(page[index].entry) {
                page[index].isOpen = true
            }
            sought = try policy.sought(fullness(of: folder, needed: trimming.needed))
        }
    }

    /// Trims to the end, behind what is asked for now; others get the folder after each page.
    func trimLater(_ trimming: Trimming) {
        committer.submit { [weak self] in
            var trimming = trimming
            // Nobody listens; what stops it will be met, and told, by the next commit.
            guard let self, (try? perform { try trim(&trimming, in: $0) }) != nil else { return }
            if !trimming.isDone { trimLater(trimming) }
        }
    }

    /// Makes room for the bytes that `trimming` says are needed, of the entry of `row`, whose resource is
    /// `length` bytes long. Says whether there is room; if not, a page of others
    /// was removed for it, and it is to be called again. Throws `.notKept` when there cannot be room.
    func makeRoom(
        _ trimming: inout Trimming,
        for row: EntryRow,
        length: Int64?,
        in folder: OpenedFolder
    ) throws -> Bool {
        let policy = trimming.policy
        let path = SafeText("cache folder \(settings.path)")
        if let length, length > policy.budget {
            // Everything else would go for it, and in the end it would not be whole either.
            throw MediaError(.notKept, path, "its budget is smaller than this one piece of music")
        }
        if let length, try length > policy.budget - folder.index.pinnedBytes(besides: row.entry) {
            throw MediaError(.notKept, path, "what is pinned in it leaves too little room for this piece")
        }
        let size = row.allocated + trimming.needed
        let isTooFull = try policy.sought(fullness(of: folder, needed: trimming.needed)) > 0
        if length == nil, isTooFull, !policy.mayPushOut(unknownLengthOf: size) {
            throw MediaError(.notKept, path, "it is full, and nobody says how long this piece of music is")
        }
        try trim(&trimming, in: folder)
        guard trimming.isDone else { return false }
        guard try policy.excess(fullness(of: folder, needed: trimming.needed)) > 0 else { return true }
        // A killed process may have counted what it never wrote.
        try settleSizes(in: folder)
        guard try policy.excess(fullness(of: folder, needed: trimming.needed)) > 0 else { return true }
        let free = try settings.files.freeBytes(of: folder.objects.descriptor)
        let isDiskFull = policy.excess(Fullness(allocated: 0, free: free, needed: trimming.needed)) > 0
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

    /// Puts down what the files really take, but for those that somebody is just writing to.
    private func settleSizes(in folder: OpenedFolder) throws {
        var sizes: [(entry: EntryID, allocated: Int64)] = []
        for candidate in try folder.index.removables()
        where candidate.allocated != folder.objects.size(candidate.entry).allocated {
            guard let settled = folder.objects.settledAllocated(candidate.entry) else { continue }
            sizes.append((candidate.entry, settled))
        }
        guard !sizes.isEmpty else { return }
        try folder.index.relaxedTransaction {
            for (entry, allocated) in sizes { try folder.index.setAllocated(allocated, of: entry) }
        }
    }

    /// Removes those of `entries`, a page at most, that nobody has open, and returns them.
    func remove(_ entries: [EntryID], from folder: OpenedFolder) throws -> Set<EntryID> {
        // The exclusive locks last until the files are gone: as long as `held` lives.
        let held = entries.map { (entry: $0, hold: folder.objects.holdForRemoval($0)) }
            .filter { if case .inUse = $0.hold { false } else { true } }
        guard !held.isEmpty else { return [] }
        // Rows go first: a file without a row is litter, a row without its file would be a lie.
        try folder.index.transaction {
            for (entry, _) in held { try folder.index.remove(entry) }
        }
        for (entry, _) in held { folder.objects.unlink(entry) }
        return Set(held.map(\.entry))
    }

    /// Removes those of a page of entries that nobody has open, and counts; what is gone by now counts not.
    func remove(
        page: ArraySlice<EntryID>,
        includingPinned: Bool,
        from folder: OpenedFolder
    ) throws -> CacheRemoval {
        var removal = CacheRemoval()
        // Looked at again, because others came in between since they were listed.
        let entries = try page.compactMap { try folder.index.entry($0).map { EvictionCandidate($0) } }
        let wanted = entries.filter { includingPinned || !$0.isPinned }
        let removed = try remove(wanted.map(\.entry), from: folder)
        removal.entriesRemoved = removed.count
        removal.entriesInUse = wanted.count - removed.count
        removal.entriesPinned = entries.count - wanted.count
        removal.bytesFreed = wanted.filter { removed.contains($0.entry) }.reduce(0) { $0 + $1.allocated }
        return removal
    }

    /// How many entries are handled while the folder is locked: few, because to unlink a long file takes a
    /// filesystem milliseconds, and others wait.
    static let pageSize = 64
}

/// A removal of what is too old or too much, a page at a time, so that others come to their turn in between.
struct Trimming: Sendable {
    let policy: EvictionPolicy
    /// Bytes that room is made for.
    var needed: Int64 = 0
    /// The candidate that was looked at last.
    fileprivate(set) var last: EvictionCandidate?
    fileprivate(set) var removed = Set<EntryID>()
    /// Whether nothing more has to go, or nothing more may.
    fileprivate(set) var isDone = false

    init(_ policy: EvictionPolicy, needed: Int64 = 0) {
        self.policy = policy
        self.needed = needed
    }
}
