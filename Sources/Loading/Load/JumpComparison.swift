import Media

/// Proves after a jump that the new bytes belong to the same file as those stored before.
///
/// Without validators only the bytes themselves can tell. A window that begins right behind stored bytes asks for the
/// last 4 KiB of them again; a window after a jump has nothing before it to compare. So once the jump is served, one
/// window at the end of the older bytes is compared: if the file has become another one, it differs.
struct JumpComparison: Sendable {
    /// The bytes stored before the first jump that was not compared yet, and those that proved to belong to them.
    private var older = ByteRangeSet()
    /// The newest request that was compared with nothing; only a later one can prove anything of its bytes.
    private var newest: FetchPlan.ID?

    /// The request `id` brings bytes that no stored byte can be compared with.
    mutating func jumped(_ id: FetchPlan.ID, stored: ByteRangeSet) {
        if newest == nil { older = stored }
        // Answers may come in another order than their requests went out.
        newest = newest.map { max($0, id) } ?? id
    }

    /// `true` if the answer to `fetch` proves that the bytes after the jump belong here. It is wanted wherever the
    /// readers are.
    func isServed(by fetch: LoadFetch) -> Bool {
        guard let newest, !fetch.plan.overlap.isEmpty, fetch.plan.id > newest else { return false }
        return older.contains(fetch.plan.overlap.upperBound - 1)
    }

    /// `range` came by `fetch`, and its overlap was the same.
    mutating func passed(_ range: ByteRange, by fetch: LoadFetch) {
        guard newest != nil, let wanted = fetch.plan.wanted, range.upperBound > wanted.lowerBound,
            !fetch.plan.overlap.isEmpty, older.contains(fetch.plan.overlap.upperBound - 1)
        else { return }
        if isServed(by: fetch) { newest = nil } else { older.insert(contentsOf: range) }
    }

    /// The offset at which the window to compare begins: the end of older bytes for which `isMissing` holds. The nearest before
    /// the jump comes first, since what was heard before it is most likely to be heard on. `nil` if nothing is to be
    /// compared.
    func place(stored: ByteRangeSet, isMissing: (Int64) -> Bool) -> Int64? {
        guard newest != nil, let jump = stored.subtracting(older).ranges.first?.lowerBound else { return nil }
        let ends = older.intersection(stored).ranges.map(\.upperBound).filter(isMissing)
        return ends.last { $0 <= jump } ?? ends.first
    }
}
