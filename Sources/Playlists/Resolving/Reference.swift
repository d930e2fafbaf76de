import Media

/// What kind of reference a text is, told by its first bytes alone.
enum Reference: Equatable {
    /// `http://` or `https://`.
    case web
    /// `file:/…`.
    case file
    /// Another scheme with `://`.
    case other
    /// A path, or a URL reference without a scheme. With a colon, what stands before it could be
    /// read as a scheme, and a URL parser must be told that it is none.
    case relative(hasColon: Bool)

    init(_ text: String) {
        var copy = text
        self = copy.withUTF8 { bytes in
            guard let colon = bytes.firstIndex(where: { !Self.isSchemeByte($0) }),
                bytes[colon] == UInt8(ascii: ":"), colon > 0
            else { return .relative(hasColon: false) }
            let after = bytes.piece(colon + 1..<bytes.count)
            if bytes.starts(withLowercase: "file:"), after.first == UInt8(ascii: "/") { return .file }
            guard colon > 1, after.starts(withLowercase: "//") else { return .relative(hasColon: true) }
            return bytes.starts(withLowercase: "http://") || bytes.starts(withLowercase: "https://")
                ? .web : .other
        }
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte >= 0x41
        default: byte.decimalDigit != nil || byte == 0x2B || byte == 0x2D || byte == 0x2E
        }
    }

    /// Whether `text` begins with a drive letter of Windows.
    static func hasDriveLetter(_ text: String) -> Bool {
        let start = Array(text.utf8.prefix(3))
        guard start.count >= 2, start[1] == UInt8(ascii: ":") else { return false }
        return (0x61...0x7A).contains(start[0] | 0x20) && (start.count == 2 || start[2] == UInt8(ascii: "/"))
    }

    /// The path that a `file` URL names (RFC 8089); throws `.badURL` for another machine's.
    static func path(ofFileURL url: String) throws(MediaError) -> String {
        var rest = url.dropFirst("file:".count)
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != "/" }
            guard host.isEmpty || host.lowercased() == "localhost" else {
                throw MediaError(.badURL, safe(url), "a file URL can only name a file of this machine")
            }
            rest = rest.dropFirst(host.count)
        }
        let path = PercentEncoding.decoded(rest)
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw badURL(url) }
        return path
    }

    static func badURL(_ reference: String) -> MediaError {
        MediaError(.badURL, safe(reference), "this is no valid URL")
    }

    static func unsupportedScheme(_ reference: String) -> MediaError {
        MediaError(.unsupportedScheme, safe(reference), "only http, https and file URLs can be played")
    }

    static func refusedLocalFile(_ reference: String) -> MediaError {
        MediaError(
            .refusedLocalFile,
            safe(reference),
            "a playlist from the web may not open files of this machine"
        )
    }

    /// `reference` for errors: of anything like a URL, without user name, password and query.
    static func safe(_ reference: String) -> SafeText {
        guard let start = reference.firstRange(of: "://") else { return SafeText(reference) }
        let scheme = reference[..<start.upperBound]
        let rest = reference[start.upperBound...]
        let end = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
        let place = rest[..<end]
        // A broken URL may have its `@` anywhere; what stands before the last could be a password.
        let host = place.lastIndex(of: "@").map { place[place.index(after: $0)...] } ?? place
        return SafeText(scheme + host + (end == rest.endIndex ? "" : "?…"))
    }
}
