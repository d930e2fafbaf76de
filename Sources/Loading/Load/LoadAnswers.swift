import Media

/// Collects the facts that responses state about a resource, and determines how to request more of it.
struct LoadAnswers: Sendable {
    private(set) var description: EntryDescription
    private(set) var ifRangeStep = IfRangeStep.entityTag
    /// `true` if the latest part came without a validator.
    private var lacksValidators = false
    /// `true` once ranges did not work and the whole resource was requested.
    private var hasFallenBack = false
    /// `true` once the resource was found to be longer than before.
    private var hasGrown = false
    /// `true` if the resource may be longer than `description.length` by now: a response showed that the
    /// resource had grown, or was modified just before. Ends when nothing is found there.
    private(set) var mayGrow = false
    /// The offset at which the latest body broke off; `nil` if bytes after it were stored by then.
    private(set) var brokeOffAt: Int64?
    /// `true` if that body was cut: one that stood still is no sign of the end.
    private(set) var wasCut = false
    /// A length that the server states although two bodies ended earlier, at the same byte: an estimate.
    private var falseLength: Int64?
    private let hasUserInfo: Bool
    /// `false` if only its bytes identify the resource, as if the server sent no validators.
    private let trustsValidators: Bool

    /// Begins with the description from an earlier open, when `stored` was stored.
    ///
    /// Drops a length that the stored bytes contradict: it comes from a damaged index, and the server states
    /// the right one. Without `trustsValidators`, or if bytes were stored without validators before, uses
    /// none.
    init(
        _ description: EntryDescription,
        stored: ByteRangeSet = ByteRangeSet(),
        hasUserInfo: Bool = false,
        trustsValidators: Bool = true
    ) {
        self.description = description
        self.hasUserInfo = hasUserInfo
        self.trustsValidators = trustsValidators && (stored.isEmpty || !description.validators.isEmpty)
        if !self.trustsValidators { self.description.validators = Validators() }
        let least = stored.ranges.last?.upperBound ?? 0
        if description.length.map({ $0 < least }) ?? false { self.description.length = nil }
        // A server that did not support ranges the last time may support them by now. Trying a range costs
        // nothing, whereas the whole resource would include all stored bytes again.
        if description.acceptsRanges == false { self.description.acceptsRanges = nil }
    }

    /// `true` if only the bytes themselves can show that the response is of the same file.
    var comparesBytes: Bool { description.validators.isEmpty || lacksValidators || hasGrown }

    /// `true` if validators show that `answer` is of the known file, and it has not grown.
    func confirms(_ answer: RangeAnswer) -> Bool {
        !comparesBytes && !answer.validators.isEmpty && !answer.isGrown(description)
    }

    func isComplete(_ stored: ByteRangeSet) -> Bool {
        description.length.map { stored.covers(0..<$0) } ?? false
    }

    /// Records the facts about the resource in `answer` to `plan`, whose meaning is `meaning`.
    mutating func learn(_ answer: RangeAnswer, _ meaning: AnswerMeaning, to plan: FetchPlan) {
        switch meaning {
        case .part(let range):
            description.acceptsRanges = !hasFallenBack
            if case .part(_, let total?) = answer.kind, isBelievable(total, range, asked: plan.asked) {
                if answer.isGrown(description) { grew() }
                description.length = total
            }
            lacksValidators = answer.validators.isEmpty
            learnFile(answer)
        case .whole:
            // A 200 to a range request is the whole resource from its first byte: this server does not
            // support ranges.
            description.acceptsRanges = false
            if answer.isEncoded {
                description.length = nil
            } else if case .whole(let length?) = answer.kind {
                if answer.isGrown(description) { grew() }
                description.length = length
            }
            learnFile(answer)
        case .nothingThere(let end):
            description.length = end ?? description.length
            mayGrow = false
        case .grown: grew()
        case .weakerCondition(let step): ifRangeStep = step
        case .withoutRange:
            hasFallenBack = true
            description.acceptsRanges = false
        case .changed, .live, .later, .refused: break
        }
    }

    private mutating func grew() {
        hasGrown = true
        mayGrow = true
    }

    /// The request of `plan` failed. Returns `true` if it only requested bytes beyond the known end, which
    /// then counts as the end.
    mutating func endStays(after plan: FetchPlan) -> Bool {
        guard let length = description.length, plan.wanted?.lowerBound == length else { return false }
        mayGrow = false
        return true
    }

