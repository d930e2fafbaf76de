package import Media

// What an answer does to the resource.
extension ResourceLoadState {
    /// What the shell does with the body of an answer.
    package enum BodyUse: Equatable, Sendable {
        /// Bytes of the body belong at offsets from `from` on; what goes beyond `end` was not asked for.
        case store(from: Int64, upTo: Int64)
        /// The body is a live stream, and is handed over.
        case live
        /// The body is no part of this resource.
        case discard
    }

    package struct AnswerOutcome: Equatable, Sendable {
        package var use: BodyUse
        package var actions: [Action]
        /// The body may be played and not be kept.
        package var forbidsKeeping = false
        /// Nothing but the bytes themselves tells whether the file is the stored one: each that is stored is
        /// compared.
        package var comparesStored = false
    }

    /// The head of the answer to fetch `id` came.
    package mutating func fetchAnswered(_ id: FetchPlan.ID, _ answer: RangeAnswer) -> AnswerOutcome {
        // Cancelled meanwhile; its body is of no interest.
        guard let fetch = fetches[id] else { return AnswerOutcome(use: .discard, actions: []) }
        takesOneAtATime = answer.wire.takesOneAtATime
        // A new connection beside a request under way tells that it was needed.
        if fetch.isPaired || (fetch.isBeside && answer.wire.reusedConnection == false) { pairedAt = now }
        let context = AnswerContext(
            description: description,
            stored: stored,
            step: ifRangeStep,
            hasFallenBack: hasFallenBack
        )
        let meaning = context.meaning(of: answer, to: fetch.plan)
        var outcome = outcome(of: answer, meaning, for: fetch, id)
        outcome.forbidsKeeping = meaning.keeping(of: answer) == .passing
        return outcome
    }

    private mutating func outcome(
        of answer: RangeAnswer,
        _ meaning: AnswerMeaning,
        for fetch: Fetch,
        _ id: FetchPlan.ID
    ) -> AnswerOutcome {
        switch meaning {
        case .part(let range): return take(range, of: answer, by: id)
        case .whole: return takeWhole(answer, by: id)
        case .live: return AnswerOutcome(use: .live, actions: beginHandOver(of: id))
        case .nothingThere(let end):
            fetches[id] = nil
            retry.progressed()
            // Where nothing was learned, asking for the same gap again brings the same.
            if let end { description.length = end } else { isBackgroundHeld = true }
            // Who waits past the end learns that it is the end; who waits before it is failed.
            let woken = wakes()
            let nothing = error(.cut, "the server has nothing at this place")
            let failures = failReads(nothing) { fetch.remaining.contains($0) }
            return AnswerOutcome(use: .discard, actions: woken + failures + plan())
        case .changed:
            return AnswerOutcome(use: .discard, actions: change(seenBy: id))
        case .weakerCondition(let step):
            fetches[id] = nil
            ifRangeStep = step
            return AnswerOutcome(use: .discard, actions: plan())
        case .withoutRange(let cause):
            fetches[id] = nil
            hasFallenBack = true
            description.acceptsRanges = false
            retry.progressed()
            return AnswerOutcome(use: .discard, actions: [.decided(.withoutRanges, cause)] + plan())
        case .later(let status):
            fetches[id] = nil
            let actions = attemptFailed(
                fetch,
                error(.httpStatus, AnswerContext.cause(status: status)),
                isWorthWaiting: true,
                retryAfter: answer.retryAfter
            )
            return AnswerOutcome(use: .discard, actions: actions)
        case .refused(let code, let cause):
            fetches[id] = nil
            return AnswerOutcome(use: .discard, actions: failForGood(fetch, error(code, cause)))
        }
    }

    /// Stored bytes that came again are not those that are stored: another file.
    package mutating func overlapDiffered(_ id: FetchPlan.ID) -> [Action] {
        fetches[id] == nil ? [] : change(seenBy: id)
    }

    private mutating func take(
        _ range: ByteRange,
        of answer: RangeAnswer,
        by id: FetchPlan.ID
    ) -> AnswerOutcome {
        guard var fetch = fetches[id] else { return AnswerOutcome(use: .discard, actions: []) }
        description.acceptsRanges = !hasFallenBack
        if case .part(_, let total?) = answer.kind, isBelievable(total, range, of: fetch) {
            description.length = total
        }
        lacksValidators = answer.validators.isEmpty
        // A server that ignores the condition sends a part of whatever file it has by now.
        if comparesBytes, !stored.isEmpty, fetch.plan.overlap.isEmpty, uncompared?.newest != id {
            noteUncompared(id)
        }
        learn(answer)
        if let asked = fetch.plan.asked, range.lowerBound < asked.lowerBound {
            fetch.startsEarlier = true
            fetch.next = range.lowerBound
        }
        fetch.end = min(fetch.end, range.upperBound)
        fetch.isAnswered = true
        fetches[id] = fetch
        // Some servers ignore the end that was asked for; another window brings what is behind it.
        return AnswerOutcome(
            use: .store(from: range.lowerBound, upTo: fetch.end),
            actions: wakes() + plan()
        )
    }

    /// Whether `total` is the length of the resource. RFC 9110 §14.4 has it so, and a part that goes beyond it is
    /// refused; but some servers put the length of the part there. An end that is nothing but where we asked to
    /// stop is looked behind before it is believed, unless it was known.
    private func isBelievable(_ total: Int64, _ range: ByteRange, of fetch: Fetch) -> Bool {
        total != range.upperBound || total != fetch.plan.asked?.upperBound || total == description.length
    }

    private mutating func takeWhole(_ answer: RangeAnswer, by id: FetchPlan.ID) -> AnswerOutcome {
        // Two requests can both be answered so; one body is enough.
        guard var fetch = fetches[id], !fetches.contains(where: { $0.key != id && $0.value.isWhole }) else {
            fetches[id] = nil
            return AnswerOutcome(use: .discard, actions: plan())
        }
        let isConfirmed = !description.validators.isEmpty && !answer.validators.isEmpty
        // A 200 to a ranged request is the whole from its first byte: this server has no ranges.
        description.acceptsRanges = false
        if answer.isEncoded {
            description.length = nil
        } else if case .whole(let length?) = answer.kind {
            description.length = length
        }
        learn(answer)
        fetch.plan.wanted = nil
        fetch.next = 0
        fetch.end = description.length ?? .max
        fetch.isAnswered = true
        fetches[id] = fetch
        return AnswerOutcome(
            use: .store(from: 0, upTo: fetch.end),
            actions: wakes() + plan(),
            comparesStored: !isConfirmed && !stored.isEmpty
        )
    }

    /// Ends everything: the resource is another one. The fetch that saw it ends by itself.
    private mutating func change(seenBy id: FetchPlan.ID) -> [Action] {
        fetches[id] = nil
        guard verdict == nil else { return [] }
        let error = error(.resourceChanged, "the file on the server has changed; starting it anew")
        verdict = error
        return cancelAll() + wakes() + [.decided(.changed, error.cause), .declareChanged]
    }

    private mutating func learn(_ answer: RangeAnswer) {
        if !answer.validators.isEmpty { description.validators = answer.validators }
        description.contentType = answer.contentType ?? description.contentType
    }

    private func error(_ code: MediaError.Code, _ cause: SafeText) -> MediaError {
        MediaError(code, subject, cause)
    }
}
