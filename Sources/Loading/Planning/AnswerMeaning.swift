package import Media

/// What an answer means for the fetch that it answers. The answer decides, never the request.
package enum AnswerMeaning: Equatable, Sendable {
    /// The body is this part of the resource; the wanted bytes are in it.
    case part(ByteRange)
    /// The body is the resource from its first byte on.
    case whole
    /// The body is a live stream: it has no end and no offsets.
    case live
    /// Nothing lies at the wanted place; `end` is where the resource ends, nil when that is not told.
    case nothingThere(end: Int64?)
    /// The resource is another one than the one that is stored.
    case changed
    /// The file is the same and was sent whole all the same: this server compares something else.
    case weakerCondition(IfRangeStep)
    /// The server's ranges are of no use; the text says why.
    case withoutRange(SafeText)
    /// Refused for now.
    case later(status: Int)
    /// Refused for good.
    case refused(MediaError.Code, SafeText)
}

/// What is known of a resource when an answer comes.
package struct AnswerContext: Sendable {
    package var description: EntryDescription
    package var stored: ByteRangeSet
    package var step: IfRangeStep
    /// The whole was asked for already since ranges were of no use; it is not asked for twice.
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
    /// What `answer` to `plan` means.
    package func meaning(of answer: RangeAnswer, to plan: FetchPlan) -> AnswerMeaning {
        // With nothing stored the decoder has the say: it may be a page that was asked for.
        if !stored.isEmpty, answer.isForeignPage(for: description) {
            let cause = "a web page comes in place of the rest; sign in to the network and play it again"
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
            // The condition was sent and the answer does not confirm it: that is what a 200 then means.
            if let sent = plan.ifRange, answer.validators.ifRange != sent,
                answer.validators.lastModified != sent
            {
                return true
            }
        case .unsatisfiable(let total?):
            // A server that found the condition true speaks of the same file: then only the length was wrong.
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
        // Of what was asked for only the bytes that are here already exist.
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
        // Where ranges worked before, it is the condition that this server does not understand.
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
        // Without a total it tells something only where nobody knows better.
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
        // Not there, not for us, or a length that no file has: asking otherwise changes nothing.
        case 200, 300..<400, 401, 404, 407, 410, 451: return .refused(.httpStatus, Self.cause(status: status))
        default: return withoutRange(plan, Self.cause(status: status))
        }
    }

    /// Some servers refuse the `Range` field itself, with any status.
    private func withoutRange(_ plan: FetchPlan, _ cause: SafeText) -> AnswerMeaning {
        plan.wanted == nil || hasFallenBack ? .refused(.httpStatus, cause) : .withoutRange(cause)
    }

    /// What a 401 means to a listener whose playlist has the password that was asked for.
    package static let withheldUserInfo: SafeText =
        """
        the server asks for a user name and password (401), and those in a playlist are not sent; add this URL \
        with them as a source of your own
        """

    /// What a refusal with `status` means to the listener.
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
        case 500...599: SafeText("the server has a problem of its own (\(status)); try again later")
        default: SafeText("the server answers \(status)")
        }
    }
}
