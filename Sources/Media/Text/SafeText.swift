import System

/// Text that may be written to a screen, a terminal's title or a log.
///
/// Untrusted text becomes `SafeText` only through the sanitiser in `init(_:)`, so a value never contains a
/// control character (C0, DEL, C1), a line break or a bidirectional control. Those could control the
/// terminal, forge a second log line or reverse the order of letters.
package struct SafeText: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The most scalars, more than any title needs. The limit prevents a hostile tag from flooding the screen
    /// or the log.
    package static let longest = 2_000

    /// The most combining marks of one character, more than any language uses.
    private static let mostMarks = 8

    /// The sanitised text.
    package let string: String

    /// Sanitises `outside`: line breaks and tabs become spaces, other controls U+FFFD; text beyond `longest`
    /// scalars is replaced by `…`. A byte of a file name that is not UTF-8 becomes `\xE9` (see `FileName`).
    /// Combining marks beyond eight are dropped, since they would cover the lines above and below.
    package init(_ outside: some StringProtocol) {
        // Converted to `String` first, since iterating a generic text costs a call for each byte.
        var text = String(outside)
        if text.utf8.count <= Self.longest, text.withUTF8({ $0.allSatisfy { (0x20..<0x7F).contains($0) } }) {
            string = text
            return
        }
        var scalars = String.UnicodeScalarView()
        var count = 0
        var marks = 0
        for scalar in text.unicodeScalars {
            marks = scalar.value >= 0x300 && scalar.properties.isGraphemeExtend ? marks + 1 : 0
            if marks > Self.mostMarks { continue }
            let escaped = FileName.escapedByte(scalar)
            count += escaped == nil ? 1 : 4
            if count > Self.longest {
                scalars.append("…")
                break
            }
            guard let escaped else {
                scalars.append(Self.harmless(scalar))
                continue
            }
            let digits = String(escaped, radix: 16, uppercase: true)
            scalars.append(contentsOf: ("\\x" + (escaped < 16 ? "0" : "") + digits).unicodeScalars)
        }
        string = String(scalars)
    }

    /// Creates a text of the program itself. Sanitised too, since `SafeText("…")` with a literal calls this
    /// initialiser instead of `init(_:)`.
    package init(stringLiteral value: StaticString) {
        self.init(value.description)
    }

    package var description: String { string }
    package var isEmpty: Bool { string.isEmpty }

    package static func + (left: SafeText, right: SafeText) -> SafeText {
        SafeText(left.string + right.string)
    }

    private static func harmless(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x09...0x0D, 0x85, 0x2028, 0x2029: " "
        case 0x00..<0x20, 0x7F...0x9F: "\u{FFFD}"
        // Left-to-right and right-to-left marks, embeddings, overrides and isolates (UAX #9).
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: "\u{FFFD}"
        // Invisible operators, tags and the byte order mark, which can hide text.
        case 0x2060...0x2065, 0x206A...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: "\u{FFFD}"
        default: scalar
        }
    }
}
