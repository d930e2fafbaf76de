import Media

// What is fetched next.
extension ResourceLoadState {
    /// A jump over so many bytes is told to the journal; less is a decoder that skips a tag.
    private static let notableJump: Int64 = 16 << 10

    /// Ends the fetches that nobody wants and starts those that somebody does. `newcomer` began to wait just now.
    mutating func plan(newcomer: ReaderID? = nil) -> [Action] {
        guard verdict == nil, !isLive, !isHandingOver else { return [] }
        var actions = dropUnwanted() + planDemands(newcomer: newcomer)
        if let comparison = planComparison() { actions.append(comparison) }
        let isAlone = !isBusy
        if let first = planBackground() {
            actions.append(first)
            if isAlone, lacksSecondConnection, let second = planBackground(asPair: true) {
                actions.append(second)
            }
        }
        return actions
    }

    private mutating func dropUnwanted() -> [Action] {
        var lingering = 0
        var actions: [Action] = []
        // The newest first, so that of several that end by themselves the older ones go.
        for id in fetches.keys.sorted(by: >) {
            guard let fetch = fetches[id], !isWanted(fetch) else { continue }
            if mayLinger(fetch, beside: lingering) {
                lingering += 1
                continue
            }
            actions.append(cancel(id))
        }
        return actions
    }

    /// Whether a window that nobody wants any more ends by itself, which keeps its connection and what is on its way.
    /// One listener who jumps about leaves one short rest. Where several share a resource, what one leaves another
    /// soon comes to: there a request that was sent goes on, since what of it is on its way would be lost.
    private func mayLinger(_ fetch: Fetch, beside lingering: Int) -> Bool {
        if readers.count > 1 { return true }
        // What is left shares the line with what is wanted now, unless it is here before the answer can be.
        let isKnown = measure.bytesPerRequest != nil || hasWholeWindow
        let most = min(settings.readThrough, isKnown ? readThrough : settings.askNextAt)
        return fetch.isAnswered && lingering == 0 && Int64(fetch.remaining.count) <= most
    }

    private mutating func planDemands(newcomer: ReaderID?) -> [Action] {
        var actions: [Action] = []
        for id in readers.keys.sorted() {
            guard let reader = readers[id], let why = reader.pressingReason else { continue }
            let offset = reader.offset
            if let fetch = fetches.values.first(where: { $0.remaining.contains(offset) }) {
                if id == newcomer, fetch.isAnswered, !fetch.isWhole, offset - fetch.next >= Self.notableJump {
                    actions.append(.decided(.readThrough, Self.text(from: fetch.next, to: offset)))
                }
                continue
            }
            if let left = leaving.values.first(where: { $0.contains(offset) }) {
                // Begins when that one has ended, so that nothing of it is asked for twice.
                if id == newcomer {
                    actions.append(.decided(.reconnect, Self.text(from: left.lowerBound, to: offset)))
                }
                continue
            }
            guard admitsRequest(early: id == newcomer), !reader.isPatient || mayServePatient else { continue }
            if description.acceptsRanges == false {
                guard !fetches.values.contains(where: \.isWhole) else { continue }
                actions.append(begin(wanted: nil, why: why))
            } else {
                actions.append(start(at: offset, why: why))
            }
        }
        return actions
    }

    /// Starts the next fetch that nobody waits for; nil when none is to begin now.
    ///
    /// `asPair` lets it begin beside another one that has just begun.
    private mutating func planBackground(asPair: Bool = false) -> Action? {
        guard admitsRequest(early: false), let want = nextWant(), mayBegin(want.why) else { return nil }
        if description.acceptsRanges == false {
            guard !isComplete, !fetches.values.contains(where: \.isWhole) else { return nil }
            return begin(wanted: nil, why: want.why)
        }
        // The next window is asked for before the current one has ended, so that the line never waits.
        let underWay = fetches.values.filter { isWanted($0) && !$0.remaining.isEmpty }
        let left = underWay.reduce(Int64(0)) { sum, fetch in
            sum.addingReportingOverflow(Int64(fetch.remaining.count)).partialValue
        }
        let isPair = asPair && want.why == .readAhead
        // Without validators the next window is compared with the end of this one, so it waits for that.
        guard underWay.isEmpty || (underWay.count < 2 && (left < askNextAt || isPair) && !comparesBytes)
        else { return nil }
        return start(at: want.gap.lowerBound, why: want.why, notBeyond: want.gap.upperBound)
    }

