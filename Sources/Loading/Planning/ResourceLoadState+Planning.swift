import Media

// What is fetched next. Priorities: a read that waits, then ahead of a reader, then what was asked
// to be prefetched.
extension ResourceLoadState {
    /// Ends the fetches that nobody wants and starts those that somebody does.
    mutating func plan() -> [Action] {
        guard verdict == nil else { return [] }
        var actions = dropUnwanted()
        if description.acceptsRanges == false {
            return actions + planWhole()
        }
        for id in readers.keys.sorted() {
            guard let reader = readers[id], reader.isWaiting else { continue }
            guard !fetches.values.contains(where: { brings(reader.offset, $0) }) else { continue }
            isBackgroundHeld = false
            actions.append(start(at: reader.offset, window: settings.demandWindow))
        }
        if let range = nextInBackground() {
            actions.append(start(at: range.lowerBound, window: window(), notBeyond: range.upperBound))
        }
        return actions
    }

    /// Whether `fetch` will bring `offset` sooner than a new request would.
    private func brings(_ offset: Int64, _ fetch: Fetch) -> Bool {
        guard fetch.remaining.contains(offset) else { return false }
        return fetch.isWhole || offset - fetch.next <= settings.readThrough
    }

    private mutating func dropUnwanted() -> [Action] {
        var lingering = 0
        var actions: [Action] = []
        // The newest first, so that of several that end by themselves the older ones go.
        for id in fetches.keys.sorted(by: >) {
            guard let fetch = fetches[id], !isWanted(fetch) else { continue }
            let isNearEnd = fetch.isAnswered && Int64(fetch.remaining.count) <= settings.readThrough
            if isNearEnd, lingering == 0 {
                lingering += 1
                continue
            }
            fetches[id] = nil
            actions.append(.cancelFetch(id))
        }
        return actions
    }

    private func isWanted(_ fetch: Fetch) -> Bool {
        // A body that cannot be resumed is read to its end while anyone listens.
        if fetch.isWhole { return !readers.isEmpty }
        return readers.values.contains { reader in
            if reader.isWaiting, brings(reader.offset, fetch) { return true }
            let zone = zone(of: reader)
            if zone.contains(fetch.next) { return true }
            return reader.prefetches.contains { $0.overlaps(fetch.remaining) }
        }
    }

    /// What `reader` wants to have soon.
    private func zone(of reader: Reader) -> ByteRange {
        let ahead = reader.readAhead ?? settings.demandWindow
        let (end, overflow) = reader.offset.addingReportingOverflow(ahead)
        let start = max(0, reader.offset)
        return start..<max(start, min(overflow ? .max : end, length ?? .max))
    }

    /// The first gap worth fetching without anyone waiting; nil when there is none or it is not the time.
    private func nextInBackground() -> ByteRange? {
        guard let length, !isBackgroundHeld else { return nil }
        let underWay = fetches.values.filter { isWanted($0) }
        let left = underWay.reduce(Int64(0)) { $0 + Int64($1.remaining.count) }
        guard underWay.count < 2, left < settings.askNextAt || underWay.isEmpty else { return nil }
        let ordered = readers.keys.sorted().compactMap { readers[$0] }
        for reader in ordered where reader.readAhead != nil {
            if let gap = firstMissing(in: zone(of: reader)) { return gap }
        }
        for range in ordered.flatMap(\.prefetches) {
            if let gap = firstMissing(in: range.clamped(to: 0..<length)) { return gap }
        }
        return nil
    }

    /// The first part of `range` that is neither stored nor on its way.
    private func firstMissing(in range: ByteRange) -> ByteRange? {
        var underWay = ByteRangeSet()
        for fetch in fetches.values { underWay.insert(contentsOf: fetch.remaining) }
        for gap in stored.gaps(in: range) {
            if let missing = underWay.gaps(in: gap).first { return missing }
        }
        return nil
    }

    /// The next window of read-ahead: about two seconds of what the line brings.
    private func window() -> Int64 {
        guard let rate else { return settings.firstWindow }
        return min(settings.largestWindow, max(settings.demandWindow, Int64(min(rate * 2, 1e12))))
    }

    /// Starts a fetch of what is missing from `offset` on. It ends at a block's edge where it can, so
    /// that extents stay whole blocks, and never asks for a byte that is stored or on its way.
    private mutating func start(at offset: Int64, window: Int64, notBeyond limit: Int64 = .max) -> Action {
        let block = settings.demandWindow
        var end = offset + window
        let rounded = end - end % block
        if rounded > offset + window / 2 { end = rounded }
        end = min(end, length ?? .max, limit)
        if let gap = firstMissing(in: offset..<max(end, offset + 1)), gap.lowerBound == offset {
            end = min(end, gap.upperBound)
        }
        return begin(wanted: offset..<max(end, offset + 1))
    }

    private mutating func planWhole() -> [Action] {
        guard !isComplete, !fetches.values.contains(where: \.isWhole) else { return [] }
        let isWaitedFor = readers.values.contains { $0.isWaiting }
        let isReadAhead = !isBackgroundHeld && readers.values.contains { $0.readAhead != nil }
        guard isWaitedFor || isReadAhead else { return [] }
        return [begin(wanted: nil)]
    }

    private mutating func begin(wanted: ByteRange?) -> Action {
        let id = FetchPlan.ID(value: nextFetchID)
        nextFetchID += 1
        var plan = FetchPlan(id: id, wanted: wanted, overlap: 0..<0)
        if let wanted, !stored.isEmpty {
            plan.ifRange = description.validators.ifRange
            if description.validators.isEmpty, !brought.contains(wanted.lowerBound - 1) {
                plan.overlap = storedBytes(before: wanted.lowerBound)
            }
        } else if wanted == nil, description.validators.isEmpty {
            plan.overlap = (stored.run(from: 0) ?? 0..<0).clamped(to: 0..<settings.overlap)
        }
        fetches[id] = Fetch(
            plan: plan,
            next: wanted?.lowerBound ?? 0,
            end: wanted?.upperBound ?? length ?? .max
        )
        return .startFetch(plan)
    }

    /// The stored bytes that end at `offset`, at most `overlap` of them.
    private func storedBytes(before offset: Int64) -> ByteRange {
        guard let before = stored.range(around: offset - 1), before.upperBound == offset else { return 0..<0 }
        return before.clamped(to: max(0, offset - settings.overlap)..<offset)
    }
}
