/// A `Range` header with one range of bytes (RFC 9110 §14.1.2, §14.2).
enum RangeField: Sendable, Equatable {
    /// `bytes=A-B`, or `bytes=A-` when `last` is nil; `last` is inclusive, as on the wire.
    case from(Int64, last: Int64?)
    /// `bytes=-N`.
    case suffix(Int64)

    /// nil for what a server ignores: other units, several ranges, bad syntax, last before first.
    init?(parsing value: String) {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (nil, nil): return nil
        case (nil, let count?): self = .suffix(count)
        case (let first?, nil): self = .from(first, last: nil)
        case (let first?, let last?):
            guard first <= last else { return nil }
            self = .from(first, last: last)
        }
    }

    /// The bytes that this names in a resource of `length` bytes; nil when there are none (416).
    func resolved(length: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < length else { return nil }
            return first..<min(last ?? Int64.max - 1, length - 1) + 1
        case .suffix(let count):
            guard count > 0, length > 0 else { return nil }
            return max(0, length - count)..<length
        }
    }

    /// A number too large for any resource counts as the largest one.
    private static func number(_ text: Substring) -> Int64? {
        text.isEmpty ? nil : Int64(text) ?? .max
    }
}
