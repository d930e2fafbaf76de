import System

/// Decodes text of unknown encoding: as UTF-8 if it is valid UTF-8, else as CP1252.
///
/// In playlists and radio metadata, "Latin-1" means the encoding of Windows, which is CP1252. The encoding is
/// detected for each string, since lists that were joined from several sources mix encodings.
package enum LegacyText {
    /// Decodes `bytes`.
    package static func string(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if let text = String(utf8: bytes) { return text }
        return TextEncoding.windows1252.string(bytes)
    }

    /// Decodes `bytes`.
    package static func string(_ bytes: some Sequence<UInt8>) -> String {
        Array(bytes).withUnsafeBufferPointer { string($0) }
    }

    /// The character of `byte` in CP1252; U+FFFD for the five undefined bytes.
    package static func windowsScalar(_ byte: UInt8) -> Unicode.Scalar {
        scalars[Int(byte)]
    }

    private static let scalars = Array(TextEncoding.windows1252.string(UInt8.min...UInt8.max).unicodeScalars)
}
