import System

/// Decodes text of unknown encoding: as UTF-8 if it is valid UTF-8, else as CP1252.
///
/// In playlists and radio metadata, "Latin-1" means the encoding of Windows, which is CP1252. The encoding is
/// detected for each string, since lists that were joined from several sources mix encodings.
package enum LegacyText {
    /// Decodes `bytes`.
    package static func string(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if let text = String(utf8: bytes) { return text }
        var scalars = String.UnicodeScalarView()
        for byte in bytes { scalars.append(windowsScalar(byte)) }
        return String(scalars)
    }

    /// Decodes `bytes`.
    package static func string(_ bytes: some Sequence<UInt8>) -> String {
        Array(bytes).withUnsafeBufferPointer { string($0) }
    }

    /// The character of `byte` in CP1252; U+FFFD for the five undefined bytes.
    ///
    /// Browsers map those five to C1 controls, which could control a terminal; a replacement character
    /// cannot.
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
