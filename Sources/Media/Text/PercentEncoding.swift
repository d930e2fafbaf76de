/// Percent-encoding (RFC 3986 §2.1) and dot segments (§5.2.4).
package enum PercentEncoding {
    /// The component of a URL, which determines the reserved characters that need no escape.
    package enum Component: Sendable {
        case path
        case query
    }

    /// Normalises escapes: their digits are in upper case, unreserved characters (letters, digits and `-._~`)
    /// are not escaped, and everything that the component does not allow is escaped as UTF-8. A `%` without
    /// two hexadecimal digits becomes `%25`.
    package static func normalized(_ text: some StringProtocol, keeping component: Component) -> String {
        var text = String(text)
        if text.withUTF8({ isNormal($0, in: component) }) { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == percent, index + 2 < bytes.count,
                let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
            {
                let value = high << 4 | low
                if isUnreserved(value) { result.append(value) } else { appendEscape(value, to: &result) }
                index += 3
                continue
            }
            if isAllowed(byte, in: component) { result.append(byte) } else { appendEscape(byte, to: &result) }
            index += 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Replaces escapes by the characters they stand for; broken UTF-8 becomes U+FFFD.
    package static func decoded(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(percent) else { return String(text) }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == percent, index + 2 < bytes.count,
                let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Resolves the segments `.` and `..`; `..` never leads above the root.
    package static func removingDotSegments(_ path: String) -> String {
        guard mayHaveDotSegments(path.utf8) else { return path }
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
    private static func isNormal(_ bytes: UnsafeBufferPointer<UInt8>, in component: Component) -> Bool {
        var index = 0
        while index < bytes.count {
            if bytes[index] == percent {
                guard index + 2 < bytes.count, isUppercaseHex(bytes[index + 1]),
                    isUppercaseHex(bytes[index + 2]),
                    let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2]),
                    !isUnreserved(high << 4 | low)
                else { return false }
                index += 3
            } else {
                guard isAllowed(bytes[index], in: component) else { return false }
                index += 1
            }
        }
        return true
    }

    private static func isUppercaseHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte)
    }

    /// `true` if a segment starts with a dot; otherwise no segment is `.` or `..`.
    static func mayHaveDotSegments(_ bytes: some Sequence<UInt8>) -> Bool {
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
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func isAllowed(_ byte: UInt8, in component: Component) -> Bool {
        if isUnreserved(byte) { return true }
        switch byte {
        // ! $ & ' ( ) * + , = ; : @ and /
        case 0x21, 0x24, 0x26...0x2C, 0x2F, 0x3A, 0x3B, 0x3D, 0x40: return true
        default: return component == .query && byte == UInt8(ascii: "?")
        }
    }
}
