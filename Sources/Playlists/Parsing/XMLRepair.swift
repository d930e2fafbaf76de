import Media
import System

/// Makes well-formed XML of the broken XML that feeds and lists on the web are, in one pass over its bytes.
/// Pure.
///
/// Keeps elements, attributes and texts, and drops everything else: declarations, comments, what comes before
/// the first element and after the last. Elements that nothing ends are ended with the element around them,
/// or with the document, so a list that was cut keeps what came. Texts may have bare `&` and `<`, entities of
/// HTML, control characters and bytes that are not UTF-8, which are taken for CP1252.
struct XMLRepair {
    /// Escapes may add this many bytes to the document. Only a hostile one needs more, and counts as cut
    /// there.
    private static let mostAdded = 16 << 20
    /// `XMLDocument` refuses documents that are nested more deeply.
    private static let deepest = 250

    private struct Element {
        var name: ByteText
        var prefixes: [ByteText]

        func declares(_ prefix: ByteText) -> Bool { prefixes.contains { $0.elementsEqual(prefix) } }
    }

    private let bytes: ByteText
    private let namespaces: [String: String]
    private var index = 0
    private var open: [Element] = []
    private var output: [UInt8] = []

    /// Repairs `bytes`. `prefixes` are those of the reader (see `XMLReader`): a prefix that the document does
    /// not declare has the namespace that they know for it.
    static func repaired(_ bytes: [UInt8], prefixes: [String: String]) -> [UInt8] {
        bytes.withUnsafeBufferPointer { bytes in
            var repair = XMLRepair(bytes, prefixes)
            return repair.document()
        }
    }

    private init(_ bytes: ByteText, _ prefixes: [String: String]) {
        self.bytes = bytes
        namespaces = Dictionary(prefixes.map { ($1, $0) }) { first, _ in first }
        output.reserveCapacity(bytes.count + bytes.count / 16)
    }

    private mutating func document() -> [UInt8] {
        while index < bytes.count, open.count < Self.deepest, hasRoom {
            let rest = bytes.piece(index..<bytes.count)
            if rest[0] != UInt8(ascii: "<") {
                appendText(to: rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.count)
            } else if rest.starts(withLowercase: "<![cdata[") {
                index += 9
                appendText(to: rest.offset(of: "]]>").map { $0 - 9 } ?? rest.count - 9, isLiteral: true)
                index = min(index + 3, bytes.count)
            } else if let length = rest.declarationLength {
                index += length
            } else if rest.starts(withLowercase: "</") {
                endElement()
            } else if !beginElement() {
                appendText(to: 1)
            }
            if open.isEmpty, !output.isEmpty { break }
        }
        while let element = open.popLast() { close(element) }
        return output
    }

    private var hasRoom: Bool { output.count < bytes.count + Self.mostAdded }

    // MARK: Elements

    /// Appends the tag at `index`; `false` if there is none. A tag that is cut by the end of the document is
    /// dropped.
    private mutating func beginElement() -> Bool {
        let start = index
        index += 1
        guard let name = name() else {
            index = start
            return false
        }
        var attributes: [(name: ByteText, value: ByteText)] = []
        // A tag that lacks its end is ended by the next one.
        while index < bytes.count, bytes[index] != UInt8(ascii: ">"), bytes[index] != UInt8(ascii: "<") {
            let place = index
            guard let attribute = self.name() else {
                if index == place { index += 1 }
                continue
            }
            let value = self.value()
            if !attributes.contains(where: { $0.name.elementsEqual(attribute) }), attributes.count < 100 {
                attributes.append((name: attribute, value: value))
            }
        }
        guard index < bytes.count else { return true }
        begin(name, attributes, isEmpty: bytes[index - 1] == UInt8(ascii: "/"))
        if bytes[index] == UInt8(ascii: ">") { index += 1 }
        return true
    }

