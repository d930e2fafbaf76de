package import Media

/// How long what an answer brings may be kept.
package enum Keeping: Equatable, Sendable {
    /// In the cache, for other sessions too.
    case lasting
    /// While it is heard: RFC 9111 §5.2.2.5, and bodies whose bytes are not the resource's own.
    case passing
}

/// Where in a resource one may jump to.
package enum Seekability: Equatable, Sendable {
    case anywhere
    /// Its server sends it only from the start: to what came by now.
    case withinStored
    /// It has no offsets.
    case nowhere
}

extension AnswerMeaning {
    /// How long what `answer`, which means this, brings may be kept; nil where it brings nothing.
    package func keeping(of answer: RangeAnswer) -> Keeping? {
        switch self {
        case .part, .whole: answer.forbidsStoring || answer.isEncoded ? .passing : .lasting
        case .live: .passing
        case .nothingThere, .changed, .weakerCondition, .withoutRange, .later, .refused: nil
        }
    }
}

extension EntryDescription {
    /// Where one may jump to, by what answers told of ranges; `isComplete` where all of it is stored.
    ///
    /// Before the first answer ranges are expected: most servers have them, and a jump finds out.
    package func seekability(isComplete: Bool, isLive: Bool) -> Seekability {
        if isLive { return .nowhere }
        return isComplete || acceptsRanges != false ? .anywhere : .withinStored
    }
}
