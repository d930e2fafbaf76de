import Media

/// Parses the listings of folders that web servers make: HTML of nginx, Apache, lighttpd, caddy, Python's
/// `http.server` and `rclone serve http`, and the JSON of nginx.
///
/// Recognizes a listing by its heading and the shape of its rows; every other page is none. Pure.
enum WebFolder {
    /// The HTML around the rows of a listing.
    private struct Shape {
        /// The heading, which comes before the rows, once.
        var after: StaticString
        /// Begin and end the rows.
        var from: StaticString
        var to: StaticString
        /// Begins each row; the first link after it is that of the row.
        var row: StaticString
    }

    private static let link: StaticString = "<a href=\""

    private static let shapes: [Shape] = [
        // nginx, and Apache with its fancy index.
        Shape(after: "<h1>Index of ", from: "<pre>", to: "</pre>", row: link),
        // Apache with `IndexOptions HTMLTable`, and without the fancy index.
        Shape(after: "<h1>Index of ", from: "<table", to: "</table>", row: "<tr"),
        Shape(after: "<h1>Index of ", from: "<ul>", to: "</ul>", row: "<li><a href=\""),
        // lighttpd.
        Shape(after: "<h2>Index of ", from: "<tbody>", to: "</tbody>", row: "<td class=\"n\"><a href=\""),
        // Python's http.server.
        Shape(after: "<h1>Directory listing for ", from: "<ul>", to: "</ul>", row: "<li><a href=\""),
        // caddy and rclone.
        Shape(
            after: "<table aria-describedby=\"summary\">",
            from: "<tbody>",
            to: "</tbody>",
            row: "<tr class=\"file\">"
        ),
    ]

    /// Returns the files and folders in the listing `bytes` of the folder `base`, in natural order; `nil` if
    /// it is no listing.
    ///
    /// Only links to direct children of `base` count, without a query or a fragment; hidden ones do not. An
    /// entry for a folder is a list (`isList`). At most `limit` + 1 entries.
    static func entries(of bytes: ByteText, at base: WebURL, limit: Int) -> [PlaylistEntry]? {
        let text = bytes.withoutByteOrderMark.trimmed
        guard let references = text.first == UInt8(ascii: "[") ? JSONLists.names(in: text) : links(in: text)
        else { return nil }
        var names = Set<String>()
        for reference in references {
            guard let name = child(reference, of: base), names.count <= limit else { continue }
            names.insert(name)
        }
        return names.map { (key: NaturalKey(PercentEncoding.decoded($0)), name: $0) }
            .sorted { $0.key < $1.key }
            .map { PlaylistEntry(reference: "./" + $0.name, isURI: true, isList: $0.name.hasSuffix("/")) }
    }

    /// `true` if `text` could be nginx's JSON: an array of objects, or an empty one.
    static func isArray(_ text: ByteText) -> Bool {
        guard text.first == UInt8(ascii: "[") else { return false }
        let inside = text.piece(1..<text.count).trimmed
        return inside.first == UInt8(ascii: "{") || inside.first == UInt8(ascii: "]")
    }

    /// The links of the rows, as URL references; `nil` if there is no heading with rows of its shape.
    private static func links(in text: ByteText) -> [String]? {
        let found = shapes.lazy.compactMap { shape -> (shape: Shape, start: Int)? in
            guard let heading = text.offset(of: shape.after),
                let start = text.offset(of: shape.from, from: heading)
            else { return nil }
            return (shape, start)
        }
        // A page can have a table after the listing proper, which is then not the listing.
        guard let (shape, start) = found.min(by: { $0.start < $1.start }) else { return nil }
        let end = text.offset(of: shape.to, from: start) ?? text.count
        var links: [String] = []
        var rest = start
        while let row = text.offset(of: shape.row, from: rest), row < end,
            let link = text.offset(of: Self.link, from: row), link < end
        {
            let target = link + Self.link.utf8CodeUnitCount
            let quote = text[target...].firstIndex(of: UInt8(ascii: "\"")) ?? text.count
            links.append(Entities.decoded(LegacyText.string(text.piece(target..<quote))))
            rest = quote
        }
        return links
    }

    /// The last component of `reference`, percent-encoded, with the final `/` of a folder; `nil` unless it is
    /// a direct child of `base`.
    private static func child(_ reference: String, of base: WebURL) -> String? {
        guard !reference.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }),
            let url = base.resolving(reference), url.hasSameOrigin(as: base),
            url.path.hasPrefix(base.path)
        else { return nil }
        let name = url.path.dropFirst(base.path.count)
        let inside = name.hasSuffix("/") ? name.dropLast() : name
        // Hidden files and folders are left out, as in local folders.
        guard !inside.isEmpty, !inside.contains("/"), !inside.hasPrefix(".") else { return nil }
        return String(name)
    }
}

/// Decodes the character references of HTML in listings and feeds. Pure.
enum Entities {
    /// The names of U+00A0 to U+00FF, in this order.
    private static let latin = """
        nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute \
        micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring \
        AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml \
        times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil \
        egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash \
        ugrave uacute ucirc uuml yacute thorn yuml
        """

    private static let named: [Substring: Unicode.Scalar] = {
        var named: [Substring: Unicode.Scalar] = [
            "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "ndash": "–", "mdash": "—",
            "lsquo": "‘", "rsquo": "’", "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„", "hellip": "…",
            "bull": "•", "dagger": "†", "euro": "€", "trade": "™", "lsaquo": "‹", "rsaquo": "›", "OElig": "Œ",
            "oelig": "œ", "Scaron": "Š", "scaron": "š", "Yuml": "Ÿ", "ensp": "\u{2002}", "emsp": "\u{2003}",
            "thinsp": "\u{2009}", "zwnj": "\u{200C}", "zwj": "\u{200D}",
        ]
        for (offset, name) in latin.split(separator: " ").enumerated() {
            named[name] = Unicode.Scalar(UInt32(0xA0 + offset))
        }
        return named
    }()

    /// `text` with references such as `&amp;`, `&eacute;`, `&#38;` and `&#x26;` decoded. Any other `&` is an
    /// ampersand.
    static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.utf8.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<start]
            rest = rest[start...].dropFirst()
            // No reference is longer: `&#x10FFFF;`.
            guard let end = rest.prefix(9).firstIndex(of: ";"), let scalar = scalar(rest[..<end]) else {
                result += "&"
                continue
            }
            result.unicodeScalars.append(scalar)
            rest = rest[end...].dropFirst()
        }
        return result + rest
    }

    /// The character of the reference `name` (`eacute`, `#38`, `#x26`); `nil` if it is unknown.
    ///
    /// The numbers of C1 control characters mean those of CP1252, as in browsers.
    static func scalar(_ name: Substring) -> Unicode.Scalar? {
        guard name.first == "#" else { return named[name] }
        let digits = name.dropFirst()
        let number =
            digits.first == "x" || digits.first == "X"
            ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let number else { return nil }
        return UInt8(exactly: number).map { LegacyText.windowsScalar($0) } ?? Unicode.Scalar(number)
    }
}
