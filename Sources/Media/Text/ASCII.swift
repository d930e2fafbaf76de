// All delimiters, digits and keywords of the formats that Reprise reads are ASCII, so parsers work on the
// bytes of UTF-8. Inlinable, because lists of 100,000 entries are parsed byte by byte in another module.

extension UInt8 {
    /// `true` for an ASCII digit.
    @inlinable package var isDigit: Bool { self >= 0x30 && self <= 0x39 }

    /// `true` for an ASCII letter.
    @inlinable package var isLetter: Bool { self | 0x20 >= 0x61 && self | 0x20 <= 0x7A }

    /// An ASCII letter in lower case; every other byte unchanged.
    @inlinable package var lowercaseLetter: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }

    /// `true` for a byte that the scheme of a URL may have (RFC 3986 §3.1).
    @inlinable package var isInScheme: Bool {
        isLetter || isDigit || self == 0x2B || self == 0x2D || self == 0x2E
    }
}

extension Int64 {
    /// Parses ASCII digits without a sign: `.max` for a number that does not fit, `nil` for anything else.
    package init?(digits text: some Collection<UInt8>) {
        guard !text.isEmpty, text.allSatisfy(\.isDigit) else { return nil }
        self = text.reduce(0) { sum, digit in
            let (tens, isLarge) = sum.multipliedReportingOverflow(by: 10)
            let (number, isTooLarge) = tens.addingReportingOverflow(Int64(digit) - 0x30)
            return isLarge || isTooLarge ? .max : number
        }
    }
}
