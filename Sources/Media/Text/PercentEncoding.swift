package import System

/// Percent-encoding (RFC 3986 §2.1) and dot segments (§5.2.4).
package enum PercentEncoding {
    /// Normalises the escapes of a path or query: their digits are in upper case, unreserved characters
    /// (letters, digits and `-._~`) are not escaped, and everything that a query does not allow is escaped as
    /// UTF-8. A `%` without two hexadecimal digits becomes `%25`.
    package static func normalized(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if isNormal(bytes) { return String(decoding: bytes, as: UTF8.self) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let escaped = escapedByte(at: index, of: bytes)
            let byte = escaped ?? bytes[index]
            let isKept = escaped == nil ? isAllowed(byte) : isUnreserved(byte)
            if isKept { result.append(byte) } else { appendEscape(byte, to: &result) }
            index += escaped == nil ? 1 : 3
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Escapes every byte that a path does not allow, `%` too.
    package static func escaped(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        for byte in bytes {
            if byte != UInt8(ascii: "?"), isAllowed(byte) {
                result.append(byte)
            } else {
                appendEscape(byte, to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Replaces escapes by the characters they stand for; broken UTF-8 becomes U+FFFD.
    package static func decoded(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(percent) else { return String(text) }
        return String(decoding: decodedBytes(text), as: UTF8.self)
    }

    /// Replaces escapes by the bytes they stand for.
    package static func decodedBytes(_ text: some StringProtocol) -> [UInt8] {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let escaped = escapedByte(at: index, of: bytes)
            result.append(escaped ?? bytes[index])
            index += escaped == nil ? 1 : 3
        }
        return result
    }

    /// Resolves the segments `.` and `..`; `..` never leads above the root.
    package static func removingDotSegments(_ path: String) -> String {
        var path = path
        guard path.withUTF8({ mayHaveDotSegments($0) }) else { return path }
        var result: [Substring] = []
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".":
                if isLast { result.append("") }
            case "..":
                if result.count > 1 { result.removeLast() }
                if isLast { result.append("") }
            default: result.append(part)
            }
        }
        return result.joined(separator: "/")
    }

    /// `true` if `normalized` would change nothing. This is so for most URLs, for which one pass suffices.
    private static func isNormal(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            if bytes[index] == percent {
                guard let byte = escapedByte(at: index, of: bytes), !isUnreserved(byte) else { return false }
                let areUppercase =
                    bytes[index + 1] < UInt8(ascii: "a") && bytes[index + 2] < UInt8(ascii: "a")
                guard areUppercase else { return false }
                index += 3
            } else {
                guard isAllowed(bytes[index]) else { return false }
                index += 1
            }
        }
        return true
    }

    /// The byte that the escape at `index` stands for; `nil` if there is no escape.
    private static func escapedByte<Bytes: Collection<UInt8>>(at index: Int, of bytes: Bytes) -> UInt8?
    where Bytes.Index == Int {
        guard bytes[index] == percent, index + 2 < bytes.count, let high = hexValue(bytes[index + 1]),
            let low = hexValue(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    /// `true` if a segment starts with a dot; otherwise no segment is `.` or `..`.
    private static func mayHaveDotSegments(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var isStart = true
        for byte in bytes {
            if isStart, byte == UInt8(ascii: ".") { return true }
            isStart = byte == UInt8(ascii: "/")
        }
        return false
    }

    private static let percent = UInt8(ascii: "%")

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func appendEscape(_ byte: UInt8, to result: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        result.append(percent)
        result.append(digits[Int(byte >> 4)])
        result.append(digits[Int(byte & 15)])
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        // - . _ ~
        byte.isLetter || byte.isDigit || byte == 0x2D || byte == 0x2E || byte == 0x5F || byte == 0x7E
    }

    /// `true` if a query allows `byte`. A path allows the same, except for the `?` that would end it.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        // ! $ & ' ( ) * + , = ; : @ / and ?
        case 0x21, 0x24, 0x26...0x2C, 0x2F, 0x3A, 0x3B, 0x3D, 0x3F, 0x40: true
        default: isUnreserved(byte)
        }
    }
}

extension FileName {
    /// The `file` URL of `path` (RFC 8089), in ASCII.
    package static func url(of path: String) -> String {
        "file://" + PercentEncoding.escaped(bytes(of: path))
    }
}
