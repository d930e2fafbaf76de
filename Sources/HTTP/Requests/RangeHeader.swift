internal import Media

/// The only place that converts between half-open byte ranges and HTTP's inclusive ends.
enum RangeHeader {
    /// The value of `Range` that asks for `range`; `Int64.max` as upper bound leaves the end open.
    static func value(for range: ByteRange) -> String {
        precondition(!range.isEmpty && range.lowerBound >= 0, "an empty range needs no request")
        if range.upperBound == .max { return "bytes=\(range.lowerBound)-" }
        return "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
    }

    /// The half-open range of two inclusive ends; nil when there is none.
    static func range(first: Int64, last: Int64) -> ByteRange? {
        guard first >= 0, first <= last, last < .max else { return nil }
        return first..<last + 1
    }
}
