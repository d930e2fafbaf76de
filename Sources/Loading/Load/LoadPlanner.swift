import Media

/// Decides which fetches end and which begin. A pure function of the stored bytes, the readers, the fetches
/// and the connection.
///
/// Created for each decision. `plan` changes its own copies of the fetches and the connection; the caller
/// adopts them together with the actions.
struct LoadPlanner: Sendable {
    /// The shortest jump to record in the journal. A shorter one is only a decoder skipping a tag.
    private static let notableJump: Int64 = 16 << 10

    let settings: LoadSettings
    let moment: LoadMoment
    let answers: LoadAnswers
    let readers: LoadReaders
    let retry: RetryState
    private(set) var fetches: LoadFetches
    private(set) var line: LoadLine

    private var stored: ByteRangeSet { moment.stored }
    private var now: Duration { moment.now }
    private var description: EntryDescription { answers.description }
    private var length: Int64? { description.length }

    // MARK: The decision

    /// Ends fetches that no reader wants, and begins those that are wanted. `newcomer` is the reader that has
    /// just begun to wait.
    mutating func plan(newcomer: LoadReaders.ID? = nil) -> [LoadAction] {
        // Its bytes are the next ones, and must not wait for a later window.
        let starved = endStarving()
        guard starved.isEmpty else { return starved }
        var actions = endUnwanted() + beginDemanded(newcomer: newcomer)
        let isAlone = !fetches.isBusy
        if let first = beginBackground() {
            actions.append(first)
            if isAlone, lacksSecondConnection, let second = beginBackground(asPair: true) {
                actions.append(second)
            }
        }
        return actions
    }

    /// The most urgent need of this resource, as reported to the loaders that share the connection; `nil`
    /// while nothing is wanted, or the next attempt is not due.
    var need: Urgency? {
        var needs = fetches.active.filter(isWanted).map(urgency)
        if retry.isDue(at: now) {
            needs += readers.all.compactMap(\.waitReason)
            if let want = nextWant() { needs.append(want.urgency) }
        }
        return needs.min()
    }

    /// The most urgent bytes to fetch for which no read waits.
    var wanted: ByteRange? { nextWant()?.gap }

    /// Cancels a request on a connection that the server does not serve. It is sent again once it has ended.
    private mutating func endStarving() -> [LoadAction] {
        guard let fetch = fetches.active.first(where: { line.isStarving($0, now: now) }) else { return [] }
        line.foundOneConnection()
        fetches.cancel(fetch.plan.id)
        return [.cancelFetch(fetch.plan.id)]
    }

    private mutating func endUnwanted() -> [LoadAction] {
        var lingering = 0
        var actions: [LoadAction] = []
        // The newest first: if only one of several may run to its end, that is the newest; the others are
        // cancelled.
        for fetch in fetches.active.reversed() where !isWanted(fetch) {
            if mayLinger(fetch, beside: lingering) {
                lingering += 1
                continue
            }
            fetches.cancel(fetch.plan.id)
            line.cancelled()
            actions.append(.cancelFetch(fetch.plan.id))
        }
        return actions
    }

    private mutating func beginDemanded(newcomer: LoadReaders.ID?) -> [LoadAction] {
        var actions: [LoadAction] = []
        for id in readers.ids {
            guard let reader = readers[id], let urgency = reader.waitReason else { continue }
            let offset = reader.offset
            if let fetch = fetches.bringing(offset) {
                let isNotable = fetch.isAnswered && !fetch.isWhole && offset - fetch.next >= Self.notableJump
                if id == newcomer, isNotable {
                    actions.append(.decided(.readThrough, Self.text(from: fetch.next, to: offset)))
                }
            } else if let cancelled = fetches.cancelledBringing(offset) {
                // The new request begins when the cancelled one has ended, so that none of its bytes are
                // requested twice.
                if id == newcomer {
                    let text = Self.text(from: cancelled.remaining.lowerBound, to: offset)
                    actions.append(.decided(.reconnect, text))
                }
            } else if admitsRequest(isNewRead: id == newcomer), isTurn(of: urgency) {
                if description.acceptsRanges == false {
                    if !fetches.hasWhole { actions.append(begin(wanted: nil, urgency: urgency)) }
                } else {
                    actions.append(begin(at: offset, urgency: urgency, announced: reader.announced))
                }
            }
        }
        return actions
    }

