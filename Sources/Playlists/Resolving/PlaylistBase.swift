import Media
import System

/// The location of a list. Relative entries are resolved against it, and it determines if the list may open
/// local files.
///
/// Rules for entries beyond RFC 3986:
/// - Only `scheme://` and `file:/` start a URL; `Artist: Title.mp3` is a file name.
/// - In a list from the web a backslash means a slash, as in browsers.
/// - In a local list a backslash means a slash if the entry has no slash and no file has exactly this name:
///   Windows separates folders by backslashes, but on Linux file names may contain them.
/// - An entry that is not UTF-8 is the file with exactly these bytes as its name, or else text in CP1252.
/// - If no file has the name that a local list states, the name with its percent escapes decoded, as VLC
///   writes them, and the other normal forms of Unicode are tried.
enum PlaylistBase: Sendable, Equatable {
    /// The folder of a local list, absolute; for a list on standard input, the working folder.
    case folder(String)
    /// The URL of the list itself.
    case web(WebURL)

    /// Locates `entry`.
    ///
    /// Calls `fileExists` only for entries with backslashes, `%` or characters that are not ASCII. Throws
    /// `.refusedLocalFile` for a local file in a list from the web, `.unsupportedScheme` and `.badURL`.
    func location(
        of entry: PlaylistEntry,
        fileExists: (String) -> Bool
    ) throws(MediaError) -> ResourceLocation {
        let reference = entry.text
        switch Reference(reference) {
        case .web:
            guard let url = WebURL(reference) else { throw Reference.badURL(reference) }
            return .web(url)
        case .file:
            guard case .folder = self else { throw Reference.refusedLocalFile(reference) }
            let path = try Reference.path(ofFileURL: reference)
            return .file(Self.existing([path], in: "/", fileExists: fileExists))
        case .other:
            throw Reference.unsupportedScheme(reference)
        case .relative(let hasColon):
            switch self {
            case .web(let base): return .web(try Self.url(reference, hasColon: hasColon, base: base))
            case .folder(let folder):
                return .file(try Self.path(entry, in: folder, fileExists: fileExists))
            }
        }
    }

    private static func url(_ reference: String, hasColon: Bool, base: WebURL) throws(MediaError) -> WebURL {
        var reference = reference
        if reference.contains(byte: UInt8(ascii: "\\")) {
            // A Windows network path (`\\server\share`) counts as a local file.
            guard !reference.hasPrefix("\\\\") else { throw Reference.refusedLocalFile(reference) }
            reference = reference.replacingBackslashes()
        }
        if hasColon {
            guard !Reference.hasDriveLetter(reference) else { throw Reference.refusedLocalFile(reference) }
            reference = "./" + reference
        }
        guard let url = base.resolving(reference) else { throw Reference.badURL(reference) }
        return url
    }

    private static func path(
        _ entry: PlaylistEntry,
        in folder: String,
        fileExists: (String) -> Bool
    ) throws(MediaError) -> String {
        if hasOneSpelling(entry.reference) { return absolute(entry.reference, in: folder) }
        if !FileName.isUTF8(entry.reference) {
            let exact = Self.absolute(entry.reference, in: folder)
            if fileExists(exact) { return exact }
        }
        let reference =
            entry.isURI ? FileName.text(PercentEncoding.decodedBytes(entry.reference)) : entry.text
        guard !reference.contains(byte: 0) else { throw Reference.badURL(entry.text) }
        var spellings = [reference]
        if reference.contains(byte: UInt8(ascii: "\\")), !reference.contains(byte: UInt8(ascii: "/")) {
            let path = Self.absolute(reference, in: folder)
            if fileExists(path) { return path }
            spellings = [reference.replacingBackslashes()]
        }
        if !entry.isURI, reference.contains(byte: UInt8(ascii: "%")) {
            let decoded = FileName.text(PercentEncoding.decodedBytes(spellings[0]))
            if decoded != spellings[0], !decoded.contains(byte: 0) { spellings.append(decoded) }
        }
        return existing(spellings, in: folder, fileExists: fileExists)
    }

    /// The path of the first file that exists with one of the names `spellings` or another normal form of it;
    /// that of the first spelling if there is none.
    private static func existing(
        _ spellings: [String],
        in folder: String,
        fileExists: (String) -> Bool
    ) -> String {
        let path = absolute(spellings[0], in: folder)
        if hasOneSpelling(spellings[0]) || fileExists(path) { return path }
        for spelling in spellings {
            for name in [spelling] + NormalForm.allCases.map({ $0.form(of: spelling) }) {
                let path = absolute(name, in: folder)
                if fileExists(path) { return path }
            }
        }
        return path
    }

