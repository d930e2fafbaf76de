internal import Media

/// One request as libcurl sends it to one URL, with all its header fields.
struct WireRequest: Sendable, Equatable {
    /// The URL without user name and password.
    var url: String
    /// The origin of `url`, which differs from that of the requested resource after a redirect.
    var origin: String
    /// The name of the host, for error messages.
    var host: SafeText
    /// The host and the port, unless it is the default one, for error messages.
    var place: SafeText
    /// The requested resource, for error messages.
    var subject: SafeText
    var credentials: WebURL.UserInfo?
    /// `true` if libcurl looks for credentials in the user's `.netrc`.
    var usesNetrc: Bool
    var quirks: ServerQuirks
    /// Lines of the form `Name: value`, without line breaks.
    var headerLines: [String]

    /// `true` if the request may carry a user name and a password.
    var hasLogin: Bool { credentials != nil || usesNetrc }

    /// `request` as it is sent over `route`, whose target differs from its own URL after a redirect.
    ///
    /// `cookies` are those of its stream, which stand in for those of the route.
    ///
    /// `configuration` has the user's secrets. They are sent only to the origin of the requested URL: neither
    /// they nor credentials in a `Location` are sent to the target of a redirect at another origin.
    init(
        _ request: RangeRequest,
        over route: Route,
        cookies: CookieJar? = nil,
        configuration: HTTPConfiguration
    ) {
        let target = route.target
        let carriesSecrets =
            target.hasSameOrigin(as: request.url) && configuration.maySendSecrets(to: request.url)
        url = target.requestString
        origin = target.origin
        host = SafeText(target.host)
        place = SafeText(target.authority)
        subject = request.url.safeText
        credentials =
            carriesSecrets ? request.url.userInfo ?? configuration.logins?.login(for: request.url) : nil
        usesNetrc = carriesSecrets && credentials == nil
        quirks = route.quirks
        var lines: [String] = []
        let add = { (lines: inout [String], name: String, value: String?) in
            guard let value, ResponseHead.isValue(value) else { return }
            // libcurl's syntax for a field without a value; `Name:` would remove the field.
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if let range = request.range {
            add(&lines, "Range", ContentRange.request(for: range))
            add(&lines, "If-Range", request.ifRange)
        }
        add(&lines, "If-None-Match", request.unlessMatches?.etag)
        if request.unlessMatches?.etag == nil {
            add(&lines, "If-Modified-Since", request.unlessMatches?.lastModified)
        }
        if request.wantsTitles { add(&lines, "Icy-MetaData", "1") }
        if carriesSecrets {
            for header in configuration.headers { add(&lines, header.name, header.value) }
        }
        add(&lines, "Cookie", (cookies ?? route.cookies).field(for: target.host))
        headerLines = lines
    }
}