    /// Begins the next fetch for which no read waits; `nil` if none is to begin now. With `asPair`, it may
    /// begin in parallel to another that has just begun.
    private mutating func beginBackground(asPair: Bool = false) -> LoadAction? {
        guard admitsRequest(isNewRead: false), let want = nextWant(), mayBegin(want.urgency) else {
            return nil
        }
        if description.acceptsRanges == false {
            return answers.isComplete(stored) || fetches.hasWhole
                ? nil : begin(wanted: nil, urgency: want.urgency)
        }
        // The next window is requested before the current one has ended, so that the connection is never
        // idle. Without validators, the next window is compared with the end of the current one, so it must
        // wait for that.
        let underWay = fetches.active.filter { isWanted($0) && !$0.remaining.isEmpty }
        let left = underWay.reduce(Int64(0)) { sum, fetch in
            sum.addingReportingOverflow(Int64(fetch.remaining.count)).partialValue
        }
        let isPair = asPair && want.urgency == .readAhead
        guard
            underWay.isEmpty
                || (underWay.count < 2 && (left < line.askNextAt || isPair) && !answers.comparesBytes
                    && !line.measure.servesOneConnection)
        else { return nil }
        return begin(at: want.gap.lowerBound, urgency: want.urgency, notBeyond: want.gap.upperBound)
    }

    // MARK: Beginning

    /// Begins a fetch of the missing bytes from `offset` on. If the reader has announced a read (`announced`)
    /// that goes beyond `offset`, the fetch goes to the end of that: at least one demand window, unless the
    /// read is a sample, and at most `LoadSettings.largestWindow`. Otherwise the fetch has the window of the
    /// connection. It ends at a block boundary if possible, so that extents are whole blocks, and never
    /// requests bytes that are stored or already on their way.
    private mutating func begin(
        at offset: Int64,
        urgency: Urgency,
        announced: ByteRange = 0..<0,
        notBeyond limit: Int64 = .max
    ) -> LoadAction {
        let least = announced.upperBound
        // The short rest of a longer read is not a sample: the bytes after it will be needed soon.
        let isSample = least > offset && announced.count <= settings.largestSample
        var window =
            least > offset
            ? max(isSample ? 1 : settings.demandWindow, min(settings.largestWindow, least - offset))
            : line.window(for: urgency, playing: readers.bytesPerSecond)
        // The first request of a pair is short, so that its connection is free soon.
        if urgency == .readAhead, !fetches.isBusy, !answers.comparesBytes, lacksSecondConnection {
            window = settings.demandWindow
        }
        let block = settings.demandWindow
        let (sum, overflow) = offset.addingReportingOverflow(window)
        var end = overflow ? .max : sum
        let rounded = end - end % block
        if rounded > offset + window / 2 { end = rounded }
        if end < least { end = min(least, overflow ? .max : sum) }
        end = min(end, answers.mayGrow ? .max : length ?? .max, limit)
        // If only a little of a track's head would remain, include it: it is not worth a request of its own.
        if urgency == .prefetch, limit > end, limit - end < block / 2 { end = limit }
        if let gap = firstMissing(in: offset..<max(end, offset + 1)), gap.lowerBound == offset {
            end = min(end, gap.upperBound)
        }
        return begin(wanted: offset..<max(end, offset + 1), urgency: urgency)
    }

    /// Begins a fetch of `wanted`, or of the whole resource if that is `nil`.
    private mutating func begin(wanted: ByteRange?, urgency: Urgency) -> LoadAction {
        var plan = FetchPlan(id: fetches.nextID, urgency: urgency, wanted: wanted, overlap: 0..<0)
        plan.wantsTitles = stored.isEmpty
        if let wanted, !stored.isEmpty {
            plan.ifRange = answers.ifRangeStep.condition(for: description.validators)
            // If the server sends nothing where the last body broke off, only a body that brings the bytes
            // before that shows if the file ends there.
            let mayBeEnd = !retry.isFirst && answers.wasCut && answers.brokeOffAt == wanted.lowerBound
            if answers.comparesBytes || mayBeEnd {
                plan.overlap = storedBytes(before: wanted.lowerBound)
            }
        }
        fetches.began(
            plan,
            end: wanted?.upperBound ?? length ?? .max,
            attempt: retry.attempt(isOffline: moment.network.isOffline)
        )
        return .startFetch(plan)
    }

    /// The stored bytes that end at `offset`, at most `settings.overlap` of them.
    private func storedBytes(before offset: Int64) -> ByteRange {
        guard let before = stored.range(around: offset - 1), before.upperBound == offset else { return 0..<0 }
        return before.clamped(to: max(0, offset - settings.overlap)..<offset)
    }

    private var lacksSecondConnection: Bool {
        line.lacksSecondConnection(playing: readers.bytesPerSecond, now: now)
    }

    private func admitsRequest(isNewRead: Bool) -> Bool {
        retry.admitsRequest(isNewRead: isNewRead, isIdle: fetches.isEmpty, at: now)
    }

    // MARK: Precedence

    /// `true` if a request for `urgency` may begin: neither this resource nor another one has a more urgent
    /// need.
    private func mayBegin(_ urgency: Urgency) -> Bool {
        if let others = moment.othersNeed, others < urgency { return false }
        guard urgency > .readAhead else { return true }
        return !readers.hasDemand && !fetches.active.contains { $0.plan.urgency < urgency && isWanted($0) }
    }

