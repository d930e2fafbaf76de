import CExpat
import Glibc
import Media
import System

/// Takes the elements of an XML document, in their order, and makes entries of them. Use an instance once.
protocol XMLReader: AnyObject {
    init()

    /// The prefix that this format uses for each namespace, by the namespace's name in lower case. Elements
    /// of other namespaces are called `""`; those without a namespace have no prefix.
    static var prefixes: [String: String] { get }

    /// An element has begun. `path` has the names of the open elements, this one last.
    ///
    /// Returns `true` to be given the text of this element when it ends.
    func elementBegan(_ path: [String], _ attributes: XMLAttributes) throws(XMLFault) -> Bool

    /// An element has ended. `text` is its text with that of the elements in it, without blanks at the ends;
    /// empty if `elementBegan` returned `false`.
    func elementEnded(_ path: [String], text: String)

    /// The entries found so far.
    var entries: [PlaylistEntry] { get }

    /// The entries in the order of the list, once the document was read.
    var result: [PlaylistEntry] { get }
}

extension XMLReader {
    /// Parses `bytes`; returns at most `limit` + 1 entries, the last of which shows the caller that the list
    /// is too long.
    ///
    /// If they are not well-formed XML, repairs them (`XMLRepair`) and parses them once more.
    static func entries(of bytes: [UInt8], limit: Int) throws(XMLFault) -> [PlaylistEntry] {
        let bytes = XMLEncoding.utf8(bytes)
        let strict = Self()
        do throws(XMLFault) {
            try XMLDocument(strict, limit: limit).read(bytes)
            return strict.result
        } catch {
            guard error.isMalformed else { throw error }
            let lenient = Self()
            do throws(XMLFault) {
                try XMLDocument(lenient, limit: limit).read(XMLRepair.repaired(bytes, prefixes: prefixes))
            } catch let second {
                guard second.isMalformed else { throw second }
            }
            // The place of the first flaw helps more than an empty list.
            guard !lenient.entries.isEmpty else { throw error }
            return lenient.result
        }
    }

    var result: [PlaylistEntry] { entries }

    func elementEnded(_ path: [String], text: String) {}
}

/// The attributes of an element that has just begun; valid only during `elementBegan`.
struct XMLAttributes {
    /// Pairs of name and value, ended by `nil`.
    fileprivate let pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?

    /// The value of the first attribute with this name, whatever its namespace and its case, without blanks
    /// at the ends; `nil` if there is none. `name` must be in lower case.
    subscript(name: StaticString) -> String? {
        guard var pair = pairs else { return nil }
        while let found = pair[0], let value = pair[1] {
            let full = ByteText(
                start: UnsafeRawPointer(found).assumingMemoryBound(to: UInt8.self),
                count: strlen(found)
            )
            let start = full.lastIndex(of: XMLDocument.separator).map { $0 + 1 } ?? 0
            if full.count - start == name.utf8CodeUnitCount,
                full.piece(start..<full.count).starts(withLowercase: name)
            {
                let bytes = UnsafeRawPointer(value).assumingMemoryBound(to: UInt8.self)
                return String(decoding: ByteText(start: bytes, count: strlen(value)).trimmed, as: UTF8.self)
            }
            pair += 2
        }
        return nil
    }
}

/// The reason why a document can't be read, worded for the user.
struct XMLFault: Error {
    var reason: SafeText
    /// `true` if the document is not well-formed XML, which `XMLRepair` may mend.
    var isMalformed = false
}

/// Reads XML with libexpat.
///
/// A document that declares entities is refused: no playlist and no feed needs them, and every XML bomb does.
/// External resources are never loaded. Use an instance once, on one thread.
final class XMLDocument: CallbackContext {
    /// The line feed, which no URL contains, so `namespace⏎name` splits unambiguously.
    fileprivate static let separator: UInt8 = 0x0A
    /// The most bytes of a text: more than any accepted URL has.
    private static let longestText = 32_768
    private static let deepest = 200

    private let reader: any XMLReader
    private let limit: Int
    private let prefixes: [String: String]
    private var parser: XML_Parser?
    private var fault: XMLFault?
    private var path: [String] = []
    private var text: [UInt8] = []
    /// The depth of the element whose text is being collected; `nil` if none is.
    private var textDepth: Int?

    /// Parsing stops once `reader` has more than `limit` entries.
    init(_ reader: any XMLReader, limit: Int) {
        self.reader = reader
        self.limit = limit
        prefixes = type(of: reader).prefixes
    }

    private var isDone: Bool { reader.entries.count > limit }

