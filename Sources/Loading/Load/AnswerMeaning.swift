package import Media

/// The meaning of a response for its fetch. It follows from the response, not from what was requested.
package enum AnswerMeaning: Equatable, Sendable {
    /// The body is this part of the resource, which includes the wanted bytes.
    case part(ByteRange)
    /// The body is the resource from its first byte on.
    case whole
    /// The body is a live stream: it has no end and no offsets.
    case live
    /// The resource has nothing at the wanted offset. `end` is its length; `nil` if the response does not
    /// state it.
    case nothingThere(end: Int64?)
    /// The resource is no longer the stored one.
    case changed
    /// The server sent the whole of an unchanged file: it does not support the condition, so the next one is
    /// tried.
    case weakerCondition(IfRangeStep)
    /// The server does not support ranges, or not correctly, for this reason.
    case withoutRange(SafeText)
    /// Refused for now.
    case later(status: Int)
    /// Refused for good.
    case refused(MediaError.Code, SafeText)
}

/// Everything else that the meaning of a response depends on.
package struct AnswerContext: Sendable {
    package var description: EntryDescription
    package var stored: ByteRangeSet
    package var step: IfRangeStep
    /// `true` if the whole resource was already requested because ranges did not work; that is done only
    /// once.
    package var hasFallenBack: Bool

    package init(
        description: EntryDescription = EntryDescription(),
        stored: ByteRangeSet = ByteRangeSet(),
        step: IfRangeStep = .entityTag,
        hasFallenBack: Bool = false
    ) {
        self.description = description
        self.stored = stored
        self.step = step
        self.hasFallenBack = hasFallenBack
    }
}

extension AnswerContext {
    /// The meaning of `answer` to `plan`.
    package func meaning(of answer: RangeAnswer, to plan: FetchPlan) -> AnswerMeaning {
        // If nothing is stored, the decoder decides: the user may have requested a page.
        if !stored.isEmpty, answer.isForeignPage(for: description) {
            let cause = "got a web page instead of the rest; sign in to the network and play it again"
            return .refused(.badAnswer, SafeText(cause))
        }
        if isChanged(answer, to: plan) { return .changed }
        switch answer.kind {
        case .part(let range, let total): return part(range, total: total, of: plan)
        case .whole: return whole(answer, to: plan)
        case .unsatisfiable(let total): return unsatisfiable(total, plan)
        case .refused(let status): return refusal(status, answer, to: plan)
        case .notModified: return .refused(.httpStatus, "the server answers 304 to a plain request")
        }
    }

    private func isChanged(_ answer: RangeAnswer, to plan: FetchPlan) -> Bool {
        guard !stored.isEmpty else { return false }
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
        return answer.contradicts(description)
    }

    private func part(_ range: ByteRange, total: Int64?, of plan: FetchPlan) -> AnswerMeaning {
        guard let wanted = plan.wanted else {
            return .refused(.httpStatus, "the server sends a part of what was asked for as a whole")
        }
        // The server has only the bytes that were requested again for comparison: the resource ends there.
        if !plan.overlap.isEmpty, range == plan.overlap, description.length == nil,
            total ?? range.upperBound == range.upperBound
        {
            return .nothingThere(end: range.upperBound)
        }
        let first = plan.overlap.isEmpty ? wanted.lowerBound : plan.overlap.lowerBound
        guard range.contains(wanted.lowerBound), range.lowerBound <= first else {
            return withoutRange(plan, "the server sends another part than was asked for")
        }
        return .part(range)
    }

    private func whole(_ answer: RangeAnswer, to plan: FetchPlan) -> AnswerMeaning {
        if answer.station != nil, stored.isEmpty { return .live }
        // Ranges worked before, so the server does not support the condition.
        if plan.ifRange != nil, description.acceptsRanges == true,
            let next = step.next(for: description.validators)
        {
            return .weakerCondition(next)
        }
        return .whole
    }

    private func unsatisfiable(_ total: Int64?, _ plan: FetchPlan) -> AnswerMeaning {
        guard let offset = plan.wanted?.lowerBound else {
            return .refused(.httpStatus, "the server answers 416 to a plain request")
        }
        let lastStored = stored.ranges.last?.upperBound ?? 0
        if let total {
            if offset >= total, lastStored <= total { return .nothingThere(end: total) }
            return withoutRange(plan, "the server refuses a part that it says it has")
        }
        // Without a total, the response is informative only if the length is unknown.
        if let length = description.length, offset < length {
            return withoutRange(plan, "the server refuses a part that it says it has")
        }
        if offset == 0 { return withoutRange(plan, "the server refuses the first part") }
        return .nothingThere(end: stored.contains(offset - 1) && lastStored <= offset ? offset : nil)
    }

