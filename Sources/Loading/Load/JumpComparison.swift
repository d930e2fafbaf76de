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
    /// The newest request without a comparison; only a later request can confirm its bytes.
    private var newest: FetchPlan.ID?

    /// Request `id` brings bytes that cannot be compared with any stored byte.
    mutating func jumped(_ id: FetchPlan.ID, stored: ByteRangeSet) {
        if newest == nil { older = stored }
        // Responses may arrive in another order than their requests were sent.
        newest = newest.map { max($0, id) } ?? id
    }

    /// `true` if the response to `fetch` confirms the bytes after the jump. Such a fetch is wanted at any
    /// position of the readers.
    func isServed(by fetch: LoadFetch) -> Bool {
        guard let newest, !fetch.plan.overlap.isEmpty, fetch.plan.id > newest else { return false }
        return older.contains(fetch.plan.overlap.upperBound - 1)
    }

    /// `fetch` brought `range`, and its overlap matched the stored bytes.
    mutating func passed(_ range: ByteRange, by fetch: LoadFetch) {
        guard newest != nil, let wanted = fetch.plan.wanted, range.upperBound > wanted.lowerBound,
            !fetch.plan.overlap.isEmpty, older.contains(fetch.plan.overlap.upperBound - 1)
        else { return }
        if isServed(by: fetch) { newest = nil } else { older.insert(contentsOf: range) }
    }

    /// The offset at which the window to compare begins: the end of older bytes for which `isMissing` holds.
    /// The range nearest before the jump comes first, since the listener is most likely to continue there.
    /// `nil` if nothing is to be compared.
    func place(stored: ByteRangeSet, isMissing: (Int64) -> Bool) -> Int64? {
        guard newest != nil, let jump = stored.subtracting(older).ranges.first?.lowerBound else { return nil }
        let ends = older.intersection(stored).ranges.map(\.upperBound).filter(isMissing)
        return ends.last { $0 <= jump } ?? ends.first
    }
}
