internal import Media

/// The value of `Content-Range` (RFC 9110 §14.4), converted to a half-open range.
enum ContentRange: Equatable, Sendable {
    /// `bytes a-b/total`; `nil` for a total of `*`, or none.
    case part(ByteRange, total: Int64?)
    /// `bytes */total`, which comes with 416.
    case unsatisfied(total: Int64)

    /// The largest accepted length and end of a range, in bytes: a pebibyte. No recording is nearly as long,
    /// and sums and small products of such numbers cannot overflow.
    static let largest: Int64 = 1 << 50

    /// Parses the punctuation as servers write it: `bytes=a-b/total`, spaces around each number, no total.
    /// But returns `nil` for another unit, a sign, an end before the start or beyond the total, and a length
    /// or end above `largest`, because bytes stored at a guessed offset are worse than none.
    init?(parsing text: some StringProtocol) {
        let text = ResponseHead.trimmed(text)
        let numbers = text.dropFirst(5).drop { " \t=:".contains($0) }
        guard text.prefix(5).lowercased() == "bytes", numbers.count < text.count - 5 else { return nil }
        let halves = numbers.split(separator: "/", omittingEmptySubsequences: false).map(ResponseHead.trimmed)
        guard let range = halves.first, halves.count <= 2 else { return nil }
        let total = halves.count == 2 ? Int64(digits: halves[1].utf8) : nil
        guard total.map({ $0 <= Self.largest }) ?? (halves.count == 1 || halves[1] == "*") else { return nil }
        if range == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = range.split(separator: "-", omittingEmptySubsequences: false).map(ResponseHead.trimmed)
        guard ends.count == 2, let first = Int64(digits: ends[0].utf8),
            let last = Int64(digits: ends[1].utf8),
            first <= last, last < Self.largest
        else { return nil }
        if let total, last >= total { return nil }
        // HTTP states an inclusive end.
        self = .part(first..<last + 1, total: total)
    }

    /// The `Range` value that requests `range`; an upper bound of `Int64.max` leaves the end open.
    static func request(for range: ByteRange) -> String {
        precondition(!range.isEmpty && range.lowerBound >= 0, "an empty range needs no request")
        if range.upperBound == .max { return "bytes=\(range.lowerBound)-" }
        return "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
    }
}