    /// Whether a fetch is still to bring something. One that brought its last byte ends in a moment, and nothing
    /// depends on when.
    private var isBusy: Bool { fetches.values.contains { !$0.remaining.isEmpty } }

    /// Whether a request for `why` may begin beside what is needed here and elsewhere.
    private func mayBegin(_ why: FetchReason) -> Bool {
        if let othersNeed, othersNeed < why { return false }
        guard why > .readAhead else { return true }
        return !readers.values.contains(where: \.isPressing)
            && !fetches.values.contains { $0.plan.why < why && isWanted($0) }
    }

    /// Whether a patient reader's turn has come: neither here nor elsewhere is anything to be fetched before.
    private var mayServePatient: Bool { mayBegin(.prefetch) && nextWant()?.why != .readAhead }

    /// What may be left of a window when the next one is asked for: what comes while its answer is on its way.
    private var askNextAt: Int64 {
        guard let measured = measure.bytesPerRequest else { return settings.askNextAt }
        return min(settings.largestWindow / 2, max(settings.measuredReadThrough.lowerBound, measured))
    }

    /// Starts a fetch of what is missing from `offset` on. It ends at a block's edge where it can, so
    /// that extents stay whole blocks, and never asks for a byte that is stored or on its way.
    mutating func start(
        at offset: Int64,
        why: FetchReason,
        notBeyond limit: Int64 = .max
    ) -> Action {
        var window = window(for: why)
        // The first of a pair is short, so that its connection is free soon.
        if why == .readAhead, !isBusy, !comparesBytes, lacksSecondConnection {
            window = settings.demandWindow
        }
        let block = settings.demandWindow
        let (sum, overflow) = offset.addingReportingOverflow(window)
        var end = overflow ? .max : sum
        let rounded = end - end % block
        if rounded > offset + window / 2 { end = rounded }
        end = min(end, length ?? .max, limit)
        // The little that would be left of a head is not worth a request of its own.
        if why == .prefetch, limit > end, limit - end < block / 2 { end = limit }
        if let gap = firstMissing(in: offset..<max(end, offset + 1)), gap.lowerBound == offset {
            end = min(end, gap.upperBound)
        }
        return begin(wanted: offset..<max(end, offset + 1), why: why)
    }

    private mutating func begin(wanted: ByteRange?, why: FetchReason) -> Action {
        let id = FetchPlan.ID(value: nextFetchID)
        nextFetchID += 1
        var plan = FetchPlan(id: id, why: why, wanted: wanted, overlap: 0..<0)
        plan.wantsTitles = stored.isEmpty
        if let wanted, !stored.isEmpty {
            plan.ifRange = ifRangeStep.condition(for: description.validators)
            // Without validators only the bytes themselves tell whether it is still the same file.
            if comparesBytes {
                plan.overlap = storedBytes(before: wanted.lowerBound)
                if plan.overlap.isEmpty { noteUncompared(id) }
            }
        }
        var fetch = Fetch(
            plan: plan,
            next: wanted?.lowerBound ?? 0,
            end: wanted?.upperBound ?? length ?? .max
        )
        fetch.round = round
        fetch.isEarly = !isDue
        fetch.isPaired = fetches.values.contains { !$0.isAnswered }
        fetch.isBeside = !fetches.isEmpty
        fetches[id] = fetch
        return .startFetch(plan)
    }

    /// The stored bytes that end at `offset`, at most `overlap` of them.
    func storedBytes(before offset: Int64) -> ByteRange {
        guard let before = stored.range(around: offset - 1), before.upperBound == offset else { return 0..<0 }
        return before.clamped(to: max(0, offset - settings.overlap)..<offset)
    }

    private static func text(from here: Int64, to offset: Int64) -> SafeText {
        SafeText("from \(here) to \(offset)")
    }
}