    /// `true` if neither this resource nor another one has a need that takes precedence over a read with this
    /// reason.
    private func isTurn(of urgency: Urgency) -> Bool {
        urgency == .demand || (mayBegin(urgency) && nextWant()?.urgency != .readAhead)
    }

    /// The urgency of a request in progress. A body of the whole resource may long outlast the read that it
    /// was begun for, so its urgency is what the readers need now.
    private func urgency(of fetch: LoadFetch) -> Urgency {
        guard fetch.isWhole else { return fetch.plan.urgency }
        if readers.hasDemand { return .demand }
        return readers.all.contains { $0.readAhead != nil }
            ? .readAhead : max(fetch.plan.urgency, .prefetch)
    }

    // MARK: What is wanted

    /// Missing bytes for which no read waits.
    private struct Want {
        var urgency: Urgency
        var gap: ByteRange
    }

    /// The most urgent missing bytes that are worth a request; `nil` if there are none.
    private func nextWant() -> Want? {
        // The first response shows the length, and if the server supports ranges at all.
        guard !retry.isBackgroundHeld,
            length != nil || description.acceptsRanges != nil || fetches.isEmpty
        else { return nil }
        let readers = readers.all
        for reader in readers {
            if let gap = gapAhead(of: reader) { return Want(urgency: .readAhead, gap: gap) }
        }
        for range in readers.flatMap(\.prefetches) {
            if let gap = firstMissing(in: range.clamped(to: 0..<(length ?? .max))) {
                return Want(urgency: .prefetch, gap: gap)
            }
        }
        guard readers.contains(where: \.fills), let gap = firstMissing(in: 0..<(length ?? .max)) else {
            return nil
        }
        return Want(urgency: .fill, gap: gap)
    }

    /// The first gap ahead of `reader`, once less than its read-ahead is stored.
    private func gapAhead(of reader: LoadReaders.Reader) -> ByteRange? {
        guard let ahead = reader.readAhead, !reader.isAboutToSeek else { return nil }
        let zone = zone(of: reader)
        guard let gap = firstMissing(in: zone) else { return nil }
        if zone.upperBound == length { return gap }
        let isFlowing = fetches.active.contains { $0.plan.urgency == .readAhead }
        let least = min(isFlowing ? settings.demandWindow : .max, reserve(for: ahead))
        return zone.upperBound - gap.lowerBound >= least ? gap : nil
    }

    /// The range that `reader` needs soon.
    private func zone(of reader: LoadReaders.Reader) -> ByteRange {
        let ahead =
            reader.readAhead.map { $0 + reserve(for: $0) }
            ?? line.window(for: .demand, playing: readers.bytesPerSecond)
        let (end, overflow) = reader.offset.addingReportingOverflow(ahead)
        let start = max(0, reader.offset)
        return start..<max(start, min(overflow ? .max : end, length ?? .max))
    }

    /// How many bytes beyond the read-ahead `ahead` to request at once. That way the read-ahead is always
    /// complete, but not every read causes a small request.
    private func reserve(for ahead: Int64) -> Int64 { min(line.readAheadWindow, ahead / 8) }

    /// The first part of `range` that is neither stored nor under way.
    private func firstMissing(in range: ByteRange) -> ByteRange? {
        guard !range.isEmpty else { return nil }
        for gap in stored.gaps(in: range) {
            if let missing = fetches.uncovered(of: gap).first { return missing }
        }
        return nil
    }

    /// `true` if `fetch` serves a reader, so that it continues.
    private func isWanted(_ fetch: LoadFetch) -> Bool {
        // A body that cannot be resumed is read to its end while there are readers.
        if fetch.isWhole { return !readers.isEmpty }
        return readers.all.contains { reader in
            bringsSoon(reader.offset, fetch) || zone(of: reader).contains(fetch.next)
                || reader.announced.contains(fetch.next)
                || (reader.fills && fetch.plan.urgency == .fill)
                || reader.prefetches.contains { $0.overlaps(fetch.remaining) }
        }
    }

    /// `true` if `fetch` will deliver `offset` sooner than a new request would.
    private func bringsSoon(_ offset: Int64, _ fetch: LoadFetch) -> Bool {
        guard fetch.remaining.contains(offset) else { return false }
        return fetch.isWhole || fetch.isBeforeAsked || offset - fetch.next <= line.readThrough
    }

    /// `true` if an unwanted fetch may run to its end: that keeps its connection open, and its last bytes are
    /// not wasted. With one reader, at most one fetch may, and only if few bytes remain. If several readers
    /// share a resource, all may, since another reader probably needs the bytes soon.
    private func mayLinger(_ fetch: LoadFetch, beside lingering: Int) -> Bool {
        if line.measure.servesOneConnection { return false }
        if readers.count > 1 { return true }
        return fetch.isAnswered && lingering == 0 && Int64(fetch.remaining.count) <= line.mostLingering
    }

    private static func text(from here: Int64, to offset: Int64) -> SafeText {
        SafeText("from \(here) to \(offset)")
    }
}
