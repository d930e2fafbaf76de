import Media

/// Proves after a jump that the new bytes belong to the same file as those stored before.
///
/// Without validators, only the bytes themselves can show a change. A window that begins directly after
/// stored bytes requests the last 4 KiB of them again for comparison, but a window after a jump has no stored
/// bytes before it. So once the jump is served, one window at the end of the older bytes is requested and
/// compared. If the file has been replaced, the bytes differ.
struct JumpComparison: Sendable {
    /// The bytes stored before the first jump that was not compared yet, and those shown to belong to the
    /// same file.
    private var older = ByteRangeSet()
    /// The requests whose bodies were arriving at that jump: their bytes are older too.
    private var companions: Set<FetchPlan.ID> = []
    /// The newest request without a comparison; only a later request can confirm its bytes.
    private var newest: FetchPlan.ID?

    /// Request `id` jumps: its bytes border neither on stored bytes nor on those that the requests `others`
    /// bring. They need a comparison, unless there are no other bytes at all.
    mutating func jumped(_ id: FetchPlan.ID, stored: ByteRangeSet, beside others: [FetchPlan.ID]) {
        guard !stored.isEmpty || !others.isEmpty else { return }
        // If the companions have ended without a byte, there is nothing older so far.
        if newest == nil || (older.isEmpty && companions.isDisjoint(with: others)) {
            older = stored
            companions = Set(others)
        }
        // Responses may arrive in another order than their requests were sent.
        newest = newest.map { max($0, id) } ?? id
    }

    /// `true` if the response to `fetch` confirms the bytes after the jump. Such a fetch is wanted at any
    /// position of the readers.
    func isServed(by fetch: LoadFetch) -> Bool {
        guard let newest, !fetch.plan.overlap.isEmpty, fetch.plan.id > newest else { return false }
        return older.contains(fetch.plan.overlap.upperBound - 1)
    }

    /// `fetch` brought `range`, and its overlap matched the stored bytes; now `stored` is stored.
    mutating func passed(_ range: ByteRange, by fetch: LoadFetch, stored: ByteRangeSet) {
        // The body of the whole resource is compared with all bytes that were stored.
        if fetch.isWhole, stored.ranges.last.map({ $0.upperBound <= range.upperBound }) ?? true {
            newest = nil
        }
        let hasMatched = fetch.isWhole && older.ranges.first.map { $0.lowerBound < range.upperBound } ?? false
        if hasMatched || companions.contains(fetch.plan.id) { older.insert(contentsOf: range) }
        guard newest != nil, let wanted = fetch.plan.wanted, range.upperBound > wanted.lowerBound,
            !fetch.plan.overlap.isEmpty, older.contains(fetch.plan.overlap.upperBound - 1)
        else { return }
        if isServed(by: fetch) { newest = nil } else { older.insert(contentsOf: range) }
    }

    /// The bytes that may be cached while `stored` is stored: those before the jump, and those shown to
    /// belong to the same file. `nil` for all bytes: no jump waits for its comparison, or none is possible
    /// any more, because no byte after the older ones is missing.
    func proven(_ stored: ByteRangeSet, _ length: Int64?, _ fetches: LoadFetches) -> ByteRangeSet? {
        guard newest != nil else { return nil }
        let isPossible =
            older.isEmpty
            ? companions.contains { fetches[$0] != nil }
            : ends(in: stored).contains { $0 < length ?? .max && !stored.contains($0) }
        return isPossible ? older : nil
    }

    /// The offset at which the window to compare begins: the end of older bytes for which `isMissing` holds.
    /// The range nearest before the jump comes first, since the listener is most likely to continue there.
    /// `nil` if nothing is to be compared.
    func place(stored: ByteRangeSet, isMissing: (Int64) -> Bool) -> Int64? {
        guard newest != nil, let jump = stored.subtracting(older).ranges.first?.lowerBound else { return nil }
        let ends = ends(in: stored).filter(isMissing)
        return ends.last { $0 <= jump } ?? ends.first
    }

    private func ends(in stored: ByteRangeSet) -> [Int64] {
        older.intersection(stored).ranges.map(\.upperBound)
    }
}
