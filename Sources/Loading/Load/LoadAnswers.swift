import Media

/// Collects the facts that answers tell of a resource, and how its server is to be asked for more.
struct LoadAnswers: Sendable {
    private(set) var description: EntryDescription
    private(set) var ifRangeStep = IfRangeStep.entityTag
    /// `true` if the newest part came without a validator.
    private var lacksValidators = false
    /// `true` once ranges proved to be of no use and the whole was asked for.
    private var hasFallenBack = false

    /// Begins with what an earlier open left.
    init(_ description: EntryDescription) {
        self.description = description
        // A server that had no ranges the last time may have them by now. Asking costs nothing, while the whole from its
        // first byte costs what is stored once more.
        if description.acceptsRanges == false { self.description.acceptsRanges = nil }
    }

    /// `true` if only the bytes themselves tell whether what comes is of the same file.
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

    /// Takes what `answer` to `plan`, which means `meaning`, tells of the resource.
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
            // A 200 to a ranged request is the whole from its first byte: this server has no ranges.
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

    /// `true` if `total` is the length of the resource. RFC 9110 §14.4 demands it, and a part that goes beyond it is
    /// refused; but some servers put the length of the part there. An end that is just where we asked to stop is looked
    /// behind before it is believed, unless it was known.
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

    /// A stored length that the stored bytes contradict is from a damaged index: the server is asked for it.
    mutating func forgetImpossibleLength(_ stored: ByteRangeSet) {
        guard let length = description.length else { return }
        if length < 0 || stored.ranges.last?.upperBound ?? 0 > length { description.length = nil }
    }
}
