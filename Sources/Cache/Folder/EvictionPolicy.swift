/// An entry as eviction sees it.
struct EvictionCandidate: Sendable, Equatable {
    var entry: EntryID
    /// Bytes on the disk.
    var allocated: Int64
    /// Seconds since 1970.
    var lastPlayed: Int64
    var isPinned = false
    /// Whether some process has it open.
    var isOpen = false
}

/// How full a folder is, and its disk.
struct Fullness: Sendable, Equatable {
    /// The bytes that the objects take on the disk.
    var allocated: Int64
    /// The bytes that the disk has left for users.
    var free: Int64
    /// Bytes that are about to be written.
    var needed: Int64 = 0
}

/// Which entries have to go: pure.
///
/// Least recently played first, and whole entries; never what is pinned or open. What is older than
/// the limit goes in any case, and of the rest no more than is needed.
struct EvictionPolicy: Sendable, Equatable {
    /// The most bytes that the objects may take on the disk.
    var budget: Int64
    /// The bytes of the disk that are left free.
    var minimumFree: Int64 = 0
    /// What was last played before this time, in seconds since 1970, goes; nil keeps however old it is.
    var expiry: Int64?

    /// How many bytes too many there are; at least 0.
    func excess(_ fullness: Fullness) -> Int64 {
        // Held within what can be added up, so that no numbers from outside make a sum overflow.
        func sane(_ bytes: Int64) -> Int64 { min(max(0, bytes), 1 << 61) }
        let needed = sane(fullness.needed)
        let overBudget = sane(fullness.allocated) + needed - sane(budget)
        let underFree = sane(minimumFree) + needed - sane(fullness.free)
        // Without a minimum the disk itself says when it is full.
        return max(0, overBudget, minimumFree > 0 ? underFree : 0)
    }

    /// The entries to remove for `excess` bytes to be freed, in the order to remove them.
    ///
    /// May not be enough, when too much of it is pinned or open.
    func victims(among candidates: [EvictionCandidate], excess: Int64) -> [EntryID] {
        var excess = max(0, excess)
        var victims: [EntryID] = []
        let ordered = candidates.sorted { ($0.lastPlayed, $0.entry.value) < ($1.lastPlayed, $1.entry.value) }
        for candidate in ordered where excess > 0 || isExpired(candidate) {
            // An entry without bytes frees nothing, and what is known of it costs a line to keep.
            guard !candidate.isPinned, !candidate.isOpen, candidate.allocated > 0 else { continue }
            victims.append(candidate.entry)
            excess = max(0, excess - candidate.allocated)
        }
        return victims
    }

    /// Whether `candidate` goes for its age alone.
    func isExpired(_ candidate: EvictionCandidate) -> Bool {
        expiry.map { candidate.lastPlayed < $0 } ?? false
    }
}
