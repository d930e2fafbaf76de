/// Text from outside that does not say its encoding: UTF-8, and where the bytes are not, CP1252.
///
/// `Latin-1` in the world of playlists and radio stations means what Windows wrote, which is CP1252. The
/// choice is made string by string: lists that were joined from several sources mix the two.
package enum LegacyText {
    /// The text that `bytes` spell.
    package static func string(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var scalars = String.UnicodeScalarView()
        for byte in bytes { scalars.append(windowsScalar(byte)) }
        return String(scalars)
    }

    /// The text that `bytes` spell.
    package static func string(_ bytes: some Sequence<UInt8>) -> String {
        Array(bytes).withUnsafeBufferPointer { string($0) }
    }

    /// The character of `byte` in CP1252; U+FFFD for the five bytes that have none.
    ///
    /// Browsers map those five to C1 controls; a replacement character cannot steer anything.
    package static func windowsScalar(_ byte: UInt8) -> Unicode.Scalar {
        guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
        return upperScalars[Int(byte) - 0x80]
    }

    /// 0x80 to 0x9F, where CP1252 differs from ISO 8859-1.
    private static let upperScalars: [Unicode.Scalar] = [
        "€", "\u{FFFD}", "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", "\u{FFFD}", "Ž", "\u{FFFD}",
        "\u{FFFD}", "‘", "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", "\u{FFFD}", "ž", "Ÿ",
    ]
}
