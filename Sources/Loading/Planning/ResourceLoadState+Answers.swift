package import Media

// What an answer means for the resource. The answer decides, never the request.
extension ResourceLoadState {
    /// What the shell does with the body of an answer.
    package enum BodyUse: Equatable, Sendable {
        /// Bytes of the body belong at offsets from `from` on; what goes beyond `end` was not asked for.
        case store(from: Int64, upTo: Int64)
        /// The body is no part of this resource.
        case discard
    }

    package struct AnswerOutcome: Equatable, Sendable {
        package var use: BodyUse
        package var actions: [Action]
        /// The body may be played and not be kept.
        package var forbidsKeeping = false
    }

    /// The head of the answer to fetch `id` came.
    package mutating func fetchAnswered(_ id: FetchPlan.ID, _ answer: RangeAnswer) -> AnswerOutcome {
        // Cancelled meanwhile; its body is of no interest.
        guard var fetch = fetches[id] else { return AnswerOutcome(use: .discard, actions: []) }
        // With nothing stored the decoder has the say: it may be a page that was asked for.
        if !stored.isEmpty, answer.isForeignPage(for: description) {
            let cause = "a web page comes in place of the rest; sign in to the network and play it again"
            return refuse(id, error(.connectionFailed, SafeText(cause)))
        }
        if isChanged(fetch, answer) { return refuse(id, changed()) }
        switch answer.kind {
        case .part(let range, let total):
            guard let wanted = fetch.plan.wanted, let asked = fetch.plan.asked,
                range.lowerBound <= wanted.lowerBound, range.contains(wanted.lowerBound),
                range.lowerBound <= asked.lowerBound || fetch.plan.overlap.isEmpty
            else {
                return refuse(id, error(.httpStatus, "the server sends another part than was asked for"))
            }
            description.acceptsRanges = true
            description.length = total ?? description.length
            learn(answer)
            fetch.end = min(fetch.end, range.upperBound)
            fetch.isAnswered = true
            fetches[id] = fetch
            // Some servers ignore the end that was asked for; another window brings what is behind it.
            return AnswerOutcome(
                use: .store(from: range.lowerBound, upTo: fetch.end),
                actions: wakes() + plan(),
                forbidsKeeping: answer.forbidsStoring
            )
        case .whole(let length):
            // Two requests can both be answered so; one body is enough.
            guard !fetches.contains(where: { $0.key != id && $0.value.isWhole }) else {
                fetches[id] = nil
                return AnswerOutcome(use: .discard, actions: plan())
            }
            // A 200 to a ranged request is the whole from its first byte: this server has no ranges.
            description.acceptsRanges = false
            description.length = answer.isEncoded ? nil : length ?? description.length
            learn(answer)
            fetch.plan.wanted = nil
            fetch.next = 0
            fetch.end = description.length ?? .max
            fetch.isAnswered = true
            fetches[id] = fetch
            return AnswerOutcome(
                use: .store(from: 0, upTo: fetch.end),
                actions: wakes() + plan(),
                forbidsKeeping: answer.forbidsStoring || answer.isEncoded
            )
        case .unsatisfiable(let total):
            fetches[id] = nil
            // Without a total it tells the length only where nobody knows better.
            let end = total ?? (length == nil ? fetch.plan.wanted?.lowerBound : nil)
            if let end, stored.ranges.last?.upperBound ?? 0 <= end { description.length = end }
            // Who waits past the end learns that it is the end; who waits before it is failed.
            let woken = wakes()
            let failures = failReads(in: fetch, error(.cut, "the server has nothing at this place"))
            return AnswerOutcome(use: .discard, actions: woken + failures + plan())
        case .refused(let status):
            return refuse(id, error(.httpStatus, Self.cause(status: status)))
        case .notModified:
            return refuse(id, error(.httpStatus, "the server answers 304 to a plain request"))
        }
    }

    /// The bytes that were asked for again are not those that are stored: another file.
    package mutating func overlapDiffered(_ id: FetchPlan.ID) -> [Action] {
        guard fetches[id] != nil else { return [] }
        return refuse(id, changed()).actions
    }

    /// The body goes on without end; gives it up for good.
    mutating func endless(_ id: FetchPlan.ID) -> [Action] {
        let cause = "the server sends on and on without saying how much; live streams cannot be played yet"
        let error = error(.connectionFailed, SafeText(cause))
        verdict = error
        return [.cancelFetch(id)] + refuse(id, error).actions
    }

    private func isChanged(_ fetch: Fetch, _ answer: RangeAnswer) -> Bool {
        guard !stored.isEmpty else { return false }
        // If-Range was sent and the validator did not match: that is what a 200 then means.
        if case .whole = answer.kind, fetch.plan.ifRange != nil, answer.validators != description.validators {
            return true
        }
        // Servers that ignore If-Range send a part of the new file with the new file's validators.
        return answer.contradicts(description)
    }

    private mutating func changed() -> MediaError {
        let error = error(.resourceChanged, "the file on the server has changed; starting it anew")
        verdict = error
        return error
    }

    private mutating func refuse(_ id: FetchPlan.ID, _ error: MediaError) -> AnswerOutcome {
        guard let fetch = fetches.removeValue(forKey: id) else {
            return AnswerOutcome(use: .discard, actions: [])
        }
        isBackgroundHeld = true
        guard verdict == nil else {
            let others = fetches.keys.sorted().map { Action.cancelFetch($0) }
            fetches = [:]
            let news: [Action] = error.code == .resourceChanged ? [.declareChanged] : []
            return AnswerOutcome(use: .discard, actions: others + wakes() + news)
        }
        return AnswerOutcome(use: .discard, actions: failReads(in: fetch, error) + plan())
    }

    private mutating func learn(_ answer: RangeAnswer) {
        if !answer.validators.isEmpty { description.validators = answer.validators }
        description.contentType = answer.contentType ?? description.contentType
    }

    private func error(_ code: MediaError.Code, _ cause: SafeText) -> MediaError {
        MediaError(code, subject, cause)
    }

    private static func cause(status: Int) -> SafeText {
        switch status {
        case 200: "the server states a length that no file has"
        case 206: "the server sends a part without saying which, or packed"
        case 401: "the server asks for a user name and password (401); put them into the URL"
        case 403: "the server forbids it (403)"
        case 404: "the server has no such file (404)"
        case 410: "the server no longer has this file (410)"
        case 429: "the server takes no more requests for now (429)"
        case 500...599: SafeText("the server has a problem of its own (\(status)); try again later")
        default: SafeText("the server answers \(status)")
        }
    }
}
