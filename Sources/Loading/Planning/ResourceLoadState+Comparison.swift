import Media

// Bytes that came from another place of the file than those that are stored, and that nothing vouches for.
extension ResourceLoadState {
    /// Bytes that were compared with nothing, and what they are to be compared with.
    struct Uncompared: Equatable {
        /// What was stored before, and what is known to be of the same file.
        var older: ByteRangeSet
        /// The newest request that was compared with nothing: only a later one tells that they are of one file.
        var newest: FetchPlan.ID
    }

    /// Whether only the bytes themselves tell that what comes is of the same file.
    var comparesBytes: Bool { description.validators.isEmpty || lacksValidators }

    /// The request `id` brings what no stored byte can be compared with.
    mutating func noteUncompared(_ id: FetchPlan.ID) {
        uncompared = Uncompared(older: uncompared?.older ?? stored, newest: id)
    }

    /// Starts a request for the block behind something older, which begins with the last bytes of it: if the file has
    /// become another one, they differ. Nil while nothing is to be compared.
    ///
    /// It waits until what a listener jumped to is here, so that no sound waits for it.
    mutating func planComparison() -> Action? {
        guard let uncompared, description.acceptsRanges != false, !isBackgroundHeld,
            !stored.subtracting(uncompared.older).isEmpty, othersNeed.map({ $0 >= .readAhead }) ?? true,
            !fetches.values.contains(where: { $0.plan.overlap.isEmpty || compares($0) }),
            admitsRequest(early: false)
        else { return nil }
        let ends = uncompared.older.intersection(stored).ranges.map(\.upperBound)
            .filter { firstMissing(in: $0..<min($0 + 1, length ?? .max)) != nil }
        // What was heard before the jump is most likely to be heard on.
        let jump = stored.subtracting(uncompared.older).ranges.first?.lowerBound ?? 0
        guard let end = ends.last(where: { $0 <= jump }) ?? ends.first else { return nil }
        return start(at: end, why: .readAhead, notBeyond: end + settings.demandWindow)
    }

    /// Whether the answer to `fetch` tells that what was compared with nothing belongs here: that is wanted whoever
    /// reads where.
    func compares(_ fetch: Fetch) -> Bool {
        guard let uncompared, !fetch.plan.overlap.isEmpty, fetch.plan.id > uncompared.newest else {
            return false
        }
        return uncompared.older.contains(fetch.plan.overlap.upperBound - 1)
    }

    /// `range` came by the fetch `id`, and what it was compared with was the same.
    mutating func noteCompared(_ range: ByteRange, by id: FetchPlan.ID) {
        guard let fetch = fetches[id], let wanted = fetch.plan.wanted, range.upperBound > wanted.lowerBound,
            !fetch.plan.overlap.isEmpty,
            uncompared?.older.contains(fetch.plan.overlap.upperBound - 1) == true
        else { return }
        if compares(fetch) { uncompared = nil } else { uncompared?.older.insert(contentsOf: range) }
    }
}
