import Media

/// The numbers of tags and attributes (RFC 8216 §4.2). What a list states is untrusted, so each is bounded.
enum ListNumbers {
    /// The bound of a duration, 11 days in microseconds. With it, no sum over a list overflows.
    private static let longest: Int64 = 1_000_000_000_000
    /// The bound of offsets and lengths, larger than any file of music (4 TiB): the ranges of all segments of
    /// a list are added up.
    static let farthest: Int64 = 1 << 42
    /// The bound of sequence numbers, larger than nanoseconds since 1970.
    private static let highest: Int64 = 1 << 61

    /// The seconds at the beginning of `text`, in microseconds; `nil` if they are missing, negative, not a
    /// number or longer than 11 days.
    static func microseconds(_ text: some Collection<UInt8>) -> Int64? {
        let whole = text.prefix(while: \.isDigit)
        guard let seconds = Int64(digits: whole), seconds < longest / 1_000_000 else { return nil }
        let rest = text.dropFirst(whole.count)
        return seconds * 1_000_000 + (rest.first == UInt8(ascii: ".") ? millionths(rest.dropFirst()) : 0)
    }

    /// The first six of the leading digits, as millionths.
    static func millionths(_ text: some Collection<UInt8>) -> Int64 {
        var place: Int64 = 100_000
        var sum: Int64 = 0
        for digit in text.prefix(6) {
            guard digit.isDigit else { break }
            sum += (Int64(digit) - 0x30) * place
            place /= 10
        }
        return sum
    }

    /// The same for a number with a sign, as that of EXT-X-START (§4.3.5.2).
    static func signedMicroseconds(_ text: some Collection<UInt8>) -> Int64? {
        guard text.first == UInt8(ascii: "-") else { return microseconds(text) }
        return microseconds(text.dropFirst()).map { -$0 }
    }

    /// A sequence number; 0 if it is no number.
    static func sequence(_ text: some Collection<UInt8>) -> Int64 {
        min(Int64(digits: text) ?? 0, highest)
    }

    /// The range `LENGTH@OFFSET` (§4.3.2.2), which begins at `implied` if it states no offset; `nil` if it is
    /// none.
    static func byteRange(_ text: some Collection<UInt8>, implied: Int64) -> ByteRange? {
        let parts = text.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count <= 2, let length = Int64(digits: parts[0]), length > 0, length <= farthest else {
            return nil
        }
        guard let offset = parts.count == 2 ? Int64(digits: parts[1]) : implied, offset <= farthest else {
            return nil
        }
        return offset..<offset + length
    }

    /// The 16 bytes of an initialization vector, `0x` and up to 32 hexadecimal digits (§4.3.2.4); `nil` if it
    /// is none.
    static func initializationVector(_ text: String) -> [UInt8]? {
        guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
        let digits = text.dropFirst(2).compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count - 2, (1...32).contains(digits.count) else { return nil }
        let padded = Array(repeating: 0, count: 32 - digits.count) + digits
        return (0..<16).map { UInt8(padded[2 * $0] << 4 | padded[2 * $0 + 1]) }
    }
}

extension Duration {
    /// The whole microseconds; the nearest bound for a duration of more than 1,000 years.
    var microsecondCount: Int64 {
        let seconds = max(-(1 << 35), min(components.seconds, 1 << 35))
        return seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
