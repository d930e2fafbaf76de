import System

/// The location of a resource.
package enum ResourceLocation: Sendable, Hashable {
    /// An absolute path of the local file system.
    case file(String)
    case web(WebURL)

    /// The URL; `nil` for a local file.
    package var url: WebURL? { if case .web(let url) = self { url } else { nil } }

    /// The location without secrets, for the screen, events, logs and errors. A path that is not UTF-8 is a
    /// `file` URL.
    package var safeText: SafeText {
        switch self {
        case .file(let path): SafeText(FileName.isUTF8(path) ? path : FileName.url(of: path))
        case .web(let url): url.safeText
        }
    }

    /// The path, escaped if it is that of a URL. Its extension suggests the kind of resource.
    package var path: String {
        switch self {
        case .file(let path): path
        case .web(let url): url.path
        }
    }

    /// The last component of the path, unescaped: the display name of a track without a title.
    package var name: SafeText {
        switch self {
        case .file(let path):
            SafeText(path.split(separator: "/").last.map(String.init) ?? path)
        case .web(let url):
            SafeText(url.fileName ?? url.host)
        }
    }
}

/// An absolute `http` or `https` URL, in normal form (RFC 3986 §6.2.2).
///
/// Scheme and host are in lower case; characters are escaped only if needed, in upper-case digits; the
/// default port, dot segments and the fragment are removed. Thus two spellings of one URL are equal. A host
/// name outside ASCII is not converted to IDNA here; libcurl does that.
package struct WebURL: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// Without brackets, even for IPv6.
    package let host: String
    /// `nil` for the default port of the scheme.
    package let port: Int?
    /// Starts with `/`; escaped.
    package let path: String
    /// Escaped, without `?`; `nil` if the URL has no query.
    package let query: String?
    /// User name and password, unescaped. A secret: neither `description` nor the cache key contains it.
    package let userInfo: UserInfo?

    package struct UserInfo: Sendable, Hashable {
        package var user: String
        package var password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// The length in bytes of the longest accepted URL. Many servers refuse even shorter ones.
    package static let longest = 16_384

    /// Parses an absolute URL as typed: spaces and non-ASCII characters are escaped.
    ///
    /// Returns `nil` unless `text` has the scheme `http` or `https` and a host.
    package init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let url = text.withUTF8({ Self.parsed($0) }) else { return nil }
        self = url
    }

    /// Parses bytes instead of characters: all delimiters of a URL are ASCII, and playlists contain 100,000
    /// URLs.
    private static func parsed(_ text: UnsafeBufferPointer<UInt8>) -> WebURL? {
        guard text.count <= longest, let scheme = webScheme(of: text) else { return nil }
        var rest = text[(scheme.utf8.count + 3)...]
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<hash] }
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard let authority = Authority(rest[..<end]) else { return nil }
        let mark = rest[end...].firstIndex(of: UInt8(ascii: "?"))
        let path = PercentEncoding.normalized(.init(rebasing: rest[end..<(mark ?? rest.endIndex)]))
        return WebURL(
            scheme: scheme,
            authority: authority,
            path: PercentEncoding.removingDotSegments(path),
            query: mark.map { PercentEncoding.normalized(.init(rebasing: rest[($0 + 1)...])) }
        )
    }

    /// The scheme of an absolute URL, in lower case.
    private static func webScheme(of text: UnsafeBufferPointer<UInt8>) -> String? {
        if text.starts(withLowercase: "http://") { return "http" }
        return text.starts(withLowercase: "https://") ? "https" : nil
    }

    private init(scheme: String, authority: Authority, path: String, query: String?) {
        self.scheme = scheme
        host = authority.host
        port = authority.port == (scheme == "https" ? 443 : 80) ? nil : authority.port
        userInfo = authority.userInfo
        self.path = path.isEmpty ? "/" : path
        self.query = query
    }

    /// Resolves `reference` against this URL (RFC 3986 §5.2). Returns `nil` if the result is not a web URL.
    ///
    /// User name and password are inherited only within the same origin.
    package func resolving(_ reference: some StringProtocol) -> WebURL? {
        let text = String(reference)
        if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(text[..<colon]) {
            return WebURL(text)?.inheritingUserInfo(of: self)
        }
        if text.hasPrefix("//") { return WebURL(scheme + ":" + text)?.inheritingUserInfo(of: self) }
        let base: Substring
        switch text.unicodeScalars.first {
        case nil, "#": return self
        case "?": base = path[...]
        case "/": base = ""
        default: base = folderPath
        }
        return WebURL(origin + base + text)?.inheritingUserInfo(of: self)
    }

    /// The path up to its last slash, that included.
    package var folderPath: Substring {
        path[...(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)]
    }

    /// Adds the user name and password of `base` if this URL has none and is of the same origin.
    private func inheritingUserInfo(of base: WebURL) -> WebURL {
        guard userInfo == nil, base.userInfo != nil, hasSameOrigin(as: base) else { return self }
        let authority = Authority(host: host, port: port, userInfo: base.userInfo)
        return WebURL(scheme: scheme, authority: authority, path: path, query: query)
    }

    /// `true` if scheme, host and port are equal (RFC 6454).
    package func hasSameOrigin(as other: WebURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// Scheme, host and port, as in `https://host:8443`: one text for each origin (RFC 6454).
    package var origin: String { "\(scheme)://\(authority)" }

    /// Host and port, as in `host:8443` or `[::1]`; without the default port.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(name):\($0)" } ?? name
    }

    /// The URL without user name and password: the URL to request, and the basis of the cache key.
    package var requestString: String { "\(origin)\(path)" + (query.map { "?\($0)" } ?? "") }

    /// The same URL without possible secrets: user name, password and query.
    package var withoutSecrets: WebURL {
        WebURL(scheme: scheme, authority: Authority(host: host, port: port), path: path, query: nil)
    }

    /// The URL without possible secrets: user name, password and query.
    package var safeText: SafeText { SafeText("\(origin)\(path)" + (query == nil ? "" : "?…")) }

    /// The last component of the path, unescaped; `nil` if the path ends with `/`.
    package var fileName: String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let name = PercentEncoding.decoded(path[path.index(after: slash)...])
        return name.isEmpty ? nil : name
    }

    /// `true` if `text` could be the scheme of a URL. A single letter is a drive letter instead.
    private static func isScheme(_ text: some StringProtocol) -> Bool {
        text.utf8.count >= 2 && text.utf8.first?.isLetter == true && text.utf8.allSatisfy(\.isInScheme)
    }
}

