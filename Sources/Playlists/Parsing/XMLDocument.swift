import CExpat
import Media

/// Takes the elements of an XML document, in their order, and makes entries of them. Use an instance once.
protocol XMLReader: AnyObject {
    init()

    /// The prefix that this format uses for each namespace, by the namespace's name in lower case. Elements of
    /// other namespaces are called `""`; those without a namespace have no prefix.
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
    static func entries(of bytes: [UInt8], limit: Int) throws(XMLFault) -> [PlaylistEntry] {
        let reader = Self()
        try XMLDocument(reader, limit: limit).read(bytes)
        return reader.result
    }

    var result: [PlaylistEntry] { entries }

    func elementEnded(_ path: [String], text: String) {}
}

/// The attributes of an element that has just begun; valid only during `elementBegan`.
struct XMLAttributes {
    /// Pairs of name and value, ended by `nil`.
    fileprivate let pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?

    /// The value of the attribute with this name, which must have no namespace; `nil` if there is none.
    subscript(name: String) -> String? {
        guard var pair = pairs else { return nil }
        while let found = pair[0], let value = pair[1] {
            if String(cString: found) == name { return String(cString: value) }
            pair += 2
        }
        return nil
    }
}

/// The reason why a document can't be read, worded for the user.
struct XMLFault: Error {
    var reason: SafeText
}

/// Reads XML with libexpat.
///
/// A document that declares entities is refused: no playlist and no feed needs them, and every XML bomb does.
/// External resources are never loaded. Use an instance once, on one thread.
final class XMLDocument {
    /// The line feed, which no URL contains, so `namespace⏎name` splits unambiguously.
    private static let separator: CChar = 0x0A
    /// The most bytes of a text: more than any accepted URL has.
    private static let longestText = 32_768
    private static let deepest = 200

    private let reader: any XMLReader
    private let limit: Int
    private let prefixes: [String: String]
    private var parser: XML_Parser?
    private var fault: SafeText?
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
        guard let parser = XML_ParserCreateNS(nil, Self.separator) else {
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
        XML_SetUnknownEncodingHandler(parser, { _, name, encoding in windowsEncoding(name, encoding) }, nil)
        let status = bytes.withUnsafeBytes { buffer in
            XML_Parse(
                parser,
                buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                CInt(clamping: buffer.count),
                1
            )
        }
        if let fault { throw XMLFault(reason: fault) }
        guard status != XML_STATUS_OK, !isDone else { return }
        let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
        throw XMLFault(reason: SafeText("\(reason) in line \(XML_GetCurrentLineNumber(parser))"))
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> XMLDocument? {
        context.map { Unmanaged<XMLDocument>.fromOpaque($0).takeUnretainedValue() }
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

    private func stop(_ reason: SafeText) {
        if fault == nil { fault = reason }
        XML_StopParser(parser, 0)
    }

    /// The name with the reader's prefix for its namespace.
    private func shortName(_ name: String) -> String {
        guard let end = name.utf8.firstIndex(of: UInt8(bitPattern: Self.separator)) else { return name }
        return prefixes[name[..<end].lowercased()].map { $0 + name[name.utf8.index(after: end)...] } ?? ""
    }
}

/// Gives expat the table of CP1252, the only encoding found in playlists that expat itself does not support.
private func windowsEncoding(
    _ name: UnsafePointer<CChar>?,
    _ encoding: UnsafeMutablePointer<XML_Encoding>?
) -> CInt {
    guard let name, let encoding else { return 0 }
    guard ["windows-1252", "cp1252"].contains(String(cString: name).lowercased()) else { return 0 }
    encoding.pointee.data = nil
    encoding.pointee.convert = nil
    encoding.pointee.release = nil
    withUnsafeMutableBytes(of: &encoding.pointee.map) { map in
        let entries = map.bindMemory(to: CInt.self)
        for byte in UInt8.min...UInt8.max where Int(byte) < entries.count {
            entries[Int(byte)] = CInt(LegacyText.windowsScalar(byte).value)
        }
    }
    return 1
}
