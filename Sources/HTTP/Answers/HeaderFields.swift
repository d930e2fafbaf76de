internal import Media

/// The header fields of one response, in the order of their arrival.
///
/// Names are compared without regard to case (RFC 9110 §5.1). Servers are not trusted: a malformed field is
/// dropped, and a response with too many fields or bytes is refused.
struct HeaderFields: Equatable, Sendable {
    enum Problem: Error, Equatable {
        case tooManyFields
        case tooManyBytes
    }

    private struct Field: Equatable, Sendable {
        /// The name in lower case.
        var name: String
        var value: String
        /// The value as sent, if it is not UTF-8.
        var foreignBytes: [UInt8]?
    }

    /// The limit of fields: no honest server sends as many, and each takes memory and slows down every
    /// look-up.
    static let mostFields = 200
    /// The limit of all fields. For comparison, servers accept 8 to 64 KiB in a request.
    static let mostBytes = 64 * 1024

    private var fields: [Field] = []
    private var byteCount = 0
    /// `true` if the previous line was dropped, so that its continuation lines must be dropped too.
    private var lastWasDropped = false

    init() {}

    /// Creates fields from pairs, without limits.
    init(_ pairs: KeyValuePairs<String, String>) {
        fields = pairs.map { Field(name: $0.key.lowercased(), value: $0.value) }
    }

    /// Appends one line as received, with or without its line end.
    mutating func append(line bytes: some Collection<UInt8>) throws(Problem) {
        byteCount += bytes.count
        guard byteCount <= Self.mostBytes else { throw .tooManyBytes }
        let text = String(decoding: bytes, as: UTF8.self)
        if text.unicodeScalars.first.map({ $0 == " " || $0 == "\t" }) == true {
            appendFolded(text)
            return
        }
        lastWasDropped = true
        guard let colon = text.firstIndex(of: ":") else { return }
        let name = text[..<colon]
        let value = Self.trimmed(text[text.index(after: colon)...])
        guard Self.isName(name), Self.isValue(value) else { return }
        guard fields.count < Self.mostFields else { throw .tooManyFields }
        var field = Field(name: name.lowercased(), value: String(value))
        if field.value.unicodeScalars.contains("\u{FFFD}"),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        {
            field.foreignBytes = Array(bytes[colon...].dropFirst())
        }
        fields.append(field)
        lastWasDropped = false
    }

    /// Every value of `name`, which must be in lower case, in the order of their arrival.
    func values(_ name: String) -> [String] {
        fields.lazy.filter { $0.name == name }.map(\.value)
    }

    /// The first value of `name`, which must be in lower case.
    func first(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// The first value of `name`, which must be in lower case, as text for display. A value that is not UTF-8
    /// is read as Latin-1, the old default (RFC 9110 §5.5).
    func text(_ name: String) -> String? {
        guard let field = fields.first(where: { $0.name == name }) else { return nil }
        return field.foreignBytes.map { LegacyText.string($0) } ?? field.value
    }

    /// `true` if the name of a field begins with `prefix`, which must be in lower case.
    func hasName(withPrefix prefix: String) -> Bool { fields.contains { $0.name.hasPrefix(prefix) } }

    /// The members of all lists of `name` (RFC 9110 §5.6.1), in lower case, without empty ones.
    func tokens(_ name: String) -> [String] {
        values(name).flatMap { value in
            value.split(separator: ",").map { Self.trimmed($0).lowercased() }.filter { !$0.isEmpty }
        }
    }

    /// `true` if `text` can be the value of a field: it has no control characters except tabs, and so no line
    /// breaks.
    static func isValue(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }

    /// `true` if `text` is a token (RFC 9110 §5.6.2), as the name of a field must be.
    static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
            }
    }

    /// `text` without white space and line ends around it.
    static func trimmed(_ text: some StringProtocol) -> Substring {
        let isSpace = { (scalar: Unicode.Scalar) in " \t\r\n".unicodeScalars.contains(scalar) }
        var scalars = Substring(String(text)).unicodeScalars
        while let first = scalars.first, isSpace(first) { scalars.removeFirst() }
        while let last = scalars.last, isSpace(last) { scalars.removeLast() }
        return Substring(scalars)
    }

    /// Appends a line that begins with a space or tab, and so continues the previous one (RFC 9112 §5.2;
    /// obsolete, but still sent).
    private mutating func appendFolded(_ text: String) {
        let more = Self.trimmed(text)
        guard !lastWasDropped, !fields.isEmpty, Self.isValue(more) else { return }
        fields[fields.count - 1].value += " " + more
    }
}
