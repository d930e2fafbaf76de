import Media

/// The attributes of a tag (RFC 8216 §4.2): `NAME=VALUE` or `NAME="VALUE"` between commas. A quoted value may
/// have commas.
struct AttributeList {
    /// More than any tag has.
    private static let most = 64

    private var attributes: [(name: String, value: String)] = []

    /// `hasEscapes` states that a backslash in a quoted value escapes the byte after it, against the RFC.
    init(_ text: ByteText, hasEscapes: Bool = false) {
        var rest = text
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")), attributes.count < Self.most {
            // An attribute without a value may stand before the name.
            let before = rest.piece(0..<equals)
            let start = before.lastIndex(of: UInt8(ascii: ",")).map { $0 + 1 } ?? 0
            let name = before.piece(start..<equals).trimmed
            rest = rest.piece(equals + 1..<rest.count).trimmed
            let value: String
            if rest.first == UInt8(ascii: "\"") {
                rest = rest.piece(1..<rest.count)
                let end = Self.closingQuote(of: rest, hasEscapes: hasEscapes)
                let bytes = rest.prefix(end)
                value = LegacyText.string(
                    hasEscapes ? bytes.filter { $0 != UInt8(ascii: "\\") } : Array(bytes)
                )
                rest = rest.piece(end..<rest.count)
            } else {
                let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.count
                value = LegacyText.string(rest.piece(0..<end).trimmed)
            }
            attributes.append((LegacyText.string(name), value))
            let comma = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.count - 1
            rest = rest.piece(min(comma + 1, rest.count)..<rest.count)
        }
    }

    /// The value of the first attribute with this name; `nil` if there is none, or if it is empty.
    subscript(name: String) -> String? {
        attributes.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    private static func closingQuote(of text: ByteText, hasEscapes: Bool) -> Int {
        var isEscaped = false
        let quote = text.firstIndex { byte in
            if isEscaped || byte != UInt8(ascii: "\"") {
                isEscaped = hasEscapes && !isEscaped && byte == UInt8(ascii: "\\")
                return false
            }
            return true
        }
        return quote ?? text.count
    }
}