    /// A body without a stated length ended at `length`.
    mutating func ended(at length: Int64) { description.length = length }

    /// A body broke off at `offset`, after which nothing is stored. Returns `true` if the one before broke
    /// off there too: that is the end, whatever length the server states.
    mutating func brokeOff(at offset: Int64, isCut: Bool) -> Bool {
        guard brokeOffAt == offset else {
            brokeOffAt = offset
            wasCut = isCut
            return false
        }
        falseLength = description.length
        description.length = offset
        mayGrow = false
        return true
    }

    /// `answer` with the known length in place of the one that turned out to be false.
    func corrected(_ answer: RangeAnswer) -> RangeAnswer {
        guard let falseLength, let length = description.length else { return answer }
        var answer = answer
        switch answer.kind {
        case .whole(falseLength): answer.kind = .whole(length: length)
        case .part(let range, falseLength) where range.lowerBound < length:
            answer.kind = .part(range: range.clamped(to: 0..<length), total: length)
        case .part(_, falseLength), .unsatisfiable(falseLength): answer.kind = .unsatisfiable(total: length)
        default: break
        }
        return answer
    }

    private mutating func learnFile(_ answer: RangeAnswer) {
        if answer.isFresh { mayGrow = true }
        if trustsValidators, !answer.validators.isEmpty { description.validators = answer.validators }
        description.contentType = answer.contentType ?? description.contentType
        description.redirectedTo = answer.redirectedTo?.withoutSecrets
    }

    /// `true` if `total` can be trusted as the length of the resource. RFC 9110 §14.4 requires that it is the
    /// length, but some servers state the length of the part instead. So a `total` that is exactly the end of
    /// the requested range is not trusted until a request beyond it has verified it. It is trusted if it
    /// equals the known length, or exceeds that while the resource may grow, since then its end is requested
    /// once more anyway.
    private func isBelievable(_ total: Int64, _ range: ByteRange, asked: ByteRange?) -> Bool {
        guard total == range.upperBound, total == asked?.upperBound else { return true }
        return description.length.map { total == $0 || (mayGrow && total > $0) } ?? false
    }

    /// `true` if there is nothing at `offset`. While the resource may grow, its known end does not count, so
    /// that it is requested once more. But it does count on a server without ranges, which would send the
    /// whole resource again, and for a list or a tag that was just written: only music that `isPlaying`, or
    /// that was seen to grow, is worth the request.
    func isPastEnd(_ offset: Int64, isPlaying: Bool) -> Bool {
        guard let length = description.length else { return false }
        let asks = mayGrow && (hasGrown || isPlaying) && description.acceptsRanges == true
        return asks ? offset > length : offset >= length
    }

    /// `true` if any offset can be read without reading all bytes before it. Before the first response,
    /// ranges are assumed to work: most servers support them, and a seek shows if this one does.
    func isSeekable(_ stored: ByteRangeSet) -> Bool {
        description.acceptsRanges != false || isComplete(stored)
    }

    // MARK: Meanings

    /// The meaning of `answer` to `plan`, while `stored` is stored. `isBesideAnother` if another response is
    /// being received, so that this one must be of the same file even if none of its bytes are stored yet.
    func meaning(
        of answer: RangeAnswer,
        to plan: FetchPlan,
        stored: ByteRangeSet,
        isBesideAnother: Bool = false
    ) -> AnswerMeaning {
        // If nothing is stored, the decoder decides: the user may have requested a page.
        if !stored.isEmpty, answer.isForeignPage(for: description) {
            let cause = "got a web page instead of the rest; sign in to the network and play it again"
            return .refused(.badAnswer, SafeText(cause))
        }
        if !stored.isEmpty || isBesideAnother, isChanged(answer, to: plan) { return .changed }
        if !stored.isEmpty || isBesideAnother, !comparesBytes, answer.isGrown(description) { return .grown }
        if let end = description.length, plan.wanted?.lowerBound == end, answer.bringsNothing(beyond: end) {
            return .nothingThere(end: end)
        }
        switch answer.kind {
        case .part(let range, let total): return part(range, total: total, of: plan)
        case .whole: return whole(answer, to: plan, isFirst: stored.isEmpty)
        case .unsatisfiable(let total): return unsatisfiable(total, plan, stored)
        case .refused(let status): return refusal(status, answer, to: plan)
        case .notModified:
            return .refused(.httpStatus, "the server answers 304 (unchanged) to an unconditional request")
        }
    }

