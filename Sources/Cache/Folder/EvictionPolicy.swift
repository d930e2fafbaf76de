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

/// Which entries have to go: pure.
///
/// Least recently played first, and whole entries; never what is pinned or open. What is older than
/// the limit goes in any case, and of the rest no more than is needed.
struct EvictionPolicy: Sendable, Equatable {
    /// The most bytes that the objects may take on the disk.
    var budget: Int64
    /// What was last played before this time, in seconds since 1970, goes; nil keeps however old it is.
    var expiry: Int64?

    /// The entries to remove from a folder that takes `allocated` bytes, in the order to remove them.
    ///
    /// May not be enough, when too much of it is pinned or open.
    func victims(among candidates: [EvictionCandidate], allocated: Int64) -> [EntryID] {
        // Never below zero, so that no numbers from outside can make a difference overflow.
        var excess = max(0, max(0, allocated) - max(0, budget))
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
