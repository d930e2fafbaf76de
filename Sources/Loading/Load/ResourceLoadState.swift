package import Media

/// Decides which parts of one resource to fetch: events in, actions out.
///
/// Has no task, lock, clock or bytes. Each event comes with its `LoadMoment`: the time, and the stored ranges
/// at that time. Readers, fetches, the connection and failures are machines of their own; `LoadPlanner`
/// decides what to fetch.
package struct ResourceLoadState: Sendable {
    private enum Phase: Equatable {
        case loading
        /// The response is a live stream, which provides the next bytes as soon as `handedOver` is called.
        case handingOver
        case live
        /// Every further read of a missing byte fails with this error.
        case over(MediaError)
    }

    private let settings: LoadSettings
    private let subject: SafeText
    private var answers: LoadAnswers
    private(set) var readers = LoadReaders()
    private(set) var fetches = LoadFetches()
    private(set) var line: LoadLine
    private(set) var retry: RetryState
    /// Without validators, the bytes after a jump: nothing shows that they are of the same version as the
    /// others, until a window that was compared with others reaches them.
    private var apart = ByteRangeSet()
    private var phase = Phase.loading

    /// `subject` names the resource in errors, `stored` are its bytes that are stored already, `measure` is
    /// the known measure of the connection, `seed` seeds the jitter of the retries, and `hasUserInfo` is
    /// `true` if the URL has a user name and a password. Without `trustsValidators`, only the bytes identify
    /// the resource.
    package init(
        settings: LoadSettings,
        subject: SafeText,
        description: EntryDescription,
        stored: ByteRangeSet = ByteRangeSet(),
        measure: LineMeasure = LineMeasure(),
        seed: UInt64 = 0,
        hasUserInfo: Bool = false,
        trustsValidators: Bool = true
    ) {
        self.settings = settings
        self.subject = subject
        answers = LoadAnswers(
            description,
            stored: stored,
            hasUserInfo: hasUserInfo,
            trustsValidators: trustsValidators
        )
        line = LoadLine(settings: settings, measure: measure)
        retry = RetryState(policy: settings.retry, seed: seed)
    }

    // MARK: Questions

    /// The facts about the resource from responses and earlier opens.
    var description: EntryDescription { answers.description }
    var length: Int64? { description.length }
    var measure: LineMeasure { line.measure }

    /// The error with which every further read fails; `nil` while the resource can be read.
    var finalError: MediaError? { if case .over(let error) = phase { error } else { nil } }

    /// `true` if any offset can be read without reading all bytes before it.
    func isSeekable(_ stored: ByteRangeSet) -> Bool { phase != .live && answers.isSeekable(stored) }

    /// The bytes that may be cached; `nil` for all. Once nothing is missing, nothing more can be compared.
    func proven(_ moment: LoadMoment) -> ByteRangeSet? {
        let mayJump =
            answers.comparesBytes && fetches.active.contains { $0.isAnswered && $0.plan.overlap.isEmpty }
        guard mayJump || !apart.isEmpty, !answers.isComplete(moment.stored) else { return nil }
        return moment.stored.subtracting(apart)
    }

    /// The wait for the next attempt; `nil` while bytes arrive or none are wanted.
    func wait(_ moment: LoadMoment) -> LoadWait? {
        guard let wait = retry.wait else { return nil }
        return !fetches.isEmpty || readers.isAnyWaiting || wanted(moment) != nil ? wait : nil
    }

    /// The bytes to request next, for which no read waits; `nil` for none.
    func wanted(_ moment: LoadMoment) -> ByteRange? { phase == .loading ? planner(moment).wanted : nil }

    /// The most urgent need of this resource, as reported to the loaders that share the connection; `nil` for
    /// none.
    func need(_ moment: LoadMoment) -> Urgency? { phase == .loading ? planner(moment).need : nil }

    func outlook(at offset: Int64, _ moment: LoadMoment) -> ReadOutlook {
        if moment.stored.contains(offset) { return .stored }
        if answers.isPastEnd(offset, isPlaying: readers.bytesPerSecond > 0) { return .end }
        switch phase {
        case .live: return .live
        case .over(let error): return .failed(error)
        case .loading, .handingOver: break
        }
        // After the loader has given up on the server, a fetch in progress may still bring the byte, or a new
        // request may be sent once `RetryPolicy.leastPause` has passed since the last failure.
        let mayAsk = retry.mayTryEarly(at: moment.now) || fetches.bringing(offset) != nil
        if !mayAsk, let error = retry.finalError { return .failed(error) }
        return .missing
    }

    /// `true` if the fetch was neither cancelled nor has ended.
    func isUnderWay(_ id: FetchPlan.ID) -> Bool { fetches[id] != nil }

    /// `true` if the fetch brings a live stream, whose body must no longer be stored.
    func isHandingOver(_ id: FetchPlan.ID) -> Bool { phase == .handingOver && fetches[id] != nil }

    // MARK: Readers

    package mutating func readerOpened(_ id: LoadReaders.ID) { readers.opened(id) }

    /// A read begins at `offset`. If that byte is missing, the reader waits from now on.
    package mutating func readRequested(_ id: LoadReaders.ID, at offset: Int64, _ moment: LoadMoment)
        -> [LoadAction]
    {
        guard readers[id] != nil else { return [] }
        let isMissing = outlook(at: offset, moment) == .missing
        readers.read(id, at: offset, isMissing: isMissing)
        return plan(moment, newcomer: isMissing ? id : nil)
    }

    /// The task of a waiting read was cancelled. Returns the wait; `nil` if there was none. Fetches for it
    /// continue until the reader's next read or its close: a seek cancels first, and may be short.
    mutating func readCancelled(_ id: LoadReaders.ID) -> LoadReaders.WaitID? { readers.endWait(id) }

    package mutating func readerAsked(_ id: LoadReaders.ID, for wish: LoadReaders.Wish, _ moment: LoadMoment)
        -> [LoadAction]
    {
        readers.receive(wish, of: id, settings)
        return plan(moment)
    }

    /// The reader was closed. After the last reader all fetches are cancelled; before that, those that no
    /// other reader wants, unless they may run to their end (see `LoadPlanner`).
    mutating func readerClosed(_ id: LoadReaders.ID, _ moment: LoadMoment) -> [LoadAction] {
        readers.closed(id)
        return readers.isEmpty ? cancelAll() : plan(moment)
    }

    /// The time of `.wakeAt` has come, or the need of others has changed.
    mutating func replan(_ moment: LoadMoment) -> [LoadAction] { endWaits(moment) + plan(moment) }

    /// The store was refreshed just before sending the request of `id`. Returns `false` if that request must
    /// not be sent: the fetch was cancelled, or another store has committed some of its bytes; then the rest
    /// is planned again.
    mutating func storeLooked(_ id: FetchPlan.ID, _ moment: LoadMoment) -> (
        isNeeded: Bool, actions: [LoadAction]
    ) {
        guard let fetch = fetches[id] else { return (false, endWaits(moment)) }
        let isNeeded =
            fetch.plan.wanted.map { moment.stored.intersection(ByteRangeSet($0)).isEmpty }
            ?? !answers.isComplete(moment.stored)
        if isNeeded {
            fetches.sent(id, at: moment.now)
            return (true, endWaits(moment))
        }
        _ = fetches.ended(id)
        return (false, endWaits(moment) + plan(moment))
    }

    /// The network is back: waiting reads try at once.
    mutating func networkReturned(_ moment: LoadMoment) -> [LoadAction] {
        retry.progressed()
        return plan(moment)
    }

    // MARK: Fetches

    /// The head of the response to fetch `id` arrived.
    package mutating func fetchAnswered(
        _ id: FetchPlan.ID,
        _ answer: RangeAnswer,
        _ moment: LoadMoment
    ) -> AnswerOutcome {
        // The fetch was cancelled in the meantime.
        guard let fetch = fetches[id] else { return .discard([]) }
        let answer = answers.corrected(answer)
        line.answered(answer, to: fetch, now: moment.now)
        let meaning = answers.meaning(
            of: answer,
            to: fetch.plan,
            stored: moment.stored,
            isBesideAnother: fetches.active.contains { $0.plan.id != id && $0.isAnswered }
        )
        let isConfirmed = answers.confirms(answer)
        answers.learn(answer, meaning, to: fetch.plan)
        var outcome = outcome(of: meaning, answer, for: fetch, moment)
        outcome.forbidsStoring = meaning.forbidsStoring(of: answer)
        outcome.comparesStored = meaning == .whole && !isConfirmed && !moment.stored.isEmpty
        return outcome
    }

    /// The fetch `id` has written `range` to the store; `isNew` if any of it was missing. The bytes of a
    /// cancelled fetch are valid too.
    package mutating func bytesStored(
        _ range: ByteRange,
        by id: FetchPlan.ID,
        isNew: Bool,
        _ moment: LoadMoment
    ) -> [LoadAction] {
        if answers.comparesBytes, let fetch = fetches.find(id) { join(range, by: fetch, moment) }
        if let piece = fetches.received(id, range.count, at: moment.now) { line.received(piece) }
        // Bytes that were stored before are no progress: otherwise, if a server always breaks off within
        // them, requests would be repeated for ever.
        if isNew { retry.progressed() }
        if let fetch = fetches.stored(id, upTo: range.upperBound, isNew: isNew) {
            if fetch.remaining.isEmpty { line.windowCompleted(fetch.plan.urgency) }
            if fetch.isWhole, length == nil, fetch.next > settings.largestUnknownBody {
                return beginHandOver(of: id, moment)
            }
        }
        return endWaits(moment) + plan(moment)
    }

    /// `fetch` has brought `range`. If it continues bytes that are not apart, so do all that it reaches.
    private mutating func join(_ range: ByteRange, by fetch: LoadFetch, _ moment: LoadMoment) {
        let run = ByteRangeSet(moment.stored.range(around: range.lowerBound) ?? range)
        let known = moment.stored.subtracting(apart)
        let earlier = known.subtracting(ByteRangeSet(range))
        var continued = ByteRangeSet(fetch.plan.overlap)
        if let reached = fetch.reached { continued.insert(contentsOf: reached - 1..<reached) }
        // The body of the whole resource is compared with all that is stored.
        if fetch.isWhole { continued.formUnion(run.intersection(earlier)) }
        if earlier.isEmpty || !known.intersection(continued).isEmpty {
            apart.subtract(run)
        } else {
            apart.formUnion(ByteRangeSet(range))
        }
    }

    /// Received bytes differ from the stored ones: the file was replaced.
    mutating func overlapDiffered(_ id: FetchPlan.ID, _ moment: LoadMoment) -> [LoadAction] {
        fetches[id] == nil ? [] : change(seenBy: id, moment)
    }

    /// The fetch ended with `error`, or without one if it was cancelled or nothing more of its body is
    /// needed.
    package mutating func fetchEnded(_ id: FetchPlan.ID, error: MediaError?, _ moment: LoadMoment)
        -> [LoadAction]
    {
        guard let fetch = fetches.ended(id) else { return [] }
        // The end of a cancelled fetch matters only to a request for the same bytes, which waits for it.
        if fetch.phase == .cancelled { return plan(moment) }
        if error == nil, fetch.isWhole, fetch.isAnswered, length == nil,
            fetch.next >= moment.stored.ranges.last?.upperBound ?? 0
        {
            // The end of a body without a stated length shows the length.
            answers.ended(at: fetch.next)
            retry.answered()
            return endWaits(moment) + plan(moment)
        }
        if error?.code == .cut || error?.code == .timedOut, let end = fetch.reached,
            end >= moment.stored.ranges.last?.upperBound ?? 0,
            answers.brokeOff(at: end, isCut: error?.code == .cut)
        {
            retry.answered()
            return endWaits(moment) + plan(moment)
        }
        if fetch.phase == .progressing {
            let isAnotherWaiting = error == nil && fetches.overtaken(at: moment.now) && retry.isFirst
            let actions = endWaits(moment) + plan(moment)
            return actions + (isAnotherWaiting ? [.wakeAt(moment.now + line.longestStarving)] : [])
        }
        let reason = error ?? MediaError(.cut, subject, "the server answers without sending anything")
        return failed(fetch, reason, moment)
    }

    /// The live stream has taken over the body, and serves reads from now on.
    mutating func handedOver(_ id: FetchPlan.ID, _ moment: LoadMoment) -> [LoadAction] {
        guard phase == .handingOver else { return [] }
        _ = fetches.ended(id)
        phase = .live
        return endWaits(moment)
    }

    // MARK: Answers

    private mutating func outcome(
        of meaning: AnswerMeaning,
        _ answer: RangeAnswer,
        for fetch: LoadFetch,
        _ moment: LoadMoment
    ) -> AnswerOutcome {
        let id = fetch.plan.id
        switch meaning {
        case .part(let range):
            // Some servers ignore the requested end; bytes beyond it belong to another window.
            return receive(from: range.lowerBound, upTo: min(fetch.end, range.upperBound), by: id, moment)
        case .whole:
            // Two requests can both get such a response; one body is enough.
            guard !fetches.active.contains(where: { $0.plan.id != id && $0.isWhole }) else { break }
            fetches.becameWhole(id)
            return receive(from: 0, upTo: length ?? .max, by: id, moment)
        case .live: return AnswerOutcome(use: .live, actions: beginHandOver(of: id, moment))
        case .changed: return .discard(change(seenBy: id, moment))
        case .nothingThere, .grown, .weakerCondition, .withoutRange, .later, .refused: break
        }
        _ = fetches.ended(id)
        return .discard(afterRefusal(meaning, answer, of: fetch, moment))
    }

    private mutating func receive(
        from start: Int64,
        upTo end: Int64,
        by id: FetchPlan.ID,
        _ moment: LoadMoment
    ) -> AnswerOutcome {
        fetches.answered(id, from: start, upTo: end)
        return AnswerOutcome(use: .store(from: start, upTo: end), actions: endWaits(moment) + plan(moment))
    }

    /// Handles a response whose body is discarded; `fetch` has ended.
    private mutating func afterRefusal(
        _ meaning: AnswerMeaning,
        _ answer: RangeAnswer,
        of fetch: LoadFetch,
        _ moment: LoadMoment
    ) -> [LoadAction] {
        switch meaning {
        case .nothingThere(let end):
            retry.answered()
            // If the response does not state the length either, another request for the same gap would have
            // the same result.
            if end == nil { retry.holdBackground() }
            // Reads past the end finish empty; reads before it fail.
            return endWaits(moment)
                + failForGood(fetch, error(.cut, "the server has nothing at this place"), moment)
        case .withoutRange(let cause):
            retry.answered()
            return [.decided(.withoutRanges, cause)] + endWaits(moment) + plan(moment)
        case .later(let status):
            let error = error(.httpStatus, AnswerMeaning.cause(status: status))
            return failed(fetch, error, retryAfter: answer.retryAfter, moment)
        case .refused(let code, let cause):
            var error = error(code, cause)
            error.isLasting = true
            if case .refused(let status) = answer.kind { error.status = status }
            error.mayAskLater = answer.mayAskLater
            return failed(fetch, error, moment)
        case .grown, .weakerCondition, .part, .whole, .live, .changed: return plan(moment)
        }
    }

    /// Ends everything, because the resource was replaced. The fetch that detected it ends by itself.
    private mutating func change(seenBy id: FetchPlan.ID, _ moment: LoadMoment) -> [LoadAction] {
        _ = fetches.ended(id)
        guard finalError == nil else { return [] }
        let error = error(.resourceChanged, "the file on the server has changed; starting it anew")
        phase = .over(error)
        return cancelAll() + endWaits(moment) + [.decided(.changed, error.cause), .declareChanged]
    }

    /// The body of `id` has no end. Other fetches end; the reads wait for `handedOver`.
    private mutating func beginHandOver(of id: FetchPlan.ID, _ moment: LoadMoment) -> [LoadAction] {
        phase = .handingOver
        return cancelAll(but: id) + endWaits(moment) + [.decided(.live, "the body goes on without end")]
    }

    // MARK: Failures

    /// Handles the failure of `fetch`, which has ended without a new byte.
    private mutating func failed(
        _ fetch: LoadFetch,
        _ error: MediaError,
        retryAfter: Duration? = nil,
        _ moment: LoadMoment
    ) -> [LoadAction] {
        if answers.endStays(after: fetch.plan) { return replan(moment) }
        let outcome = retry.failed(
            error,
            of: fetch.attempt,
            hasBytes: !moment.stored.isEmpty && readers.arePlaying,
            retryAfter: retryAfter,
            network: moment.network,
            now: moment.now
        )
        switch outcome {
        case .wait(let wait):
            return [.decided(.retryLater, wait.error.safeText), .wakeAt(wait.retryAt)] + plan(moment)
        case .failed(var error):
            if error.code == .offline, !moment.stored.isEmpty { error.cause = "the rest is " + error.cause }
            return failForGood(fetch, error, moment)
        case .givenUp(let error):
            return [.decided(.gaveUp, error.safeText)] + failWaiting(error) + plan(moment)
        case .unchanged: return plan(moment)
        }
    }

    private mutating func failForGood(_ fetch: LoadFetch, _ error: MediaError, _ moment: LoadMoment)
        -> [LoadAction]
    {
        readers.failWaits { fetch.isWhole || fetch.remaining.contains($0) ? error : nil } + plan(moment)
    }

    /// Fails every waiting read that no fetch in progress will serve.
    private mutating func failWaiting(_ error: MediaError) -> [LoadAction] {
        readers.failWaits { [fetches] in fetches.bringing($0) == nil ? error : nil }
    }

    /// Ends every wait for a byte that is no longer `.missing`.
    private mutating func endWaits(_ moment: LoadMoment) -> [LoadAction] {
        readers.endWaits { [self] in outlook(at: $0, moment) }
    }

    private mutating func cancelAll(but kept: FetchPlan.ID? = nil) -> [LoadAction] {
        let cancelled = fetches.cancelAll(but: kept)
        for _ in cancelled { line.cancelled() }
        return cancelled.map { .cancelFetch($0) }
    }

    private func error(_ code: MediaError.Code, _ cause: SafeText) -> MediaError {
        MediaError(code, subject, cause)
    }

    // MARK: Planning

    private func planner(_ moment: LoadMoment) -> LoadPlanner {
        LoadPlanner(
            settings: settings,
            moment: moment,
            answers: answers,
            readers: readers,
            retry: retry,
            fetches: fetches,
            line: line
        )
    }

    private mutating func plan(_ moment: LoadMoment, newcomer: LoadReaders.ID? = nil) -> [LoadAction] {
        guard phase == .loading else { return [] }
        var planner = planner(moment)
        let actions = planner.plan(newcomer: newcomer)
        fetches = planner.fetches
        line = planner.line
        return actions
    }

    /// Changes the description that is stored with the entry.
    mutating func describe(_ edit: (inout EntryDescription) -> Void) { answers.describe(edit) }
}
