import Media

/// Collects the facts that responses state about a resource, and determines how to request more of it.
struct LoadAnswers: Sendable {
    private(set) var description: EntryDescription
    private(set) var ifRangeStep = IfRangeStep.entityTag
    /// `true` if the latest part came without a validator.
    private var lacksValidators = false
    /// `true` once ranges did not work and the whole resource was requested.
    private var hasFallenBack = false

    /// Begins with the stored description from an earlier open.
    init(_ description: EntryDescription) {
        self.description = description
        // A server that did not support ranges the last time may support them by now. Trying a range costs
        // nothing, whereas the whole resource would include all stored bytes again.
        if description.acceptsRanges == false { self.description.acceptsRanges = nil }
    }

    /// `true` if only the bytes themselves can show that the response is of the same file.
    var comparesBytes: Bool { description.validators.isEmpty || lacksValidators }

    func isComplete(_ stored: ByteRangeSet) -> Bool {
        description.length.map { stored.covers(0..<$0) } ?? false
    }

    /// The meaning of `answer` to `plan`.
    func meaning(of answer: RangeAnswer, to plan: FetchPlan, stored: ByteRangeSet) -> AnswerMeaning {
        AnswerContext(
            description: description,
            stored: stored,
            step: ifRangeStep,
            hasFallenBack: hasFallenBack
        ).meaning(of: answer, to: plan)
    }

    /// Records the facts about the resource in `answer` to `plan`, whose meaning is `meaning`.
    mutating func learn(_ answer: RangeAnswer, _ meaning: AnswerMeaning, to plan: FetchPlan) {
        switch meaning {
        case .part(let range):
            description.acceptsRanges = !hasFallenBack
            if case .part(_, let total?) = answer.kind, isBelievable(total, range, asked: plan.asked) {
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
                description.length = length
            }
            learnFile(answer)
        case .nothingThere(let end): description.length = end ?? description.length
        case .weakerCondition(let step): ifRangeStep = step
        case .withoutRange:
            hasFallenBack = true
            description.acceptsRanges = false
        case .live, .changed, .later, .refused: break
        }
    }

    /// A body without a stated length ended at `length`.
    mutating func ended(at length: Int64) { description.length = length }

    private mutating func learnFile(_ answer: RangeAnswer) {
        if !answer.validators.isEmpty { description.validators = answer.validators }
        description.contentType = answer.contentType ?? description.contentType
    }

    /// `true` if `total` is the length of the resource. RFC 9110 §14.4 requires it, and a part that extends
    /// beyond it is refused; but some servers state the length of the part instead. So if the stated end is
    /// exactly that of our request, it is verified by a request beyond it, unless the length was already
    /// known.
    private func isBelievable(_ total: Int64, _ range: ByteRange, asked: ByteRange?) -> Bool {
        total != range.upperBound || total != asked?.upperBound || total == description.length
    }

    // MARK: What is stored with the entry besides its bytes

    mutating func keep(seekTable: [UInt8]) { description.seekTable = seekTable }

    mutating func keep(title: SafeText?, artist: SafeText?, duration: Duration?) {
        description.title = title?.string
        description.artist = artist?.string
        description.durationSeconds = duration?.seconds
    }

    /// Drops a stored length that the stored bytes contradict. It comes from a damaged index; the server
    /// states the right one.
    mutating func forgetImpossibleLength(_ stored: ByteRangeSet) {
        guard let length = description.length else { return }
        if length < 0 || stored.ranges.last?.upperBound ?? 0 > length { description.length = nil }
    }
}
