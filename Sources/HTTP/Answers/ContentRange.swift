internal import Media

/// The value of `Content-Range` (RFC 9110 §14.4), already half-open.
enum ContentRange: Equatable, Sendable {
    /// `bytes a-b/total`, nil for a total of `*`.
    case part(ByteRange, total: Int64?)
    /// `bytes */total`, which comes with 416.
    case unsatisfied(total: Int64)

    /// Parses strictly: another unit, a sign, an end before the start or behind the total, or a number
    /// that does not fit is nil, because bytes stored at a guessed place are worse than none.
    init?(parsing text: some StringProtocol) {
        let text = HeaderFields.trimmed(text)
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Self.number(halves[1])
        guard total != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            let range = RangeHeader.range(first: first, last: last)
        else { return nil }
        if let total, last >= total { return nil }
        self = .part(range, total: total)
    }

    /// Digits only, no sign, at most `Int64.max`.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
