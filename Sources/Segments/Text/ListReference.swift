import Media
import System

/// A URI in a playlist: that of a segment, a key, a map or another playlist.
enum ListReference {
    /// The location that `reference` names in the list at `list` (RFC 3986 §5.2).
    ///
    /// Only a local list names local files, and only by their paths. Throws `.refusedLocalFile`,
    /// `.unsupportedScheme` and `.badURL`, with `list` as subject, since `reference` may have secrets.
    static func location(
        of reference: String,
        in list: ResourceLocation
    ) throws(MediaError) -> ResourceLocation {
        let scheme = try Array(reference.utf8).withUnsafeBufferPointer { (text) throws(MediaError) in
            try checkedScheme(of: text, in: list)
        }
        if scheme != nil {
            guard let url = WebURL(reference) else { throw .badReference(in: list) }
            // The list's user name and password hold for its own origin.
            return .web(list.url?.resolving(reference) ?? url)
        }
        switch list {
        case .web(let base):
            // Otherwise a colon in the name of a file would end a scheme.
            let isName = reference.contains(byte: UInt8(ascii: ":")) && reference.first?.isLetter == true
            guard let url = base.resolving(isName ? "./" + reference : reference) else {
                throw .badReference(in: list)
            }
            return .web(url)
        case .file(let path):
            guard !reference.isEmpty, !reference.contains(byte: 0) else {
                throw .badReference(in: list)
            }
            let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
            return .file(reference.hasPrefix("/") ? reference : folder + reference)
        }
    }

    /// Throws if `text` has a scheme that no list may use. Costs a few bytes, so that all of 100,000 segments
    /// are checked before the first of them plays.
    static func check(_ text: ByteText, in list: ResourceLocation) throws(MediaError) {
        _ = try checkedScheme(of: text, in: list)
    }

    /// `http` or `https`; `nil` for a relative reference, such as `12:00.ts`.
    private static func checkedScheme(
        of text: ByteText,
        in list: ResourceLocation
    ) throws(MediaError) -> String? {
        let length = text.firstIndex { !$0.isInScheme } ?? text.count
        guard length > 1, length < text.count, text[length] == UInt8(ascii: ":"), text[0].isLetter else {
            return nil
        }
        let scheme = String(decoding: text.piece(0..<length), as: UTF8.self).lowercased()
        let isHierarchical = text.piece(length..<text.count).starts(with: "://")
        switch scheme {
        case "http", "https": if isHierarchical { return scheme }
        case "file": throw .refusedFile(in: list)
        case "data", "skd": throw .refusedScheme(scheme, in: list)
        default: if isHierarchical { throw .refusedScheme(scheme, in: list) }
        }
        return nil
    }
}

extension MediaError {
    /// A playlist that breaks the rules of its format so that it can't be played.
    static func badPlaylist(_ list: ResourceLocation, _ cause: SafeText) -> MediaError {
        MediaError(.badPlaylist, list.safeText, cause)
    }

    fileprivate static func badReference(in list: ResourceLocation) -> MediaError {
        MediaError(.badURL, list.safeText, "a URL in this list is not valid")
    }

    fileprivate static func refusedFile(in list: ResourceLocation) -> MediaError {
        MediaError(.refusedLocalFile, list.safeText, "an HLS playlist can't name file: URLs")
    }

    fileprivate static func refusedScheme(_ scheme: String, in list: ResourceLocation) -> MediaError {
        MediaError(
            .unsupportedScheme,
            list.safeText,
            SafeText("a URL in this list begins with \(scheme): (only http and https are played)")
        )
    }
}
