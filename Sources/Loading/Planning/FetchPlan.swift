package import Media

/// One request that the planner has decided on.
package struct FetchPlan: Sendable, Equatable {
    /// Tells apart two fetches of one loader; a result with an old one is dropped.
    package struct ID: Hashable, Sendable, Comparable {
        package var value: Int

        package static func < (left: ID, right: ID) -> Bool { left.value < right.value }
    }

    package var id: ID
    /// What is missing and wanted; nil asks for the whole, of a server without ranges.
    package var wanted: ByteRange?
    /// Stored bytes just before `wanted` that are asked for too, to be compared; empty when there are
    /// validators, which do that better.
    package var overlap: ByteRange
    /// For `If-Range`; nil where nothing is stored or nothing can be compared.
    package var ifRange: String?

    /// What the `Range` header asks for; nil for none.
    package var asked: ByteRange? {
        guard let wanted else { return nil }
        return (overlap.isEmpty ? wanted.lowerBound : overlap.lowerBound)..<wanted.upperBound
    }
}
