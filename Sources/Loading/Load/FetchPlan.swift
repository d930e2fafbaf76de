package import Media

/// One request that the planner has decided to send.
package struct FetchPlan: Sendable, Equatable {
    /// Increases during the life of a loader; a result with an old number is ignored.
    package struct ID: Hashable, Sendable, Comparable {
        package var value: Int

        package static func < (left: ID, right: ID) -> Bool { left.value < right.value }
    }

    package var id: ID
    /// Its priority.
    package var urgency: Urgency
    /// The missing bytes that are wanted; `nil` to request the whole resource from a server without ranges.
    package var wanted: ByteRange?
    /// Stored bytes just before `wanted` that are fetched again and compared; empty if there are none, or if
    /// there are validators, which are more reliable.
    package var overlap: ByteRange
    /// The value of `If-Range`; `nil` for an unconditional request.
    package var ifRange: String?
    /// `true` to request stream titles (`Icy-MetaData`): while nothing is stored, the response may be a live
    /// stream.
    package var wantsTitles = false

    /// The bytes that the `Range` header requests; `nil` for none.
    package var asked: ByteRange? {
        guard let wanted else { return nil }
        return (overlap.isEmpty ? wanted.lowerBound : overlap.lowerBound)..<wanted.upperBound
    }
}

/// The way to request a part on condition that the file is unchanged (`If-Range`, RFC 9110 §13.1.5): some
/// servers compare the entity tag, some only the date, and some neither.
package enum IfRangeStep: Sendable, Equatable {
    case entityTag
    case date
    /// A range request without a condition; the loader compares the validators of the response.
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