    private func isChanged(_ answer: RangeAnswer, to plan: FetchPlan) -> Bool {
        switch answer.kind {
        case .whole:
            // After a conditional request, a 200 with other validators means that the file has changed.
            if let sent = plan.ifRange, answer.validators.ifRange != sent,
                answer.validators.lastModified != sent
            {
                return true
            }
        case .unsatisfiable(let total?):
            // After a conditional request, the server has found the file unchanged, so only the known length
            // was wrong.
            if plan.ifRange == nil, let length = description.length, total != length { return true }
        default: break
        }
        // Servers that ignore If-Range send a part of the new file with the new file's validators.
        return answer.contradicts(description) && !answer.isGrown(description)
    }

    private func part(_ range: ByteRange, total: Int64?, of plan: FetchPlan) -> AnswerMeaning {
        guard let wanted = plan.wanted else {
            return .refused(.httpStatus, "requested the whole file, got a part; the server is at fault")
        }
        // The server sent only the bytes that were requested again for comparison: the resource ends there.
        if !plan.overlap.isEmpty, range == plan.overlap,
            [total, description.length].allSatisfy({ $0 ?? range.upperBound == range.upperBound })
        {
            return .nothingThere(end: range.upperBound)
        }
        let first = plan.overlap.isEmpty ? wanted.lowerBound : plan.overlap.lowerBound
        guard range.contains(wanted.lowerBound), range.lowerBound <= first else {
            return withoutRange(plan, "got another part of the file than requested; the server is at fault")
        }
        return .part(range)
    }

    private func whole(_ answer: RangeAnswer, to plan: FetchPlan, isFirst: Bool) -> AnswerMeaning {
        if answer.station != nil, isFirst { return .live }
        // Ranges worked before, so the server does not support the condition.
        if plan.ifRange != nil, description.acceptsRanges == true,
            let next = ifRangeStep.next(for: description.validators)
        {
            return .weakerCondition(next)
        }
        return .whole
    }

    private func unsatisfiable(_ total: Int64?, _ plan: FetchPlan, _ stored: ByteRangeSet) -> AnswerMeaning {
        guard let offset = plan.wanted?.lowerBound else {
            return .refused(.httpStatus, "the server refuses a request without a range (416)")
        }
        let lastStored = stored.ranges.last?.upperBound ?? 0
        if let total {
            if offset >= total, lastStored <= total { return .nothingThere(end: total) }
            return withoutRange(plan, "the server refuses a part of the file that it has (416)")
        }
        // Without a total, the response is informative only if the length is unknown.
        if let length = description.length, offset < length {
            return withoutRange(plan, "the server refuses a part of the file that it has (416)")
        }
        if offset == 0 {
            return withoutRange(plan, "the server refuses even the first part of the file (416)")
        }
        return .nothingThere(end: stored.contains(offset - 1) && lastStored <= offset ? offset : nil)
    }

    private func refusal(_ status: Int, _ answer: RangeAnswer, to plan: FetchPlan) -> AnswerMeaning {
        if RetryPolicy.isWorthWaiting(forStatus: status) { return .later(status: status) }
        switch status {
        case 401 where answer.withholdsUserInfo: return .refused(.httpStatus, AnswerMeaning.withheldUserInfo)
        case 401 where hasUserInfo: return .refused(.httpStatus, AnswerMeaning.refusedUserInfo)
        // For an impossible length, a redirect, a required login, or a missing or blocked file, a request
        // without a range would not help.
        case 200, 300..<400, 401, 404, 407, 410, 451:
            return .refused(.httpStatus, AnswerMeaning.cause(status: status))
        default: return withoutRange(plan, AnswerMeaning.cause(status: status))
        }
    }

    /// Some servers refuse the `Range` field itself, with any status. Requests for ranges that are answered
    /// after the first such refusal were under way by then, and say nothing new.
    private func withoutRange(_ plan: FetchPlan, _ cause: SafeText) -> AnswerMeaning {
        plan.wanted == nil ? .refused(.httpStatus, cause) : .withoutRange(cause)
    }

    mutating func describe(_ edit: (inout EntryDescription) -> Void) { edit(&description) }
}
