internal import CUtf8proc
import Glibc

/// A text as listeners compare and sort it: without case and accents, and with digits as numbers (`2` before
/// `10`).
///
/// The same in every locale. Created once for each text of a list, so that a comparison only compares bytes.
package struct FoldedText: Comparable, Sendable {
    /// Each run of digits is a `0`, the count of its digits without leading zeros in two bytes, and these
    /// digits.
    private var bytes: [UInt8] = []

    /// Folds `text`, which may be empty.
    package init(_ text: String) {
        let folded = Self.fold(text)
        bytes.reserveCapacity(folded.count + 8)
        var rest = folded[...]
        while let byte = rest.first {
            guard byte.isDigit else {
                bytes.append(byte)
                rest.removeFirst()
                continue
            }
            let number = rest.prefix(while: \.isDigit)
            rest = rest.dropFirst(number.count)
            let digits = number.drop { $0 == UInt8(ascii: "0") }
            let count = UInt16(clamping: digits.count)
            bytes += [UInt8(ascii: "0"), UInt8(count >> 8), UInt8(count & 0xFF)] + digits
        }
    }

    /// Sorts after every text.
    package static let last: FoldedText = {
        var last = FoldedText("")
        last.bytes = [0xFF]
        return last
    }()

    /// A text that sorts by this one, and among equal ones by `second`.
    package func then(_ second: FoldedText) -> FoldedText {
        var both = self
        both.bytes.append(0)
        both.bytes += second.bytes
        return both
    }

    package static func < (left: FoldedText, right: FoldedText) -> Bool {
        let order = memcmp(left.bytes, right.bytes, min(left.bytes.count, right.bytes.count))
        return order == 0 ? left.bytes.count < right.bytes.count : order < 0
    }

    // MARK: Folding

    /// `text` without case, accents, strokes and other marks, in compatible characters (`Été` is `ete`, `Øre`
    /// is `ore`, `ﬁ` is `fi`), as UTF-8.
    package static func fold(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { fold($0) }
    }

    /// Like `fold` above, for a text in UTF-8.
    package static func fold(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        if text.allSatisfy({ $0 < 0x80 }) { return text.map(\.lowercaseLetter) }
        let options = [UTF8PROC_DECOMPOSE, UTF8PROC_COMPAT, UTF8PROC_CASEFOLD, UTF8PROC_STRIPMARK]
        var result: UnsafeMutablePointer<UInt8>?
        let length = utf8proc_map(
            text.baseAddress,
            text.count,
            &result,
            utf8proc_option_t(options.reduce(0) { $0 | $1.rawValue })
        )
        defer { free(result) }
        guard let result, length >= 0 else { return Array(text) }
        return plain(UnsafeBufferPointer(start: result, count: length))
    }

    /// The text that listeners type for letters which Unicode does not decompose, by the letters' two bytes
    /// in UTF-8.
    private static let plainLetters: [UInt16: String] = [
        0xC3A6: "ae", 0xC3B0: "d", 0xC3B8: "o", 0xC3BE: "th", 0xC491: "d", 0xC4A7: "h", 0xC4B1: "i",
        0xC582: "l", 0xC593: "oe", 0xC5A7: "t",
    ]

    private static func plain(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for byte in text {
            // The letters are from U+0080 to U+017F.
            guard let first = bytes.last, (0xC3...0xC5).contains(first), byte >= 0x80,
                let letters = plainLetters[UInt16(first) << 8 | UInt16(byte)]
            else {
                bytes.append(byte)
                continue
            }
            bytes.removeLast()
            bytes += letters.utf8
        }
        return bytes
    }
}