    /// `true` if `name` is ASCII without escapes and backslashes. Most names are, and need no look at the
    /// disk.
    private static func hasOneSpelling(_ name: String) -> Bool {
        name.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy {
                (1..<0x80).contains($0) && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "\\")
            }
        } ?? false
    }

    /// Makes `path` absolute. Removes a leading `./` but keeps `..`, because its meaning after a symbolic
    /// link depends on the file system.
    static func absolute(_ path: String, in folder: String) -> String {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        var rest = path[...]
        while rest.hasPrefix("./") { rest = rest.dropFirst(2).drop { $0 == "/" } }
        return folder.utf8.last == UInt8(ascii: "/") ? folder + rest : folder + "/" + rest
    }
}

extension String {
    fileprivate func replacingBackslashes() -> String {
        String(decoding: utf8.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
    }
}

/// The kind of an entry's reference, recognised by its first bytes.
enum Reference: Equatable {
    /// `http://` or `https://`.
    case web
    /// `file:/…`.
    case file
    /// Another scheme with `://`.
    case other
    /// A path, or a URL without a scheme. If it has a colon, a URL parser would take the text before the
    /// colon for a scheme; the caller must prevent that.
    case relative(hasColon: Bool)

    init(_ text: String) {
        var copy = text
        self = copy.withUTF8 { bytes in
            guard let colon = bytes.firstIndex(where: { !$0.isInScheme }),
                bytes[colon] == UInt8(ascii: ":"), colon > 0
            else { return .relative(hasColon: false) }
            let after = bytes.piece(colon + 1..<bytes.count)
            if bytes.starts(withLowercase: "file:"), after.first == UInt8(ascii: "/") { return .file }
            guard colon > 1, after.starts(withLowercase: "//") else { return .relative(hasColon: true) }
            return bytes.starts(withLowercase: "http://") || bytes.starts(withLowercase: "https://")
                ? .web : .other
        }
    }

    /// The scheme that `source`, for which there is no file, probably lacks; `nil` if it does not look like a
    /// URL.
    ///
    /// It looks like a URL if the part before the first slash has a dot inside, as the names of hosts have,
    /// and the whole is not just the name of a music file or a list. The scheme is `https`, but `http` for a
    /// port of `localhost` or of a numeric address, where encryption is rare.
    static func missingScheme(of source: String) -> String? {
        guard let start = source.utf8.first, !"./~".utf8.contains(start) else { return nil }
        let place = source.prefix { $0 != "/" }
        guard !place.contains(where: \.isWhitespace) else { return nil }
        let parts = place.split(separator: ":", maxSplits: 1)
        let hasPort = parts.count == 2 && parts[1].utf8.allSatisfy(\.isDigit)
        let isNumeric = parts.first?.utf8.allSatisfy { $0 == 0x2E || $0.isDigit } == true
        if hasPort, isNumeric && parts[0].contains(".") || parts[0] == "localhost" { return "http" }
        guard place.dropFirst().dropLast().contains(".") else { return nil }
        if place.count < source.count { return "https" }
        if case .unknown = ResourceKind.of(name: source) { return "https" }
        return nil
    }

    static func hasDriveLetter(_ text: String) -> Bool {
        let start = Array(text.utf8.prefix(3))
        guard start.count >= 2, start[1] == UInt8(ascii: ":") else { return false }
        return start[0].isLetter && (start.count == 2 || start[2] == UInt8(ascii: "/"))
    }

    /// The path of a `file` URL (RFC 8089). Throws `.badURL` if the URL names another machine.
    static func path(ofFileURL url: String) throws(MediaError) -> String {
        var rest = url.dropFirst("file:".count)
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != "/" }
            guard host.isEmpty || host.lowercased() == "localhost" else {
                throw MediaError(.badURL, safe(url), "a file URL can't name another machine")
            }
            rest = rest.dropFirst(host.count)
        }
        let path = FileName.text(PercentEncoding.decodedBytes(rest))
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw badURL(url) }
        return path
    }

    static func badURL(_ reference: String) -> MediaError {
        MediaError(.badURL, safe(reference), "not a valid URL")
    }

    static func unsupportedScheme(_ reference: String) -> MediaError {
        MediaError(.unsupportedScheme, safe(reference), "can't play this URL (only http, https and file)")
    }

    static func refusedLocalFile(_ reference: String) -> MediaError {
        MediaError(.refusedLocalFile, safe(reference), "a playlist from the web can't open local files")
    }

    /// `reference` for errors: without user name, password and query if it looks like a URL.
    static func safe(_ reference: String) -> SafeText {
        guard let start = reference.firstRange(of: "://") else { return SafeText(reference) }
        let scheme = reference[..<start.upperBound]
        let rest = reference[start.upperBound...]
        let end = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
        let place = rest[..<end]
        // In a broken URL everything before the last `@` could be a password.
        let host = place.lastIndex(of: "@").map { place[place.index(after: $0)...] } ?? place
        return SafeText(scheme + host + (end == rest.endIndex ? "" : "?…"))
    }
}
