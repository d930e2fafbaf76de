package import Media

// Who wants what, and how urgently.
extension ResourceLoadState {
    /// Something that is missing and wanted by nobody who waits.
    struct Want: Equatable {
        var why: FetchReason
        var gap: ByteRange
    }

    /// What is needed most urgently here, for those who share the line; nil while nothing is wanted, and while the
    /// server is left alone.
    package var need: FetchReason? {
        guard verdict == nil, !isLive, !isHandingOver else { return nil }
        var needs = fetches.values.filter { isWanted($0) }.map(urgency)
        if isDue {
            needs += readers.values.compactMap(\.pressingReason)
            if let want = nextWant() { needs.append(want.why) }
        }
        return needs.min()
    }

    /// How urgent a request under way is: the whole of a long body is not all waited for.
    private func urgency(of fetch: Fetch) -> FetchReason {
        guard fetch.isWhole else { return fetch.plan.why }
        if readers.values.contains(where: \.isPressing) { return .demand }
        return readers.values.contains { $0.readAhead != nil } ? .readAhead : max(fetch.plan.why, .prefetch)
    }

    /// Whether anyone is served by `fetch`, so that it goes on.
    func isWanted(_ fetch: Fetch) -> Bool {
        // A body that cannot be resumed is read to its end while anyone listens.
        if fetch.isWhole { return !readers.isEmpty }
        if compares(fetch) { return !readers.isEmpty }
        return readers.values.contains { reader in
            if brings(reader.offset, fetch) { return true }
            if zone(of: reader).contains(fetch.next) { return true }
            if reader.fills, fetch.plan.why == .fill { return true }
            return reader.prefetches.contains { $0.overlaps(fetch.remaining) }
        }
    }

    /// Whether `fetch` will bring `offset` sooner than a new request would.
    private func brings(_ offset: Int64, _ fetch: Fetch) -> Bool {
        guard fetch.remaining.contains(offset) else { return false }
        return fetch.isWhole || fetch.startsEarlier || offset - fetch.next <= readThrough
    }

    /// How many bytes pass by in the time of a new request.
    var readThrough: Int64 {
        guard let measured = measure.bytesPerRequest else { return settings.readThrough }
        let bounds = settings.measuredReadThrough
        return min(bounds.upperBound, max(bounds.lowerBound, measured))
    }

    /// What `reader` wants to have soon.
    private func zone(of reader: Reader) -> ByteRange {
        let ahead = reader.readAhead.map { $0 + reserve(for: $0) } ?? settings.demandWindow
        let (end, overflow) = reader.offset.addingReportingOverflow(ahead)
        let start = max(0, reader.offset)
        return start..<max(start, min(overflow ? .max : end, length ?? .max))
    }

    /// The most urgent gap that is worth a request without anyone waiting for it; nil when there is none.
    func nextWant() -> Want? {
        // The first answer tells how long it is, and whether there are ranges at all.
        guard !isBackgroundHeld, length != nil || description.acceptsRanges != nil || fetches.isEmpty else {
            return nil
        }
        let ordered = readers.keys.sorted().compactMap { readers[$0] }
        for reader in ordered {
            if let gap = aheadGap(of: reader) { return Want(why: .readAhead, gap: gap) }
        }
        for range in ordered.flatMap(\.prefetches) {
            let reachable = range.clamped(to: 0..<(length ?? .max))
            if let gap = firstMissing(in: reachable) { return Want(why: .prefetch, gap: gap) }
        }
        if ordered.contains(where: \.fills), let gap = firstMissing(in: 0..<(length ?? .max)) {
            return Want(why: .fill, gap: gap)
        }
        return nil
    }

    /// How much is fetched beyond the read-ahead `ahead` when something is: so that there is always as much as was
    /// asked for, and yet no request for the little by which each read moves its end.
    private func reserve(for ahead: Int64) -> Int64 { min(window, ahead / 8) }

    /// What is missing ahead of `reader`, once less than its read-ahead is here.
    private func aheadGap(of reader: Reader) -> ByteRange? {
        guard let ahead = reader.readAhead, !reader.isRevoked else { return nil }
        let zone = zone(of: reader)
        guard let gap = firstMissing(in: zone) else { return nil }
        if zone.upperBound == length { return gap }
        let isFlowing = fetches.values.contains { $0.plan.why == .readAhead }
        let least = min(isFlowing ? settings.demandWindow : .max, reserve(for: ahead))
        return zone.upperBound - gap.lowerBound >= least ? gap : nil
    }

    /// The first part of `range` that is neither stored nor on its way.
    func firstMissing(in range: ByteRange) -> ByteRange? {
        guard !range.isEmpty else { return nil }
        var underWay = ByteRangeSet()
        for fetch in fetches.values { underWay.insert(contentsOf: fetch.remaining) }
        for range in leaving.values { underWay.insert(contentsOf: range) }
        for gap in stored.gaps(in: range) {
            if let missing = underWay.gaps(in: gap).first { return missing }
        }
        return nil
    }

    /// The next window of read-ahead: about two seconds of what the line brings. Where windows come too fast to be
    /// measured, each is twice as long as the one before.
    var window: Int64 {
        guard let rate = measure.bytesPerSecond else {
            // Ten times twice is far beyond the largest, and no overflow.
            return min(settings.largestWindow, settings.firstWindow << min(wholeWindows, 10))
        }
        return min(settings.largestWindow, max(settings.demandWindow, Int64(min(rate * 2, 1e12))))
    }

    /// The next window of what nobody hears now: half a second of the line, which is what a more urgent need may
    /// have to share it for.
    private var spareWindow: Int64 {
        guard let rate = measure.bytesPerSecond else { return settings.demandWindow }
        return min(settings.largestSpareWindow, max(settings.demandWindow, Int64(min(rate / 2, 1e12))))
    }

    func window(for why: FetchReason) -> Int64 {
        switch why {
        case .demand: settings.demandWindow
        case .readAhead: window
        case .prefetch, .fill, .revalidate, .probe: spareWindow
        }
    }
}
