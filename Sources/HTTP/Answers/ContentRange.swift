internal import Media

/// The value of `Content-Range` (RFC 9110 §14.4), already half-open.
enum ContentRange: Equatable, Sendable {
    /// `bytes a-b/total`; `nil` for a total of `*`.
    case part(ByteRange, total: Int64?)
    /// `bytes */total`, which comes with 416.
    case unsatisfied(total: Int64)

    /// The largest accepted length and end of a range, in bytes: a pebibyte, which no recording comes near, and small
    /// enough that sums and small products of such numbers cannot overflow.
    static let largest: Int64 = 1 << 50

    /// Parses strictly: another unit, a sign, an end before the start or behind the total, or a length or end above
    /// `largest` is `nil`, because bytes stored at a guessed place are worse than none.
    init?(parsing text: some StringProtocol) {
        let text = HeaderFields.trimmed(text)
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Self.number(halves[1])
        guard total.map({ $0 <= Self.largest }) ?? (halves[1] == "*") else { return nil }
        if halves[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, last < Self.largest
        else { return nil }
        if let total, last >= total { return nil }
        // The end that HTTP states is inclusive.
        self = .part(first..<last + 1, total: total)
    }

    /// The value of `Range` that asks for `range`; `Int64.max` as upper bound leaves the end open.
    static func request(for range: ByteRange) -> String {
        precondition(!range.isEmpty && range.lowerBound >= 0, "an empty range needs no request")
        if range.upperBound == .max { return "bytes=\(range.lowerBound)-" }
        return "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
    }

    /// Parses digits only, without a sign; a number that does not fit is `Int64.max`. `nil` for anything else.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }
}
