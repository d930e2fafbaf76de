package import Media

/// What a resource is: a list, music or a folder. Only this type decides that, from the facts known so far.
/// Pure.
///
/// To recognize another kind of list or music, add its extension below (for a list also its first bytes), and
/// rows to `ResourceKindTests`.
package enum ResourceKind: Sendable, Equatable {
    /// A folder of the local file system.
    case folder
    case list(PlaylistFormat)
    /// MPEG audio, according to its name.
    case music
    /// Anything else. It is opened as music, so that the decoder's probe decides. `notList` is the reason why
    /// it can't be read as a list; `nil` if each of its lines could be an entry.
    case unknown(notList: SafeText?)

    package var isList: Bool { if case .list = self { true } else { false } }

    /// The content type of a folder, as file managers write it.
    static let folderType = "inode/directory"

    /// The number of bytes to examine, enough for a licence in a comment before XSPF's first element.
    private static let headLength = 8_192

    /// The kinds by the extensions of names, in lower case. The first row matches most entries of long lists.
    private static let extensions: [(name: StaticString, kind: ResourceKind)] = [
        ("mp3", .music), ("mp2", .music), ("mp1", .music), ("mpga", .music), ("mpa", .music),
        ("mpeg", .music),
        ("m3u", .list(.m3u)), ("m3u8", .list(.m3u)), ("pls", .list(.pls)), ("xspf", .list(.xspf)),
    ]

    /// The kind of the resource called `name`, a file name or the path of a URL.
    ///
    /// `firstBytes` are the whole resource or its head; `nil` before anything is read. A format that they
    /// show takes precedence over the one that the name suggests. `contentType` only marks a folder; that of
    /// a server is ignored, because many servers send lists as some other type of text.
    package static func of(
        contentType: String? = nil,
        firstBytes: [UInt8]? = nil,
        name: String
    ) -> ResourceKind {
        guard let firstBytes else {
            return contentType == folderType ? .folder : suggested(by: name) ?? .unknown(notList: nil)
        }
        let shown = firstBytes.withUnsafeBufferPointer { Self.shown(by: $0) }
        return shown == .unknown(notList: nil) ? suggested(by: name) ?? shown : shown
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

    private static func shown(by bytes: ByteText) -> ResourceKind {
        let head = bytes.piece(0..<min(bytes.count, headLength)).withoutByteOrderMark
        let text = head.trimmed
        // Of these formats, only XSPF may be in UTF-16, which expat reads.
        if head.starts(with: [0xFF, 0xFE, 0x3C, 0]) || head.starts(with: [0xFE, 0xFF, 0, 0x3C]) {
            return .list(.xspf)
        }
        if text.starts(withLowercase: "<") {
            let isPage =
                text.contains(lowercase: "<html") || text.contains(lowercase: "<!doctype html")
                || text.starts(withLowercase: "<head") || text.starts(withLowercase: "<body")
            if isPage { return .unknown(notList: "got a web page instead of a playlist") }
            return text.contains(lowercase: "playlist")
                ? .list(.xspf) : .unknown(notList: "not a playlist (XML, but not XSPF)")
        }
        let binary = ResourceKind.unknown(notList: "not a playlist (binary data)")
        if head.contains(0) { return binary }
        if text.starts(withLowercase: "#extm3u") || text.starts(withLowercase: "#extinf") {
            return .list(.m3u)
        }
        if text.starts(withLowercase: "[playlist]") { return .list(.pls) }
        // Checked only if there is no signature: a list with one is a list even if a title has control
        // characters.
        return head.contains(where: isBinary) ? binary : .unknown(notList: nil)
    }

    /// `true` for control characters that no text has. Tab, line ends, form feed and the end-of-file mark of
    /// old lists are allowed.
    private static func isBinary(_ byte: UInt8) -> Bool {
        byte < 0x20 && !(0x09...0x0D).contains(byte) && byte != 0x1A
    }
}
