package import Media

/// One request that the planner has decided on.
package struct FetchPlan: Sendable, Equatable {
    /// Tells apart two fetches of one loader; a result with an old one is dropped.
    package struct ID: Hashable, Sendable, Comparable {
        package var value: Int

        package static func < (left: ID, right: ID) -> Bool { left.value < right.value }
    }

    package var id: ID
    /// Who wants it.
    package var why: FetchReason
    /// What is missing and wanted; nil asks for the whole, of a server without ranges.
    package var wanted: ByteRange?
    /// Stored bytes just before `wanted` that are asked for too, to be compared; empty when there are
    /// validators, which do that better.
    package var overlap: ByteRange
    /// For `If-Range`; nil where nothing is stored or nothing can be compared.
    package var ifRange: String?
    /// Nothing is stored yet: a live stream may answer, and put titles between its bytes.
    package var wantsTitles = false

    /// What the `Range` header asks for; nil for none.
    package var asked: ByteRange? {
        guard let wanted else { return nil }
        return (overlap.isEmpty ? wanted.lowerBound : overlap.lowerBound)..<wanted.upperBound
    }
}

/// The steps by which a server is asked to send a part only of what is stored already (`If-Range`, RFC 9110
/// §13.1.5): some compare the entity tag, some only the date, and some neither.
package enum IfRangeStep: Sendable, Equatable {
    case entityTag
    case date
    /// A plain range; the answer's own validators are compared.
    case comparison

    /// What `If-Range` carries at this step; nil for nothing.
    func condition(for validators: Validators) -> String? {
        switch self {
        case .entityTag: validators.ifRange
        case .date: validators.lastModified
        case .comparison: nil
        }
    }

    /// The next step for a server that sent the whole of an unchanged file; nil where there is none.
    func next(for validators: Validators) -> IfRangeStep? {
        switch self {
        case .entityTag: validators.ifRange == validators.lastModified ? .comparison : .date
        case .date: .comparison
        case .comparison: nil
        }
    }
}
