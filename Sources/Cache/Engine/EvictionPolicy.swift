import Media

/// The properties of an entry on which eviction is decided.
struct EvictionCandidate: Sendable, Equatable {
    /// The time at which an entry was played of which only tags were read.
    static let neverPlayed: Int64 = 0

    var entry: EntryID
    /// Bytes on the disk.
    var allocated: Int64
    /// Seconds since 1970.
    var lastPlayed: Int64
    /// The order of entries played in the same second.
    var turn: Int64 = 0
    var isPinned = false

    var isPlayed: Bool { lastPlayed != Self.neverPlayed }
}

/// How full a cache folder and its disk are.
struct Fullness: Sendable, Equatable {
    /// The bytes that the objects take on the disk.
    var allocated: Int64
    /// The free bytes of the disk that unprivileged processes may use.
    var free: Int64
    /// The bytes about to be written.
    var needed: Int64 = 0
}

/// Chooses the entries to evict. Pure.
///
/// Evicts whole entries, the least recently played first; never pinned ones. Expired entries are
/// always evicted, others only as needed.
struct EvictionPolicy: Sendable, Equatable {
    /// The most bytes that the objects may take on the disk.
    var budget: Int64
    /// The bytes of the disk to leave free.
    var minimumFree: Int64 = 0
    /// Entries last played before this time, in seconds since 1970, have expired; `nil` for none.
    var expiry: Int64?
    /// Entries that were played at this time or later are not evicted, in seconds since 1970; `nil` if all
    /// may be.
    var sparesPlayedSince: Int64?
    /// Entries that are not evicted either.
    var spared: Set<EntryID> = []

    /// The number of bytes above the limits; at least 0.
    func excess(_ fullness: Fullness) -> Int64 { max(0, overBudget(fullness), underFree(fullness)) }

    /// The number of bytes to free by eviction; at least 0.
    ///
    /// If other programs have filled the disk so far that evicting everything would not free enough, nothing
    /// is evicted to free the disk.
    func sought(_ fullness: Fullness) -> Int64 {
        let under = underFree(fullness)
        return max(0, overBudget(fullness), under > Self.sane(fullness.allocated) ? 0 : under)
    }

    /// `true` if a track of unknown length that takes `bytes` on the disk may evict others.
    ///
    /// The track may turn out larger than the budget, and then the others were evicted for nothing. So at
    /// most a quarter of the budget is risked.
    func mayPushOut(unknownLengthOf bytes: Int64) -> Bool { Self.sane(bytes) <= Self.sane(budget) / 4 }

    private func overBudget(_ fullness: Fullness) -> Int64 {
        Self.sane(fullness.allocated) + Self.sane(fullness.needed) - Self.sane(budget)
    }

    private func underFree(_ fullness: Fullness) -> Int64 {
        // A minimum of 0 means no limit: writing fails only when the disk is full.
        guard minimumFree > 0 else { return 0 }
        return Self.sane(minimumFree) + Self.sane(fullness.needed) - Self.sane(fullness.free)
    }

    /// Clamps numbers from outside, so that no sum overflows.
    private static func sane(_ bytes: Int64) -> Int64 { min(max(0, bytes), 1 << 61) }

    /// The entries to remove to free `excess` bytes, in the order of their removal.
    ///
    /// They may free less than `excess` if too much is pinned.
    func victims(among candidates: [EvictionCandidate], excess: Int64) -> [EntryID] {
        var excess = max(0, excess)
        var victims: [EntryID] = []
        let ordered = candidates.sorted {
            ($0.lastPlayed, $0.turn, $0.entry.value) < ($1.lastPlayed, $1.turn, $1.entry.value)
        }
        for candidate in ordered where excess > 0 || isExpired(candidate) {
            // Evicting an entry without disk space frees nothing, so it is only removed when it has expired.
            guard !candidate.isPinned, candidate.allocated > 0 || isExpired(candidate), !spares(candidate)
            else { continue }
            victims.append(candidate.entry)
            excess = max(0, excess - max(0, candidate.allocated))
        }
        return victims
    }

    private func spares(_ candidate: EvictionCandidate) -> Bool {
        spared.contains(candidate.entry) || sparesPlayedSince.map { candidate.lastPlayed >= $0 } ?? false
    }

    /// `true` if `candidate` is so old that it is evicted even if no space is needed, unless it is pinned.
    /// An entry that was never played does not age.
    func isExpired(_ candidate: EvictionCandidate) -> Bool {
        candidate.isPlayed && expiry.map { candidate.lastPlayed < $0 } ?? false
    }
}
