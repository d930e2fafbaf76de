internal import CUtf8proc
import Glibc

/// The normal forms of Unicode (UAX #15) that file names are written in: `é` is one character, or `e` and an
/// accent.
///
/// A list from macOS often has the decomposed form, while the files were copied in the composed one.
package enum NormalForm: CaseIterable {
    /// NFC.
    case composed
    /// NFD.
    case decomposed

    /// `text` in this form; `text` itself if it is too long or no valid text.
    package func form(of text: String) -> String {
        var text = text
        let option = self == .composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE
        return text.withUTF8 { bytes in
            var result: UnsafeMutablePointer<UInt8>?
            let options = utf8proc_option_t(option.rawValue | UTF8PROC_STABLE.rawValue)
            let length = utf8proc_map(bytes.baseAddress, bytes.count, &result, options)
            defer { free(result) }
            guard let result, length >= 0 else { return String(decoding: bytes, as: UTF8.self) }
            return String(decoding: UnsafeBufferPointer(start: result, count: length), as: UTF8.self)
        }
    }
}
