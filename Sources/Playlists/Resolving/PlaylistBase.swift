package import Media

/// Where a list was read from: what its relative entries are relative to, and what it may name.
///
/// Rules for entries, beyond RFC 3986:
/// - Only `scheme://` and `file:/` make a URL of an entry; `Artist: Title.mp3` is a name.
/// - In a list of the web a backslash is a slash, as in browsers.
/// - In a local list it is one when the entry has no slash and no file is literally so called:
///   lists that Windows wrote name their files with backslashes, and file names here may hold them.
package enum PlaylistBase: Sendable, Equatable {
    /// The folder, absolute, that a local list or standard input counts from.
    case folder(String)
    /// The list's own URL.
    case web(WebURL)

    /// Where `entry` is.
    ///
    /// `fileExists` is only asked about entries with backslashes. Throws `.refusedLocalFile` for a
    /// local name in a list of the web, `.unsupportedScheme` and `.badURL`.
    package func location(
        of entry: PlaylistEntry,
        fileExists: (String) -> Bool
    ) throws(MediaError) -> ResourceLocation {
        let reference = entry.reference
        switch Reference(reference) {
        case .web:
            guard let url = WebURL(reference) else { throw Reference.badURL(reference) }
            return .web(url)
        case .file:
            guard case .folder = self else { throw Reference.refusedLocalFile(reference) }
            return .file(try Reference.path(ofFileURL: reference))
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
        if reference.utf8.contains(UInt8(ascii: "\\")) {
            // A drive or a share of the writer's own network.
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
        let reference = entry.isURI ? PercentEncoding.decoded(entry.reference) : entry.reference
        guard !reference.utf8.contains(0) else { throw Reference.badURL(entry.reference) }
        let path = Self.absolute(reference, in: folder)
        guard reference.utf8.contains(UInt8(ascii: "\\")), !reference.utf8.contains(UInt8(ascii: "/")),
            !fileExists(path)
        else { return path }
        return Self.absolute(reference.replacingBackslashes(), in: folder)
    }

    /// `path` seen from `folder`. A leading `./` goes, `..` stays: across a symbolic link only the
    /// file system knows where it leads.
    package static func absolute(_ path: String, in folder: String) -> String {
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
