package import Media

/// The kind of a resource: a list, music or a folder. Only this type decides that, from the facts known so
/// far. Pure.
///
/// To recognize another kind of list, add its extension, content types and first bytes below, and rows to
/// `ResourceKindTests`. `AudioKind` has those of music.
package enum ResourceKind: Sendable, Equatable {
    /// A folder of the local file system.
    case folder
    case list(PlaylistFormat)
    /// Audio, according to its first bytes or its name.
    case music
    /// Anything else. It is opened as music, so that the decoder's probe decides. `notList` is the reason why
    /// it can't be read as a list; `nil` if each of its lines could be an entry.
    case unknown(notList: SafeText?)

    package var isList: Bool { if case .list = self { true } else { false } }

    /// The number of bytes to examine, enough for a licence in a comment before the first element of XML.
    package static let headLength = 8_192

    /// Data that is no text.
    static let binary = ResourceKind.unknown(notList: "not a playlist (binary data)")
    /// A list of the places of tracks in one file.
    static let cue = ResourceKind.unknown(
        notList: "cue sheets are not supported – play the audio file it names"
    )
    /// The library of iTunes, or another property list.
    static let propertyList = ResourceKind.unknown(
        notList: "iTunes libraries are not supported – export the playlist as M3U"
    )

    /// The reason why a list is not read that the decoder would refuse as no audio; `nil` for any other kind.
    var refusedList: SafeText? {
        guard case .unknown(let reason) = self, [Self.cue, Self.propertyList].contains(self) else {
            return nil
        }
        return reason
    }

    /// The reason why a web page is not a list, in words that fit music too.
    static let page: SafeText = "got a web page instead of audio (wrong link or login page?)"

    /// The kinds by the extensions of names, in lower case. The first row matches most entries of long lists.
    private static let extensions: [(name: StaticString, kind: ResourceKind)] =
        AudioKind.playedExtensions.map { ($0, .music) } + [
            ("m3u", .list(.m3u)), ("m3u8", .list(.m3u)), ("pls", .list(.pls)), ("xspf", .list(.xspf)),
            ("rss", .list(.feed)), ("atom", .list(.feed)), ("opml", .list(.opml)), ("jspf", .list(.jspf)),
            // RealMedia's lists are a URL in each line.
            ("ram", .list(.m3u)), ("asx", .list(.asx)), ("wax", .list(.asx)), ("wvx", .list(.asx)),
            ("wpl", .list(.asx)), ("zpl", .list(.asx)), ("smil", .list(.asx)),
        ]

    /// The formats of lists by content type. Types of XML or of text in general are missing: they say less
    /// than the first bytes.
    private static let types: [String: PlaylistFormat] = [
        "audio/x-mpegurl": .m3u, "audio/mpegurl": .m3u, "application/x-mpegurl": .m3u,
        "application/vnd.apple.mpegurl": .m3u, "audio/x-scpls": .pls, "audio/scpls": .pls,
        "application/pls+xml": .pls, "application/xspf+xml": .xspf, "application/rss+xml": .feed,
        "application/atom+xml": .feed, "text/x-opml": .opml, "text/x-opml+xml": .opml,
        "application/jspf+json": .jspf, "audio/x-ms-wax": .asx, "application/vnd.ms-wpl": .asx,
    ]

    /// The kind of the resource called `name`, a file name or the path of a URL (after redirects).
    ///
    /// `firstBytes` are the whole resource or its head; `nil` before anything is read. What they show takes
    /// precedence over `contentType`, and that over the name. Bytes that are not text are never a list.
    /// HTML and JSON are the listing of a web folder only if `name` ends in `/`; its parser decides finally.
    package static func of(
        contentType: String? = nil,
        firstBytes: [UInt8]? = nil,
        name: String
    ) -> ResourceKind {
        guard let firstBytes else { return suggested(by: name) ?? .unknown(notList: nil) }
        let shown = firstBytes.withUnsafeBufferPointer {
            Self.shown(by: $0, isAtFolder: name.utf8.last == UInt8(ascii: "/"))
        }
        guard shown == .unknown(notList: nil) else { return shown }
        return contentType.flatMap { types[$0] }.map { .list($0) } ?? suggested(by: name) ?? shown
    }

    /// `true` if the cached resource at the URL `url`, which was never played, is a playlist, a feed or a
    /// folder, as far as its content type and its name show that.
    package static func isList(contentType: String?, url: String) -> Bool {
        if let suggested = suggested(by: url) { return suggested.isList }
        guard let contentType else { return false }
        let isText = ["text/", "application/json", "application/xml"].contains { contentType.hasPrefix($0) }
        return types[contentType] != nil || isText || contentType.hasSuffix("+xml")
    }

    private static func suggested(by name: String) -> ResourceKind? {
        var name = name
        return name.withUTF8 { bytes in
            guard let dot = bytes.suffix(6).lastIndex(of: UInt8(ascii: ".")) else { return nil }
            let ending = bytes.piece(dot + 1..<bytes.count)
            return extensions.first { row in
                ending.count == row.name.utf8CodeUnitCount && ending.starts(withLowercase: row.name)
            }?.kind
        }
    }

    private static func shown(by bytes: ByteText, isAtFolder: Bool) -> ResourceKind {
        let head = bytes.piece(0..<min(bytes.count, headLength)).withoutByteOrderMark
        if AudioKind.byMagicNumber(head) != nil
            || ID3v2Header(Array(head.prefix(ID3v2Header.byteCount))[...]) != nil
        {
            return .music
        }
        if let text = head.wideText {
            return text.withUnsafeBufferPointer { shown(by: $0, isAtFolder: false) }
        }
        let text = head.trimmed
        if text.starts(withLowercase: "<") { return markup(text, isAtFolder: isAtFolder) }
        if head.contains(0) { return binary }
        if text.starts(withLowercase: "#extm3u") || text.starts(withLowercase: "#extinf") {
            return HLSPlaylistKind.of(text) == nil ? .list(.m3u) : .music
        }
        if text.starts(withLowercase: "[playlist]") || text.starts(withLowercase: "[reference]") {
            return .list(.pls)
        }
        if text.starts(withLowercase: "{"), text.contains(lowercase: "\"playlist\"") { return .list(.jspf) }
        if text.contains(lowercase: "file \""), text.contains(lowercase: "index 01 ") { return cue }
        if isAtFolder, WebFolder.isArray(text) { return .list(.webFolder) }
        // Checked only if there is no signature: a list with one is a list even if a title has control
        // characters.
        return head.contains(where: isBinary) ? binary : .unknown(notList: nil)
    }

    /// The kind of a text that begins with `<`, by the name of its root element.
    private static func markup(_ text: ByteText, isAtFolder: Bool) -> ResourceKind {
        let xml = ResourceKind.unknown(notList: "not a playlist (XML of another kind)")
        guard let root = MarkupRoot.name(of: text) else { return xml }
        switch root {
        case "playlist": return .list(.xspf)
        case "rss", "feed", "rdf": return .list(.feed)
        case "opml": return .list(.opml)
        case "asx", "smil": return .list(.asx)
        case "plist": return propertyList
        case "html", "head", "body", "title", "meta", "script":
            return isAtFolder ? .list(.webFolder) : .unknown(notList: page)
        default: return xml
        }
    }

    /// `true` for control characters that no text has. Tab, line ends, form feed and the end-of-file mark of
    /// old lists are allowed.
    private static func isBinary(_ byte: UInt8) -> Bool {
        byte < 0x20 && !(0x09...0x0D).contains(byte) && byte != 0x1A
    }
}

/// The first element of XML or HTML. Pure.
enum MarkupRoot {
    /// The name of the first element in `text`, without a prefix and in lower case; `html` if the document
    /// type says so. `nil` if `text` ends before it.
    ///
    /// Skips comments, processing instructions and the document type.
    static func name(of text: ByteText) -> String? {
        var rest = text
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest.piece(start..<rest.count)
            if rest.starts(withLowercase: "<!doctype html") { return "html" }
            guard let length = rest.declarationLength else {
                return elementName(rest.piece(1..<rest.count))
            }
            rest = rest.piece(length..<rest.count)
        }
        return nil
    }

    private static func elementName(_ text: ByteText) -> String? {
        guard let end = text.firstIndex(where: { $0 <= 0x20 || $0 == 0x3E || $0 == 0x2F }) else {
            return nil
        }
        let name = String(decoding: text.piece(0..<end), as: UTF8.self).lowercased()
        return name.split(separator: ":").last.map { String($0) }
    }
}
