/// An absolute `http` or `https` URL, in normal form (RFC 3986 §6.2.2).
///
/// Scheme and host in lower case, the scheme's own port left out, escapes in upper case and
/// only where needed, no dot segments, no fragment. Two spellings of one URL are equal. A host in
/// another script is kept as it is written; turning it into IDNA is libcurl's work.
package struct WebURL: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// Without brackets, also for IPv6.
    package let host: String
    /// Nil for the scheme's own port.
    package let port: Int?
    /// Begins with `/`; escaped.
    package let path: String
    /// Without `?`; escaped; nil when there is none.
    package let query: String?
    /// User name and password, unescaped; a secret, and no part of `description` or the key.
    package let userInfo: UserInfo?

    package struct UserInfo: Sendable, Hashable {
        package var user: String
        package var password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// The longest URL that is taken; servers refuse shorter ones.
    package static let longest = 16_384

    /// Parses an absolute URL as people write them: spaces and other scripts are escaped.
    ///
    /// Nil when it is no URL with the scheme `http` or `https` and a host.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.longest, let colon = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        var rest = text[colon.upperBound...]
        if let hash = rest.firstIndex(of: "#") { rest = rest[..<hash] }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let authority = Authority(rest[..<end]) else { return nil }
        rest = rest[end...]
        let mark = rest.firstIndex(of: "?")
        let path = rest[..<(mark ?? rest.endIndex)]
        self.init(
            scheme: scheme,
            authority: authority,
            path: PercentEncoding.removingDotSegments(PercentEncoding.normalized(path, keeping: .path)),
            query: mark.map { PercentEncoding.normalized(rest[rest.index(after: $0)...], keeping: .query) }
        )
    }

    private init(scheme: String, authority: Authority, path: String, query: String?) {
        self.scheme = scheme
        host = authority.host
        port = authority.port == (scheme == "https" ? 443 : 80) ? nil : authority.port
        userInfo = authority.userInfo
        self.path = path.isEmpty ? "/" : path
        self.query = query
    }

    /// Resolves `reference` against this URL (RFC 3986 §5.2); nil when the result is no web URL.
    ///
    /// User name and password go along within the same origin only.
    package func resolving(_ reference: some StringProtocol) -> WebURL? {
        let text = String(reference)
        if let colon = text.firstIndex(of: ":"), Self.isScheme(text[..<colon]) { return WebURL(text) }
        if text.hasPrefix("//") { return WebURL(scheme + ":" + text) }
        let authority = Authority(host: host, port: port, userInfo: userInfo)
        var rest = Substring(text)
        if let hash = rest.firstIndex(of: "#") { rest = rest[..<hash] }
        let mark = rest.firstIndex(of: "?")
        let newPath = PercentEncoding.normalized(rest[..<(mark ?? rest.endIndex)], keeping: .path)
        let newQuery = mark.map { PercentEncoding.normalized(rest[rest.index(after: $0)...], keeping: .query) }
        guard newPath.utf8.count + path.utf8.count <= Self.longest else { return nil }
        if newPath.isEmpty {
            return WebURL(scheme: scheme, authority: authority, path: path, query: newQuery ?? query)
        }
        let base = newPath.hasPrefix("/") ? "" : String(path[...(path.lastIndex(of: "/") ?? path.startIndex)])
        let merged = PercentEncoding.removingDotSegments(base + newPath)
        return WebURL(scheme: scheme, authority: authority, path: merged, query: newQuery)
    }

    /// Whether both are served by one origin: scheme, host and port (RFC 6454).
    package func hasSameOrigin(as other: WebURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The URL without user name and password: what is asked for, and what the cache's key is made of.
    package var requestString: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let place = port.map { "\(name):\($0)" } ?? name
        return "\(scheme)://\(place)\(path)" + (query.map { "?\($0)" } ?? "")
    }

    /// The URL without anything that could be a secret: user name, password and query.
    package var safeText: SafeText {
        let name = host.contains(":") ? "[\(host)]" : host
        let place = port.map { "\(name):\($0)" } ?? name
        return SafeText("\(scheme)://\(place)\(path)" + (query == nil ? "" : "?…"))
    }

    /// The last part of the path, unescaped; nil when the path ends with `/`.
    package var fileName: String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let name = PercentEncoding.decoded(path[path.index(after: slash)...])
        return name.isEmpty ? nil : name
    }

    /// Whether `text` could be the scheme of a URL: two letters or more, so that no drive letter is one.
    package static func isScheme(_ text: some StringProtocol) -> Bool {
        text.utf8.count >= 2 && text.first?.isLetter == true
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == 0x2B || byte == 0x2D || byte == 0x2E
            }
    }
}

/// The part of a URL between `//` and the path.
private struct Authority {
    var host: String
    var port: Int?
    var userInfo: WebURL.UserInfo?

    init(host: String, port: Int?, userInfo: WebURL.UserInfo?) {
        self.host = host
        self.port = port
        self.userInfo = userInfo
    }

    init?(_ text: some StringProtocol) {
        var place = Substring(String(text))
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
            guard host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." || $0 == "%" }) else { return nil }
        } else {
            let parts = place.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { return nil }
            host = PercentEncoding.decoded(parts.first ?? "").lowercased()
            portText = parts.count == 2 ? parts[1] : nil
        }
        if let portText, !portText.isEmpty {
            guard let number = Int(portText), (1...65_535).contains(number) else { return nil }
            port = number
        }
        // A space, a slash or a control in a host is an attack or a slip, never a name.
        let isName = host.unicodeScalars.allSatisfy { $0.value > 0x20 && !"/\\?#@<>\"^`{|}\u{7F}".unicodeScalars.contains($0) }
        guard !host.isEmpty, isName else { return nil }
    }
}
