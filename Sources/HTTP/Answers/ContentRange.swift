internal import Media

/// The value of `Content-Range` (RFC 9110 §14.4), already half-open.
enum ContentRange: Equatable, Sendable {
    /// `bytes a-b/total`, nil for a total of `*`.
    case part(ByteRange, total: Int64?)
    /// `bytes */total`, which comes with 416.
    case unsatisfied(total: Int64)

    /// The largest length and the largest end of a range that is believed, in bytes: a pebibyte, which no
    /// recording comes near, and so little that sums and small products of such numbers cannot overflow.
    static let largest: Int64 = 1 << 50

    /// Parses strictly: another unit, a sign, an end before the start or behind the total, or a length or
    /// end above `largest` is nil, because bytes stored at a guessed place are worse than none.
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
            let range = RangeHeader.range(first: first, last: last), range.upperBound <= Self.largest
        else { return nil }
        if let total, last >= total { return nil }
        self = .part(range, total: total)
    }

    /// Digits only, no sign; what does not fit is `Int64.max`. Nil for anything else.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }
}
