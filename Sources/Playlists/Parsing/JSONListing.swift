import Media

/// Parses the JSON of nginx's `autoindex_format json`: an array of flat objects with `name` and `type`. Pure.
///
/// Strict: any other JSON, and any JSON that is cut, is no listing.
struct JSONListing {
    private let bytes: ByteText
    private var index = 0

    /// The names in the listing as relative URL references, those of folders with a final `/`; `nil` if
    /// `text` is no listing.
    static func names(in text: ByteText) -> [String]? {
        var listing = JSONListing(bytes: text)
        return listing.array()
    }

    private init(bytes: ByteText) { self.bytes = bytes }

    private mutating func array() -> [String]? {
        guard take("[") else { return nil }
        var names: [String] = []
        if take("]") { return isAtEnd ? names : nil }
        repeat {
            guard let name = object() else { return nil }
            names.append(name)
        } while take(",")
        return take("]") && isAtEnd ? names : nil
    }

    /// Parses one object; `nil` unless it has a name, and a type that nginx writes.
    private mutating func object() -> String? {
        guard take("{") else { return nil }
        var fields: [String: String] = [:]
        repeat {
            guard let key = string(), take(":"), let value = value() else { return nil }
            fields[key] = value
        } while take(",")
        guard take("}"), let name = fields["name"], !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
        switch fields["type"] {
        case "directory": return Self.reference(to: name) + "/"
        case "file", "other": return Self.reference(to: name)
        default: return nil
        }
    }

    /// A reference to the file called `name` in the same folder.
    private static func reference(to name: String) -> String {
        var bytes: [UInt8] = Array("./".utf8)
        for byte in name.utf8 {
            // These would end the path, or be taken for an escape.
            switch byte {
            case UInt8(ascii: "%"): bytes += "%25".utf8
            case UInt8(ascii: "?"): bytes += "%3F".utf8
            case UInt8(ascii: "#"): bytes += "%23".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Parses a string, or a number or word, whose text is not needed.
    private mutating func value() -> String? {
        skipSpace()
        guard index < bytes.count else { return nil }
        if bytes[index] == UInt8(ascii: "\"") { return string() }
        let start = index
        while index < bytes.count, Self.isPlain(bytes[index]) { index += 1 }
        return index > start ? "" : nil
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return LegacyText.string(text)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += String(scalar).utf8
            case ..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    /// Parses what follows a backslash (RFC 8259 §7).
    private mutating func escape() -> Unicode.Scalar? {
        guard index < bytes.count else { return nil }
        defer { index += 1 }
        switch bytes[index] {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"):
            // nginx escapes only control characters so, which need no pair of surrogates.
            guard index + 4 < bytes.count else { return nil }
            let digits = String(decoding: bytes.piece(index + 1..<index + 5), as: UTF8.self)
            index += 4
            return UInt32(digits, radix: 16).flatMap { Unicode.Scalar($0) }
        case let byte: return Unicode.Scalar(byte)
        }
    }

    /// Skips space, and then `character` if it is next.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
    }

    private var isAtEnd: Bool { bytes.piece(index..<bytes.count).trimmed.isEmpty }

    /// `true` for the bytes of numbers, `true`, `false` and `null`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.decimalDigit != nil || (0x61...0x7A).contains(byte.lowercaseLetter)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
    }
}