    private mutating func begin(
        _ name: ByteText,
        _ attributes: [(name: ByteText, value: ByteText)],
        isEmpty: Bool
    ) {
        output.append(UInt8(ascii: "<"))
        output += name
        var element = Element(name: name, prefixes: [])
        for attribute in attributes {
            if attribute.name.starts(withLowercase: "xmlns:") {
                // A prefix cannot stand for no namespace.
                guard !attribute.value.trimmed.isEmpty else { continue }
                element.prefixes.append(attribute.name.piece(6..<attribute.name.count))
            }
            append(attribute.name, attribute.value)
        }
        for used in [name] + attributes.map(\.name) {
            guard let prefix = Self.prefix(of: used), !element.declares(prefix),
                !open.contains(where: { $0.declares(prefix) })
            else { continue }
            element.prefixes.append(prefix)
            let namespace = namespaces[String(decoding: prefix, as: UTF8.self) + ":"] ?? "undeclared"
            output += " xmlns:".utf8
            output += prefix
            output += "=\"\(namespace)\"".utf8
        }
        if isEmpty { output.append(UInt8(ascii: "/")) } else { open.append(element) }
        output.append(UInt8(ascii: ">"))
    }

    private mutating func append(_ name: ByteText, _ value: ByteText) {
        output.append(UInt8(ascii: " "))
        output += name
        output += "=\"".utf8
        append(text: value)
        output.append(UInt8(ascii: "\""))
    }

    /// Ends the element that the tag at `index` names, and those within it. Ignores the tag if no such
    /// element is open.
    private mutating func endElement() {
        index += 2
        let name = name()
        index += bytes.piece(index..<bytes.count).offset(of: ">").map { $0 + 1 } ?? bytes.count - index
        guard let name, let place = open.lastIndex(where: { $0.name.hasSameLetters(as: name) }) else {
            return
        }
        while open.count > place, let element = open.popLast() { close(element) }
    }

    private mutating func close(_ element: Element) {
        output += "</".utf8
        output += element.name
        output.append(UInt8(ascii: ">"))
    }

    private static func prefix(of name: ByteText) -> ByteText? {
        guard let colon = name.firstIndex(of: UInt8(ascii: ":")), !name.starts(withLowercase: "xml") else {
            return nil
        }
        return name.piece(0..<colon)
    }

    // MARK: Names, values and texts

    /// Reads the name at `index`; `nil` if there is none, or more than one prefix.
    private mutating func name() -> ByteText? {
        let start = index
        while index < bytes.count, Self.isName(bytes[index]) { index += 1 }
        let name = bytes.piece(start..<index)
        let parts = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let isValid = parts.count <= 2 && parts.allSatisfy { $0.first.map { Self.isLetter($0) } ?? false }
        return isValid ? name : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte.isLetter || byte == UInt8(ascii: "_")
    }

    private static func isName(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte.isDigit || "-.:".utf8.contains(byte)
    }

    /// Reads `= value` at `index`, the value in quotes or up to a blank; an attribute without one is empty.
    private mutating func value() -> ByteText {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else {
            return bytes.piece(index..<index)
        }
        index += 1
        skipSpace()
        guard index < bytes.count else { return bytes.piece(index..<index) }
        let quote = bytes[index]
        let isQuoted = quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        if isQuoted { index += 1 }
        let start = index
        while index < bytes.count,
            isQuoted ? bytes[index] != quote : bytes[index] > 0x20 && bytes[index] != UInt8(ascii: ">")
        {
            index += 1
        }
        defer { if isQuoted, index < bytes.count { index += 1 } }
        return bytes.piece(start..<index)
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
    }

    /// Appends the next `count` bytes as text, unless they are outside of the first element. In a literal
    /// text `&` is no reference.
    private mutating func appendText(to count: Int, isLiteral: Bool = false) {
        let text = bytes.piece(index..<index + count)
        index += count
        if !open.isEmpty { append(text: text, isLiteral: isLiteral) }
    }

    private mutating func append(text: ByteText, isLiteral: Bool = false) {
        let string = FileName.text(text)
        for scalar in (isLiteral ? string : Entities.decoded(string)).unicodeScalars where hasRoom {
            append(FileName.escapedByte(scalar).map { LegacyText.windowsScalar($0) } ?? scalar)
        }
    }

    /// Appends a character of a text, unless XML does not allow it (XML 1.0 §2.2).
    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x22: output += "&quot;".utf8
        case 0x26: output += "&amp;".utf8
        case 0x3C: output += "&lt;".utf8
        case 0x3E: output += "&gt;".utf8
        case 0x09, 0x0A, 0x0D: output.append(UInt8(scalar.value))
        case ..<0x20, 0xFFFE, 0xFFFF: break
        default: output += String(scalar).utf8
        }
    }
}
