import Media

/// The format of the saved files: one line per fact, its fields separated by tabs. The last line is `end`;
/// without it the file is incomplete.
///
/// Not TOML, which takes too long to parse: a queue of 100,000 tracks is read at each start.
struct StateLines {
    private(set) var text: String

    init(kind: String) { text = Self.head(kind) + "\nend\n" }

    mutating func add(_ name: String, _ fields: String...) {
        text.removeLast(4)
        text += Self.line(name, fields) + "\nend\n"
    }

    /// A fact in one line, without its end.
    static func line(_ name: String, _ fields: [String]) -> String {
        ([name] + fields.map(escaped)).joined(separator: "\t")
    }

    /// Parses the result of `line`.
    static func fact(_ line: Substring.UTF8View) throws(StateError) -> (name: String, fields: [String]) {
        let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        let texts = try fields.map { field throws(StateError) in try unescaped(field) }
        return (texts[0], Array(texts.dropFirst()))
    }

    /// The facts of a file, in order.
    static func parse(_ text: String, kind: String) throws(StateError) -> [(name: String, fields: [String])] {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let first = lines.first, String(first) == head(kind) else {
            throw StateError(SafeText("it is not a \(kind) of this version"))
        }
        guard lines.count >= 3, lines.last?.isEmpty == true, String(lines[lines.count - 2]) == "end" else {
            throw StateError("its end is missing")
        }
        var facts: [(name: String, fields: [String])] = []
        facts.reserveCapacity(lines.count)
        for line in lines[1..<(lines.count - 2)] { facts.append(try fact(line)) }
        return facts
    }

    private static func head(_ kind: String) -> String { "reprise \(kind) 1" }

    /// Escapes control characters, because tabs and line ends separate fields and facts, and `%` itself.
    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "%") }) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 || scalar == "%" {
                escaped += "%" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func unescaped(_ text: Substring.UTF8View) throws(StateError) -> String {
        guard text.contains(UInt8(ascii: "%")) else { return String(Substring(text)) }
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(Substring(rest.prefix(2)))
            guard digits.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16)
            else {
                throw StateError("an invalid escape")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
