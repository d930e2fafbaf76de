package import Media

/// The playlist formats that Reprise reads.
package enum PlaylistFormat: Sendable, Equatable {
    /// M3U and M3U8, and text files with one location in each line.
    case m3u
    case pls
    case xspf

    /// Recognises the extension of a file name or of a URL's path.
    package init?(extensionOf path: String) {
        var copy = path
        let format: PlaylistFormat? = copy.withUTF8 { bytes in
            // The last letter alone excludes almost all entries of a long list.
            guard let last = bytes.last?.lowercaseLetter, "u8sf".utf8.contains(last) else { return nil }
            guard let dot = bytes.suffix(6).lastIndex(of: UInt8(ascii: ".")) else { return nil }
            let ending = bytes.piece(dot + 1..<bytes.count)
            if ending.starts(withLowercase: "m3u"), ending.count == 3 { return .m3u }
            if ending.starts(withLowercase: "m3u8"), ending.count == 4 { return .m3u }
            if ending.starts(withLowercase: "pls"), ending.count == 3 { return .pls }
            if ending.starts(withLowercase: "xspf"), ending.count == 4 { return .xspf }
            return nil
        }
        guard let format else { return nil }
        self = format
    }

    /// Recognises the format by `bytes`, a whole list or its head; returns `nil` if they could be anything.
    ///
    /// Throws `.badPlaylist` for `subject` if they cannot be a playlist: a web page, other XML or binary data.
    package init?(of bytes: [UInt8], subject: SafeText) throws(MediaError) {
        switch bytes.withUnsafeBufferPointer(Evidence.init) {
        case .format(let format): self = format
        case .undecided: return nil
        case .webPage: throw MediaError(.badPlaylist, subject, "got a web page instead of a playlist")
        case .otherXML: throw MediaError(.badPlaylist, subject, "not a playlist (XML, but not XSPF)")
        case .binary: throw MediaError(.badPlaylist, subject, "not a playlist (binary data)")
        }
    }
}

/// The kind of data that the first bytes of a resource show.
private enum Evidence {
    case format(PlaylistFormat)
    case webPage
    case otherXML
    case binary
    case undecided

    /// The number of bytes to examine; a licence in a comment may precede XSPF's first element.
    private static let headLength = 8_192

    init(_ bytes: ByteText) {
        let head = bytes.piece(0..<min(bytes.count, Self.headLength)).withoutByteOrderMark
        // Of these formats, only XSPF may be in UTF-16, which expat reads.
        if head.count >= 4,
            head.starts(with: [0xFF, 0xFE, 0x3C, 0]) || head.starts(with: [0xFE, 0xFF, 0, 0x3C])
        {
            self = .format(.xspf)
            return
        }
        let text = head.trimmed
        if text.starts(withLowercase: "<") {
            let isPage =
                text.contains(lowercase: "<html") || text.contains(lowercase: "<!doctype html")
                || text.starts(withLowercase: "<head") || text.starts(withLowercase: "<body")
            self = isPage ? .webPage : text.contains(lowercase: "playlist") ? .format(.xspf) : .otherXML
        } else if head.contains(0) {
            self = .binary
        } else if text.starts(withLowercase: "#extm3u") || text.starts(withLowercase: "#extinf") {
            self = .format(.m3u)
        } else if text.starts(withLowercase: "[playlist]") {
            self = .format(.pls)
        } else if head.contains(where: Self.isBinary) {
            // Only without a signature: a list is still a list if one title has control characters.
            self = .binary
        } else {
            self = .undecided
        }
    }

    /// `true` for control characters that no text has. Tab, line ends, form feed and the end-of-file mark of old
    /// lists are allowed.
    private static func isBinary(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09...0x0D, 0x1A: false
        case 0x00..<0x20: true
        default: false
        }
    }
}
