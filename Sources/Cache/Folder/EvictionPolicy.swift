/// An entry as eviction sees it.
struct EvictionCandidate: Sendable, Equatable {
    var entry: EntryID
    /// Bytes on the disk.
    var allocated: Int64
    /// Seconds since 1970.
    var lastPlayed: Int64
    /// Its place among what was played in the same second.
    var turn: Int64 = 0
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
    func excess(_ fullness: Fullness) -> Int64 { max(0, overBudget(fullness), underFree(fullness)) }

    /// How many bytes are to be freed by removing; at least 0.
    ///
    /// A disk that somebody else has filled so far that all of the folder's bytes together would not free
    /// enough is no reason to lose them.
    func sought(_ fullness: Fullness) -> Int64 {
        let under = underFree(fullness)
        return max(0, overBudget(fullness), under > Self.sane(fullness.allocated) ? 0 : under)
    }

    /// Whether music of which nobody says how long it is may make others go when it takes `bytes` on the disk.
    ///
    /// It may turn out larger than the budget, and then all the others would have gone for nothing: a quarter
    /// of the budget is the most that is risked.
    func mayPushOut(unknownLengthOf bytes: Int64) -> Bool { Self.sane(bytes) <= Self.sane(budget) / 4 }

    private func overBudget(_ fullness: Fullness) -> Int64 {
        Self.sane(fullness.allocated) + Self.sane(fullness.needed) - Self.sane(budget)
    }

    private func underFree(_ fullness: Fullness) -> Int64 {
        // Without a minimum the disk itself says when it is full.
        guard minimumFree > 0 else { return 0 }
        return Self.sane(minimumFree) + Self.sane(fullness.needed) - Self.sane(fullness.free)
    }

    /// Within what can be added up, so that no numbers from outside make a sum overflow.
    private static func sane(_ bytes: Int64) -> Int64 { min(max(0, bytes), 1 << 61) }

    /// The entries to remove for `excess` bytes to be freed, in the order to remove them.
    ///
    /// May not be enough, when too much of it is pinned or open.
    func victims(among candidates: [EvictionCandidate], excess: Int64) -> [EntryID] {
        var excess = max(0, excess)
        var victims: [EntryID] = []
        let ordered = candidates.sorted {
            ($0.lastPlayed, $0.turn, $0.entry.value) < ($1.lastPlayed, $1.turn, $1.entry.value)
        }
        for candidate in ordered where excess > 0 || isExpired(candidate) {
            // An entry without bytes frees nothing; what is known of it goes when it is too old.
            guard !candidate.isPinned, !candidate.isOpen, candidate.allocated > 0 || isExpired(candidate)
            else { continue }
            victims.append(candidate.entry)
            excess = max(0, excess - max(0, candidate.allocated))
        }
        return victims
    }

    /// Whether `candidate` goes for its age alone.
    func isExpired(_ candidate: EvictionCandidate) -> Bool {
        expiry.map { candidate.lastPlayed < $0 } ?? false
    }
}
