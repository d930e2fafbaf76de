/// The text of ID3 frames: one byte of encoding, then characters, values separated by NUL.
package enum ID3Text {
    /// Decodes a text frame's payload; several values are joined with `, `, and what cannot be
    /// decoded becomes U+FFFD.
    package static func decode(_ payload: ArraySlice<UInt8>) -> String {
        values(payload).joined(separator: ", ")
    }

    /// Decodes a text frame's payload into its values, without empty ones and blanks around them.
    package static func values(_ payload: ArraySlice<UInt8>) -> [String] {
        guard let encoding = payload.first else { return [] }
        let bytes = Array(payload.dropFirst())
        let text =
            switch encoding {
            case 0: latin1(bytes[...])
            case 1: utf16(bytes, isBigEndian: false)
            case 2: utf16(bytes, isBigEndian: true)
            case 3: String(decoding: bytes, as: UTF8.self)
            // A frame without its encoding byte, as some early writers made them.
            default: latin1(payload)
            }
        return text.split(separator: "\0").map(trimmed).filter { !$0.isEmpty }
    }

    /// ISO 8859-1: every byte is the scalar of its number.
    package static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
        var scalars = String.UnicodeScalarView()
        for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
        return String(scalars)
    }

    /// UTF-16, where every value may begin with its own byte order mark.
    private static func utf16(_ bytes: [UInt8], isBigEndian: Bool) -> String {
        var isBigEndian = isBigEndian
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            let pair = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            switch pair {
            case (0xFE, 0xFF): isBigEndian = true
            case (0xFF, 0xFE): isBigEndian = false
            default: units.append(isBigEndian ? pair.0 << 8 | pair.1 : pair.1 << 8 | pair.0)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// Without the blanks around it, which fixed fields are padded with.
    package static func trimmed(_ text: some StringProtocol) -> String {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }
}