    private func refusal(_ status: Int, _ answer: RangeAnswer, to plan: FetchPlan) -> AnswerMeaning {
        if RetryPolicy.isWorthWaiting(forStatus: status) { return .later(status: status) }
        switch status {
        case 401 where answer.withholdsUserInfo: return .refused(.httpStatus, Self.withheldUserInfo)
        // Missing, forbidden, or an impossible length: a request without a range would not help.
        case 200, 300..<400, 401, 404, 407, 410, 451: return .refused(.httpStatus, Self.cause(status: status))
        default: return withoutRange(plan, Self.cause(status: status))
        }
    }

    /// Some servers refuse the `Range` field itself, with any status.
    private func withoutRange(_ plan: FetchPlan, _ cause: SafeText) -> AnswerMeaning {
        plan.wanted == nil || hasFallenBack ? .refused(.httpStatus, cause) : .withoutRange(cause)
    }

    /// The cause of a 401 if the password is in a playlist and was not sent.
    package static let withheldUserInfo: SafeText =
        """
        the server asks for a user name and password (401), and those in a playlist are not sent; add this URL \
        with them as a source of your own
        """

    /// The cause of a refusal with `status`, for messages.
    package static func cause(status: Int) -> SafeText {
        switch status {
        case 200: "the server states a length that no file has"
        case 206: "the server sends a part without saying which, or packed"
        case 401: "the server asks for a user name and password (401); put them into the URL"
        case 403: "the server forbids it (403)"
        case 404: "the server has no such file (404)"
        case 407: "the proxy asks for a user name and password (407); put them into the proxy's URL"
        case 408: "the server waited too long for the request (408)"
        case 410: "the server no longer has this file (410)"
        case 429: "the server takes no more requests for now (429)"
        case 451: "the server may not hand it out for legal reasons (451)"
        case 500...599: SafeText("server error \(status); try again later")
        default: SafeText("the server answers \(status)")
        }
    }
}

/// The time for which the bytes of a response may be stored.
package enum StorageTime: Equatable, Sendable {
    /// In the cache, for other sessions too.
    case lasting
    /// Only while the resource plays (`no-store`, RFC 9111 §5.2.2.5; also bodies in a content coding, and
    /// live streams).
    case passing
}

/// The offsets of a resource that a listener may seek to.
package enum Seekability: Equatable, Sendable {
    case anywhere
    /// Only stored offsets: the server sends the resource only from the start.
    case withinStored
    /// None: the resource has no offsets.
    case nowhere
}

extension AnswerMeaning {
    /// The time for which the bytes of `answer`, whose meaning this is, may be stored; `nil` if it has none.
    package func storageTime(of answer: RangeAnswer) -> StorageTime? {
        switch self {
        case .part, .whole: answer.forbidsStoring || answer.isEncoded ? .passing : .lasting
        case .live: .passing
        case .nothingThere, .changed, .weakerCondition, .withoutRange, .later, .refused: nil
        }
    }
}

extension EntryDescription {
    /// The offsets that a listener may seek to; `isComplete` if every byte is stored.
    ///
    /// Before the first response, ranges are assumed to work: most servers support them, and a seek shows if
    /// this one does.
    package func seekability(isComplete: Bool, isLive: Bool) -> Seekability {
        if isLive { return .nowhere }
        return isComplete || acceptsRanges != false ? .anywhere : .withinStored
    }
}

extension RangeAnswer {
    /// `true` if the body is content of the resource; `false` for a 304 or a refusal.
    var isContent: Bool {
        switch kind {
        case .part, .whole: true
        case .unsatisfiable, .notModified, .refused: false
        }
    }

    /// `true` if this is another representation than the one that `known` describes: another length, or
    /// another validator (RFC 9110 §8.8). A value that one of them lacks is no contradiction.
    func contradicts(_ known: EntryDescription) -> Bool {
        let length: Int64?
        switch kind {
        case .part(_, let total): length = total
        case .whole(let whole): length = isEncoded ? nil : whole
        // The meaning of the length in a 416 depends on the request.
        case .unsatisfiable: length = nil
        case .notModified, .refused: return false
        }
        return differ(length, known.length)
            || differ(validators.etag.map(opaque), known.validators.etag.map(opaque))
            || differ(validators.lastModified, known.validators.lastModified)
    }

    /// The tag without its mark of weakness, for the weak comparison of RFC 9110 §8.8.3.2: a server that
    /// compresses its responses sends the tag of one file sometimes as strong and sometimes as weak.
    private func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    private func differ<Value: Equatable>(_ new: Value?, _ old: Value?) -> Bool {
        guard let new, let old else { return false }
        return new != old
    }

    /// `true` if the server sent an HTML page instead of the resource, as captive portals do.
    ///
    /// Such a page says nothing about the resource. If it counted as a change, the cached bytes would be
    /// discarded.
    func isForeignPage(for known: EntryDescription) -> Bool {
        guard case .whole = kind else { return false }
        return contentType == "text/html" && known.contentType != "text/html"
    }
}
