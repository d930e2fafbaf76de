import CExpat
import Media

/// Parses XSPF with libexpat.
///
/// Elements are recognised by their path (`playlist/trackList/track/…`) and namespace, so that equally named
/// elements of extensions are ignored. A list that declares entities is refused: no player writes them, and
/// every XML bomb needs them. External resources are never loaded.
///
/// Use an instance once, on one thread.
final class XSPFParser {
    private(set) var entries: [PlaylistEntry] = []

    private static let namespace = "http://xspf.org/ns/0/"
    /// The line feed, which no URL contains, so `namespace⏎name` splits unambiguously.
    private static let separator: CChar = 0x0A
    /// The most bytes of a field: more than any accepted URL has.
    private static let longestField = 32_768
    private static let deepest = 200

    private enum Field: String {
        case location
        case title
        case creator
        case album
        case trackNum
        case duration
    }

    private let limit: Int
    private var parser: XML_Parser?
    private var fault: SafeText?
    /// The local names of the open elements; `""` stands for an element of another namespace.
    private var path: [String] = []
    private var fields: [Field: String] = [:]
    private var text: [UInt8] = []

    /// Parsing stops once there are more entries than `limit`.
    init(limit: Int) {
        self.limit = limit
    }

    /// Parses `bytes` into `entries`; returns the error's description, or `nil` after success.
    func parse(_ bytes: [UInt8]) -> SafeText? {
        guard let parser = XML_ParserCreateNS(nil, Self.separator) else { return "out of memory" }
        defer {
            XML_ParserFree(parser)
            self.parser = nil
        }
        self.parser = parser
        // Not retained: expat calls back only during `XML_Parse` below.
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { context, name, _ in
                if let name { XSPFParser.from(context)?.elementStarted(String(cString: name)) }
            },
            { context, _ in XSPFParser.from(context)?.elementEnded() }
        )
        XML_SetCharacterDataHandler(parser) { context, characters, count in
            guard let characters, count > 0 else { return }
            let bytes = UnsafeRawBufferPointer(start: characters, count: Int(count))
            XSPFParser.from(context)?.textArrived(bytes)
        }
        XML_SetEntityDeclHandler(parser) { context, _, _, _, _, _, _, _, _ in
            XSPFParser.from(context)?.stop("it declares entities")
        }
        XML_SetUnknownEncodingHandler(parser, { _, name, encoding in xspfEncoding(name, encoding) }, nil)
        let status = bytes.withUnsafeBytes { buffer in
            XML_Parse(
                parser,
                buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                CInt(clamping: buffer.count),
                1
            )
        }
        if let fault { return fault }
        guard status != XML_STATUS_OK, entries.count <= limit else { return nil }
        let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
        return SafeText("\(reason) in line \(XML_GetCurrentLineNumber(parser))")
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> XSPFParser? {
        context.map { Unmanaged<XSPFParser>.fromOpaque($0).takeUnretainedValue() }
    }

    private func elementStarted(_ name: String) {
        guard path.count < Self.deepest else { return stop("its elements are nested too deeply") }
        path.append(Self.localName(name))
        text.removeAll(keepingCapacity: true)
        if path.count == 1, path[0] != "playlist" { stop("its root element is not a playlist") }
        if isInTrack, path.count == 3 { fields.removeAll(keepingCapacity: true) }
    }

    private func textArrived(_ bytes: UnsafeRawBufferPointer) {
        guard isInTrack, path.count == 4, text.count + bytes.count <= Self.longestField else { return }
        text.append(contentsOf: bytes)
    }

    private func elementEnded() {
        defer { path.removeLast() }
        guard isInTrack else { return }
        if path.count == 4, let field = Field(rawValue: path[3]) {
            let value = text.withUnsafeBufferPointer { LegacyText.string($0.trimmed) }
            // Several locations are alternatives, best first (XSPF 1 §4.1.1.2.14.1.1.1).
            if fields[field] == nil, !value.isEmpty { fields[field] = value }
        } else if path.count == 3 {
            trackEnded()
        }
    }

    private func trackEnded() {
        guard let location = fields[.location] else { return }
        let milliseconds = fields[.duration].flatMap { Int64($0) } ?? 0
        entries.append(
            PlaylistEntry(
                reference: location,
                isURI: true,
                tags: TrackTags(
                    title: fields[.title].map { SafeText($0) },
                    artist: fields[.creator].map { SafeText($0) },
                    album: fields[.album].map { SafeText($0) },
                    number: fields[.trackNum].map { SafeText($0) }
                ),
                duration: (1..<1_000_000_000_000).contains(milliseconds) ? .milliseconds(milliseconds) : nil
            )
        )
        // Not a fault: the caller sees from `entries` that there are too many.
        if entries.count > limit { XML_StopParser(parser, 0) }
    }

    private var isInTrack: Bool {
        path.count >= 3 && path[0] == "playlist" && path[1] == "trackList" && path[2] == "track"
    }

    private func stop(_ reason: SafeText) {
        if fault == nil { fault = reason }
        XML_StopParser(parser, 0)
    }

    /// The name without XSPF's namespace. Lists without a namespace are accepted too.
    private static func localName(_ name: String) -> String {
        guard let end = name.utf8.firstIndex(of: UInt8(bitPattern: separator)) else { return name }
        return name[..<end] == namespace ? String(name[name.utf8.index(after: end)...]) : ""
    }
}

/// Gives expat the table of CP1252, the only encoding found in playlists that expat itself does not support.
private func xspfEncoding(_ name: UnsafePointer<CChar>?, _ encoding: UnsafeMutablePointer<XML_Encoding>?)
    -> CInt
{
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