    func read(_ bytes: [UInt8]) throws(XMLFault) {
        guard let parser = XML_ParserCreateNS("UTF-8", CChar(Self.separator)) else {
            throw XMLFault(reason: "out of memory")
        }
        defer {
            XML_ParserFree(parser)
            self.parser = nil
        }
        self.parser = parser
        // Not retained: expat calls back only during `XML_Parse` below.
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { context, name, attributes in
                guard let name else { return }
                XMLDocument.from(context)?.elementBegan(
                    String(cString: name),
                    XMLAttributes(pairs: attributes)
                )
            },
            { context, _ in XMLDocument.from(context)?.elementEnded() }
        )
        XML_SetCharacterDataHandler(parser) { context, characters, count in
            guard let characters, count > 0 else { return }
            let bytes = UnsafeRawBufferPointer(start: characters, count: Int(count))
            XMLDocument.from(context)?.textArrived(bytes)
        }
        XML_SetEntityDeclHandler(parser) { context, _, _, _, _, _, _, _, _ in
            XMLDocument.from(context)?.stop("it declares entities")
        }
        XML_SetSkippedEntityHandler(parser) { context, _, _ in
            XMLDocument.from(context)?.stop("it uses undeclared entities", isMalformed: true)
        }
        let status = bytes.withUnsafeBytes { buffer in
            XML_Parse(
                parser,
                buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                CInt(clamping: buffer.count),
                1
            )
        }
        if let fault { throw fault }
        guard status != XML_STATUS_OK, !isDone else { return }
        let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
        let place = SafeText("\(reason) in line \(XML_GetCurrentLineNumber(parser))")
        throw XMLFault(reason: place, isMalformed: true)
    }

    private func elementBegan(_ name: String, _ attributes: XMLAttributes) {
        guard fault == nil else { return }
        guard path.count < Self.deepest else { return stop("its elements are nested too deeply") }
        path.append(shortName(name))
        do throws(XMLFault) {
            guard try reader.elementBegan(path, attributes), textDepth == nil else { return }
            textDepth = path.count
            text.removeAll(keepingCapacity: true)
        } catch {
            stop(error.reason)
        }
    }

    private func textArrived(_ bytes: UnsafeRawBufferPointer) {
        guard textDepth != nil, text.count + bytes.count <= Self.longestText else { return }
        text.append(contentsOf: bytes)
    }

    private func elementEnded() {
        guard fault == nil else { return }
        var own = ""
        if textDepth == path.count {
            textDepth = nil
            own = text.withUnsafeBufferPointer { LegacyText.string($0.trimmed) }
        }
        reader.elementEnded(path, text: own)
        path.removeLast()
        if isDone { XML_StopParser(parser, 0) }
    }

    private func stop(_ reason: SafeText, isMalformed: Bool = false) {
        if fault == nil { fault = XMLFault(reason: reason, isMalformed: isMalformed) }
        XML_StopParser(parser, 0)
    }

    /// The name with the reader's prefix for its namespace.
    private func shortName(_ name: String) -> String {
        guard let end = name.utf8.firstIndex(of: Self.separator) else { return name }
        return prefixes[name[..<end].lowercased()].map { $0 + name[name.utf8.index(after: end)...] } ?? ""
    }
}

/// The encodings of XML documents.
private enum XMLEncoding {
    /// `bytes` in UTF-8. Text that is valid UTF-8 is taken for that, whatever the document declares.
    static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        guard let name = declared(by: bytes), !name.hasPrefix("utf") else { return bytes }
        // ISO 2022 is ASCII with escapes.
        let isUTF8 = bytes.withUnsafeBufferPointer { String(utf8: $0) } != nil
        if isUTF8, !name.hasPrefix("iso-2022") { return bytes }
        return TextEncoding(name).map { Array($0.string(bytes).utf8) } ?? bytes
    }

    /// The encoding in the declaration `<?xml … encoding="…"?>`, in lower case; `nil` if there is none.
    private static func declared(by bytes: [UInt8]) -> String? {
        let head = String(decoding: bytes.prefix(256), as: UTF8.self)
        guard let start = head.firstRange(of: "<?xml"),
            let end = head[start.upperBound...].firstRange(of: "?>"),
            let key = head[start.upperBound..<end.lowerBound].firstRange(of: "encoding")
        else { return nil }
        let value = head[key.upperBound..<end.lowerBound].drop { " =\t\r\n".contains($0) }
        guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
        return value.dropFirst().prefix { $0 != quote }.lowercased()
    }
}
