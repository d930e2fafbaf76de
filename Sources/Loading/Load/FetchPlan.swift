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
    /// `true` to request stream titles (`Icy-MetaData`): while nothing is stored, the response may be a live
    /// stream.
    package var wantsTitles = false

    /// The bytes that the `Range` header requests; `nil` for none.
    package var asked: ByteRange? {
        guard let wanted else { return nil }
        return (overlap.isEmpty ? wanted.lowerBound : overlap.lowerBound)..<wanted.upperBound
    }
}
