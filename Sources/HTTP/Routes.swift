internal import Media

/// The settings that libcurl needs for a server with unusual answers. The first answer shows them, so each
/// resource of such a server costs one more request.
struct ServerQuirks: OptionSet, Sendable {
    let rawValue: Int

    /// `Content-Encoding` has words that are no codings: libcurl must not decode.
    static let namesNoCoding = ServerQuirks(rawValue: 1)
    /// A live stream states `Content-Length: 0`, which libcurl must ignore.
    static let deniesBody = ServerQuirks(rawValue: 2)
    /// The login is `Digest`, for which libcurl first needs the server's challenge.
    static let wantsDigest = ServerQuirks(rawValue: 4)
}

/// How a resource is requested: where it was redirected to, and what was learned on the way. Stored only in
/// memory.
struct Route: Sendable {
    var target: WebURL
    var cookies = CookieJar()
    var quirks: ServerQuirks = []

    /// `true` if this is nothing but the URL `original`.
    func isPlain(to original: WebURL) -> Bool {
        cookies.isEmpty && quirks.isEmpty && target.requestString == original.requestString
    }
}

/// The routes to resources, so that the next window of a track is requested from the right place at once.
///
/// Stored only in memory, because a target may be a signed URL that expires. A route is forgotten when it
/// fails, or if it was not used for a while.
struct RouteMemory {
    private struct Entry {
        var route: Route
        var lastUsed: Duration
    }

    /// The most routes to remember: far more than are in use at the same time, and each is little more than
    /// one URL.
    static let mostRoutes = 64
    /// A route that was not used for this long is forgotten. While a track plays, its requests are more
    /// frequent; after a longer pause, or when it is played again, the request goes to the original URL,
    /// which may redirect elsewhere by now.
    static let longestIdle = Duration.seconds(600)

    private var routes: [WebURL: Entry] = [:]

    /// The route for requests to `original`; `nil` to use `original` itself.
    mutating func route(of original: WebURL, now: Duration) -> Route? {
        guard let entry = routes[original] else { return nil }
        guard now - entry.lastUsed < Self.longestIdle else {
            routes[original] = nil
            return nil
        }
        routes[original]?.lastUsed = now
        return entry.route
    }

    /// Records that a request for `original` was answered over `route`, which is not remembered if there is
    /// nothing special about it.
    mutating func answered(_ original: WebURL, over route: Route, now: Duration) {
        guard !route.isPlain(to: original) else {
            routes[original] = nil
            return
        }
        routes[original] = Entry(route: route, lastUsed: now)
        guard routes.count > Self.mostRoutes else { return }
        if let oldest = routes.min(by: { $0.value.lastUsed < $1.value.lastUsed }) {
            routes[oldest.key] = nil
        }
    }

    /// Forgets the route to `original`, which failed.
    mutating func forget(_ original: WebURL) { routes[original] = nil }
}

/// The cookies that the answers for one resource, or for one stream, have set. Each is sent only to the host
/// that set it; `Domain`, `Path` and the expiry are ignored.
struct CookieJar: Sendable, Equatable {
    /// The limits for each host. Servers must not expect more of each cookie (RFC 6265 §6.1).
    private static let most = 20
    private static let longest = 4096
    /// The most hosts; a stream may lead to any number.
    private static let mostHosts = 16

    private var values: [String: [String: String]] = [:]

    var isEmpty: Bool { values.isEmpty }

    /// Takes over the values of `Set-Cookie` in an answer of `host`. Returns `true` if any cookie is new or
    /// has changed.
    mutating func receive(_ fields: [String], from host: String) -> Bool {
        let before = self
        for field in fields where field.utf8.count <= Self.longest {
            let pair = field.prefix { $0 != ";" }.split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard pair.count == 2, case let name = ResponseHead.trimmed(pair[0]), ResponseHead.isName(name),
                values[host]?[String(name)] != nil || values[host]?.count ?? 0 < Self.most,
                values[host] != nil || values.count < Self.mostHosts
            else { continue }
            values[host, default: [:]][String(name)] = String(ResponseHead.trimmed(pair[1]))
        }
        return self != before
    }

    /// The value of `Cookie` for a request to `host`; `nil` for none.
    func field(for host: String) -> String? {
        values[host].map {
            $0.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
    }
}

/// The cookies of streams of segments, by the URL of the stream. Stored only in memory.
struct StreamCookies: Sendable {
    /// More than are played at the same time.
    static let mostStreams = 16

    private var jars: [(stream: WebURL, jar: CookieJar)] = []

    /// The cookies of `stream`.
    func jar(of stream: WebURL) -> CookieJar { jars.first { $0.stream == stream }?.jar ?? CookieJar() }

    /// Takes over the values of `Set-Cookie` in an answer of `host` for `stream`. Returns `true` if any
    /// cookie is new or has changed.
    mutating func receive(_ fields: [String], from host: String, of stream: WebURL) -> Bool {
        guard !fields.isEmpty else { return false }
        var jar = jar(of: stream)
        let isNew = jar.receive(fields, from: host)
        jars.removeAll { $0.stream == stream }
        jars.append((stream, jar))
        if jars.count > Self.mostStreams { jars.removeFirst() }
        return isNew
    }
}
