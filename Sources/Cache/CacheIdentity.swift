package import Media

/// The query parameters that do not identify a resource, by host.
///
/// Servers with signed URLs send a new query for the same track each day. A rule leaves the signature out of
/// the cache key, so that the cached track is found again.
package struct CacheIdentity: Sendable, Equatable {
    /// The parameters to leave out for one host, or for all hosts below one.
    package struct Rule: Sendable, Equatable {
        /// In lower case; `*.` in front stands for all hosts below the name, but not the name itself.
        package var host: String
        /// Names of query parameters, unescaped; never empty.
        package var parameters: Set<String>
    }

    package var rules: [Rule]

    package init(rules: [Rule] = []) { self.rules = rules }

    /// The request string of `url` without the parameters that the rules for its host leave out.
    ///
    /// The other parameters keep their order; if none is left, the question mark is removed too.
    package func text(of url: WebURL) -> String {
        let whole = url.requestString
        guard !rules.isEmpty, let query = url.query else { return whole }
        let parameters = rules.filter { $0.fits(url.host) }.reduce(into: Set()) {
            $0.formUnion($1.parameters)
        }
        guard !parameters.isEmpty else { return whole }
        let parts = query.split(separator: "&", omittingEmptySubsequences: false)
        let left = parts.filter { part in
            let name = part.prefix { $0 != "=" }
            return !parameters.contains(PercentEncoding.decoded(name))
        }
        guard left.count < parts.count else { return whole }
        // The query is the last part of a request string.
        let base = whole.dropLast(query.utf8.count + 1)
        return left.isEmpty ? String(base) : base + "?" + left.joined(separator: "&")
    }
}

extension CacheIdentity.Rule {
    func fits(_ name: String) -> Bool {
        host.hasPrefix("*.") ? name.hasSuffix(host.dropFirst()) && name.count >= host.count : name == host
    }

    /// Parses `host=cdn.example strip=token,expires`: two words in any order, separated by spaces.
    package init(parsing text: some StringProtocol) throws(CacheIdentityError) {
        var host: String?
        var parameters: Set<String>?
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw CacheIdentityError("\(word)", "is not of the form NAME=VALUE")
            }
            switch parts[0] {
            case "host":
                guard host == nil else { throw CacheIdentityError("host", "is given twice") }
                host = try Self.host(parts[1])
            case "strip":
                guard parameters == nil else { throw CacheIdentityError("strip", "is given twice") }
                parameters = try Self.parameters(parts[1])
            default: throw CacheIdentityError("\(parts[0])", "is unknown; a rule has host= and strip=")
            }
        }
        guard let host else { throw CacheIdentityError("host=", "is missing; it names the host of the rule") }
        guard let parameters else {
            throw CacheIdentityError("strip=", "is missing; it lists the parameters to ignore")
        }
        self.init(host: host, parameters: parameters)
    }

    private static func host(_ text: some StringProtocol) throws(CacheIdentityError) -> String {
        let host = text.lowercased()
        let name = host.hasPrefix("*.") ? String(host.dropFirst(2)) : host
        // A name is accepted only if the URL parser accepts it as a host and leaves it unchanged.
        guard let url = WebURL("http://\(name)/"), url.host == name, url.userInfo == nil, url.port == nil,
            url.path == "/", url.query == nil, !name.contains("*")
        else { throw CacheIdentityError("host=\(text)", "is not a host name") }
        // A rule for a whole top-level domain is refused: the same parameter may be a signature on one host
        // and identify the track on another.
        guard !host.hasPrefix("*.") || name.contains(".") else {
            throw CacheIdentityError("host=\(text)", "matches too many hosts; use a longer name")
        }
        return host
    }

    private static func parameters(_ text: some StringProtocol) throws(CacheIdentityError) -> Set<String> {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        for name in names {
            guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), !name.contains("&"),
                !name.contains("=")
            else { throw CacheIdentityError("strip=\(text)", "is not a list of names separated by commas") }
        }
        return Set(names)
    }
}

/// A rule that cannot be parsed.
package struct CacheIdentityError: Error, Equatable, CustomStringConvertible {
    /// The part of the rule that is wrong.
    package let part: SafeText
    /// The problem, as the predicate of a sentence whose subject is `part`.
    package let problem: SafeText

    init(_ part: String, _ problem: SafeText) {
        self.part = SafeText(part)
        self.problem = problem
    }

    /// A clause that is safe for a terminal: `'strip=' is missing; …`.
    package var description: String { "'\(part)' \(problem)" }
}
