import System

/// Decodes text of unknown encoding: as UTF-8 if it is valid UTF-8, else in the encoding that the user named,
/// and by default as CP1251 if it is very likely Cyrillic, or as CP1252.
///
/// In playlists, tags and radio metadata, "Latin-1" means the encoding of the system that wrote them. The
/// encoding is detected for each string, since lists that were joined from several sources mix encodings.
package enum LegacyText {
    private static let named = Locked<TextEncoding?>(nil)

    /// Decodes all text that is not UTF-8 in `encoding` from now on; `nil` restores the default. The program
    /// calls this once, before it reads any text.
    package static func assume(_ encoding: TextEncoding?) { named.withLock { $0 = encoding } }

    /// Decodes `bytes`, in `encoding` if they are not UTF-8 and it is not `nil`.
    package static func string(_ bytes: UnsafeBufferPointer<UInt8>, or encoding: TextEncoding? = nil)
        -> String
    {
        if let text = String(utf8: bytes) { return text }
        let likely = CyrillicGuess(bytes).isLikely ? TextEncoding.windows1251 : TextEncoding.windows1252
        return (encoding ?? named.withLock { $0 } ?? likely).string(bytes)
    }

    /// Decodes `bytes`, as the other function of this name does.
    package static func string(_ bytes: some Sequence<UInt8>, or encoding: TextEncoding? = nil) -> String {
        Array(bytes).withUnsafeBufferPointer { string($0, or: encoding) }
    }

    /// Decodes `bytes` of a field of fixed length, which may end within a letter of UTF-8.
    package static func string(cut bytes: some BidirectionalCollection<UInt8>) -> String {
        // A letter has up to four bytes, of which the last may be missing.
        for count in 0...3 {
            let whole = bytes.dropLast(count)
            if whole.contains(where: { $0 >= 0x80 }), let text = String(validating: whole, as: UTF8.self) {
                return text
            }
        }
        return string(bytes)
    }

    /// The character of `byte` in CP1252; U+FFFD for the five undefined bytes.
    package static func windowsScalar(_ byte: UInt8) -> Unicode.Scalar { scalars[Int(byte)] }

    private static let scalars = Array(TextEncoding.windows1252.string(UInt8.min...UInt8.max).unicodeScalars)
}

/// Guesses if text is Cyrillic in CP1251 rather than Western in CP1252.
///
/// Cyrillic words consist of bytes from 0xC0 on. In Western text such bytes are accented letters, which stand
/// between ASCII letters. Text counts as Cyrillic if all of this holds, which no Western title known does:
///
/// - No word mixes the two kinds of letters, and no other byte of the upper half occurs but Cyrillic letters
///   and signs.
/// - Upper-case letters only begin a word or fill it.
/// - Words of three letters or more have four Cyrillic letters, or eight if no letter is lower-case.
/// - More than half of these are the eleven commonest letters of Russian.
struct CyrillicGuess {
    /// о е а и н т с р в л к, in lower case.
    private static let common: Set<UInt8> = [
        0xEE, 0xE5, 0xE0, 0xE8, 0xED, 0xF2, 0xF1, 0xF0, 0xE2, 0xEB, 0xEA,
    ]
    /// Ё ё Ґ ґ Є є І і Ї ї, which stand apart from the other letters: the upper-case ones first.
    private static let others: (upper: Set<UInt8>, lower: Set<UInt8>) = (
        [0xA8, 0xA5, 0xAA, 0xB2, 0xAF], [0xB8, 0xB4, 0xBA, 0xB3, 0xBF]
    )
    /// Quotation marks, dashes, the ellipsis, the no-break space, №, ° and ©.
    private static let signs: Set<UInt8> = [
        0x82, 0x84, 0x85, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0xA0, 0xA9, 0xAB, 0xB0, 0xB7, 0xB9, 0xBB,
    ]

    private(set) var isLikely = false

    init(_ text: UnsafeBufferPointer<UInt8>) {
        var letters = 0
        var commonLetters = 0
        var hasLower = false
        for word in text.split(whereSeparator: {
            $0 < 0x80 ? !$0.isLetter : Self.signs.contains($0)
        }) {
            guard word.contains(where: { $0 >= 0x80 }) else { continue }
            let uppers = word.filter { 0xC0...0xDF ~= $0 || Self.others.upper.contains($0) }.count
            let lowers = word.filter { $0 >= 0xE0 || Self.others.lower.contains($0) }.count
            let startsLower = word.first.map { $0 >= 0xE0 || Self.others.lower.contains($0) } == true
            guard uppers + lowers == word.count, lowers == 0 || uppers == (startsLower ? 0 : 1) else {
                return
            }
            guard word.count >= 3 else { continue }
            letters += word.count
            hasLower = hasLower || lowers > 0
            commonLetters += word.filter { Self.common.contains($0 | 0x20) }.count
        }
        isLikely = letters >= (hasLower ? 4 : 8) && commonLetters * 2 > letters
    }
}
