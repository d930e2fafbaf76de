package import Media

/// One request that the planner has decided to send.
package struct FetchPlan: Sendable, Equatable {
    /// Counts up through the life of a loader; a result with an old number is ignored.
    package struct ID: Hashable, Sendable, Comparable {
        package var value: Int

        package static func < (left: ID, right: ID) -> Bool { left.value < right.value }
    }

    package var id: ID
    /// Its priority.
    package var why: FetchReason
    /// The missing bytes that are wanted; `nil` asks for the whole, from a server without ranges.
    package var wanted: ByteRange?
    /// Stored bytes just before `wanted` that are fetched again and compared; empty if there are validators, which do
    /// that better.
    package var overlap: ByteRange
    /// For `If-Range`; `nil` if nothing is stored or nothing can be compared.
    package var ifRange: String?
    /// `true` while nothing is stored: a live stream may answer, and put titles between its bytes.
    package var wantsTitles = false

    /// The bytes that the `Range` header asks for; `nil` for none.
    package var asked: ByteRange? {
        guard let wanted else { return nil }
        return (overlap.isEmpty ? wanted.lowerBound : overlap.lowerBound)..<wanted.upperBound
    }
}

/// How a server is asked for a part on condition that the file is unchanged (`If-Range`, RFC 9110 §13.1.5): some
/// compare the entity tag, some only the date, and some neither.
package enum IfRangeStep: Sendable, Equatable {
    case entityTag
    case date
    /// A plain range; the answer's own validators are compared.
    case comparison

    /// The value of `If-Range` at this step; `nil` for none.
    func condition(for validators: Validators) -> String? {
        switch self {
        case .entityTag: validators.ifRange
        case .date: validators.lastModified
        case .comparison: nil
        }
    }

    /// The next step for a server that sent the whole of an unchanged file; `nil` after the last.
    func next(for validators: Validators) -> IfRangeStep? {
        switch self {
        case .entityTag: validators.ifRange == validators.lastModified ? .comparison : .date
        case .date: .comparison
        case .comparison: nil
        }
    }
}