/// The part of a URL between `//` and the path.
private struct Authority {
    var host: String
    var port: Int?
    var userInfo: WebURL.UserInfo?
}

extension Authority {
    fileprivate init?(_ text: Slice<UnsafeBufferPointer<UInt8>>) {
        if let (host, port) = Self.plainPlace(text) {
            self.host = host
            self.port = port
            return
        }
        var place = Substring(String(decoding: text, as: UTF8.self))
        if let at = place.lastIndex(of: "@") {
            let parts = place[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            userInfo = WebURL.UserInfo(
                user: PercentEncoding.decoded(parts[0]),
                password: parts.count > 1 ? PercentEncoding.decoded(parts[1]) : ""
            )
            place = place[place.index(after: at)...]
        }
        var portText: Substring?
        if place.first == "[" {
            guard let close = place.firstIndex(of: "]") else { return nil }
            host = place[place.index(after: place.startIndex)..<close].lowercased()
            let after = place[place.index(after: close)...]
            guard after.isEmpty || after.first == ":" else { return nil }
            portText = after.isEmpty ? nil : after.dropFirst()
            guard host.contains(":"), host.utf8.allSatisfy(Self.isIPv6) else { return nil }
        } else {
            let parts = place.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { return nil }
            host = PercentEncoding.decoded(parts.first ?? "").lowercased()
            guard !host.utf8.contains(UInt8(ascii: ":")) else { return nil }
            portText = parts.count == 2 ? parts[1] : nil
        }
        if let portText, !portText.isEmpty {
            guard let number = Self.decimalPort(portText.utf8) else { return nil }
            port = number
        }
        guard !host.isEmpty, host.unicodeScalars.allSatisfy(Self.isName) else { return nil }
    }

    /// Parses the usual case fast: a host of lower-case letters, digits, `-` and `.`, perhaps with a port.
    /// Returns `nil` for everything else.
    private static func plainPlace(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> (host: String, port: Int?)? {
        let end = text.firstIndex { byte in
            !((0x61...0x7A).contains(byte) || byte.isDigit || byte == 0x2D || byte == 0x2E)
        }
        let host = text[..<(end ?? text.endIndex)]
        guard !host.isEmpty else { return nil }
        guard let end else { return (String(decoding: host, as: UTF8.self), nil) }
        guard text[end] == UInt8(ascii: ":"), let port = decimalPort(text[(end + 1)...]) else { return nil }
        return (String(decoding: host, as: UTF8.self), port)
    }

    /// Parses a port of digits only; returns `nil` for every other text, and for an empty one.
    private static func decimalPort(_ digits: some Collection<UInt8>) -> Int? {
        Int64(digits: digits).flatMap { (1...65_535).contains($0) ? Int($0) : nil }
    }

    private static func isIPv6(_ byte: UInt8) -> Bool {
        (0x30...0x3A).contains(byte) || (0x61...0x66).contains(byte) || byte == 0x2E
    }

    /// `false` for spaces, delimiters and control characters, which in a host name are a mistake or an
    /// attack. Colons occur only in IPv6 addresses, which are checked by `isIPv6`.
    private static func isName(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0x20 && !(0x7F...0x9F).contains(scalar.value)
            && !"/\\?#@<>\"^`{|}[]%".unicodeScalars.contains(scalar)
    }
}

// Without these an interpolation would print every property, including the password.
extension WebURL: CustomStringConvertible, CustomDebugStringConvertible {
    /// The URL without possible secrets, as in `safeText`.
    package var description: String { safeText.string }
    package var debugDescription: String { safeText.string }
}

extension WebURL.UserInfo: CustomStringConvertible, CustomDebugStringConvertible {
    /// A placeholder, never the secret itself.
    package var description: String { "…" }
    package var debugDescription: String { "…" }
}
