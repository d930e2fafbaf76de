internal import Glibc
package import Media
package import System

/// The settings of the transport, from the command line or from a test.
package struct HTTPConfiguration: Sendable {
    package var userAgent = "reprise/0.1"
    /// Fields sent to the origin of each request's own URL, but not to redirect targets at other origins.
    package var headers: [RequestHeader] = []
    /// A file of user names and passwords by host, in the form of `.netrc` (curl(1), `--netrc-file`); `nil`
    /// for none. A file that does not exist counts as empty. Credentials in a URL take precedence.
    package var netrcFile: String?
    /// The log-ins that the user has entered, which go before those of `netrcFile`, or that earlier sessions
    /// have kept, which are tried after them; `nil` for none.
    package var logins: Logins?
    /// The only origins that `headers`, log-ins and user names in URLs may be sent to; `nil` for the origin
    /// of each request. A playlist can name servers that the user did not name. They get no secrets, not even
    /// those in the playlist itself, because an attacker may want such a secret to appear in a server's log.
    package var secretOrigins: SecretOrigins?
    /// A file of PEM certificates that are trusted instead of the system's certificates; `nil` for the
    /// system's.
    package var certificateFile: String?
    /// `true` if the environment names a proxy, so that errors can mention it. libcurl itself reads the
    /// variables.
    package var hasProxy = false
    /// This machine's network, which is checked after a failure.
    package var localNetwork = LocalNetwork()
    package var timeouts = Timeouts()
    /// The clock for all time-outs.
    package var clock: any MonotonicClock = SystemClock()
    /// The time of day in seconds since 1970, for servers that send a date in `Retry-After` but no `Date`.
    package var wallTime: @Sendable () -> Int64 = { Int64(time(nil)) }

    package init() {}

    /// `true` if the user's secrets may be sent to the origin of `url`.
    func maySendSecrets(to url: WebURL) -> Bool { secretOrigins?.contains(url) ?? true }

    /// `true` if `url` has a user name and a password that are not sent.
    func withholdsUserInfo(of url: WebURL) -> Bool { url.userInfo != nil && !maySendSecrets(to: url) }

    /// `true` if `environment` names a proxy, in the variables that libcurl reads. `http_proxy` counts only
    /// in lower case, because CGI passes a client's `Proxy` header on as `HTTP_PROXY`.
    package static func namesProxy(_ environment: (String) -> String?) -> Bool {
        ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
            environment($0)?.isEmpty == false
        }
    }
}

/// The limits on a transfer's silence, on the injected clock. There is no limit on the duration of a whole
/// body: a long track on a slow connection is no failure.
package struct Timeouts: Sendable, Equatable {
    /// For name look-up, TCP and TLS together. Three lost packets delay TCP by 7 s; listeners do not wait
    /// longer.
    package var connect = Duration.seconds(10)
    /// From the connection to the end of the response's head, including interim responses, however slowly the
    /// head arrives. Longer than `connect`, since a server may have to wake a disk or query another server.
    package var firstByte = Duration.seconds(15)
    /// Between two pieces of a body, while the reader accepts them. Short enough that the buffered music
    /// lasts until a new connection is made.
    package var idle = Duration.seconds(10)
    /// For the whole body of a redirect, which is read only to reuse the connection: a new connection takes
    /// less than this.
    package var redirectBody = Duration.seconds(1)

    package init() {}

    /// The shortest limit of a transfer. A watchdog that checks this often also meets deadlines that were set
    /// since its last check.
    var shortest: Duration { min(connect, firstByte, idle) }
}

/// A header field that the user adds to every request to the origins of their sources.
///
/// Its value may be a secret: it is left out of descriptions and sent to no other origin.
package struct RequestHeader: Sendable, Equatable {
    package let name: String
    package let value: String

    /// Parses `Name: value`; `nil` if the name is not a token, if the value has a control character, or if
    /// the transport sets this field itself.
    package init?(parsing text: some StringProtocol) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon]
        let value = ResponseHead.trimmed(text[text.index(after: colon)...])
        guard ResponseHead.isName(name), ResponseHead.isValue(value),
            !Self.reserved.contains(name.lowercased())
        else { return nil }
        self.name = String(name)
        self.value = String(value)
    }

    /// Fields that state what is requested or how the message is framed: with other values, the loader would
    /// misinterpret the response.
    private static let reserved: Set<String> = [
        "accept-encoding", "connection", "content-length", "host", "icy-metadata", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range", "te",
        "transfer-encoding", "upgrade",
    ]
}

/// The origins that the user named as sources; only they get the user's secrets.
///
/// Origins may be added while requests are made, since the user can add sources at any time.
package final class SecretOrigins: Sendable {
    private let urls: Locked<[WebURL]>

    /// The origins of `sources`.
    package init(_ sources: [WebURL]) { urls = Locked(sources) }

    /// Adds the origin of `source`, which the user named too.
    package func insert(_ source: WebURL) {
        urls.withLock { urls in
            if !urls.contains(where: { $0.hasSameOrigin(as: source) }) { urls.append(source) }
        }
    }

    /// `true` if `url` has one of the origins.
    package func contains(_ url: WebURL) -> Bool {
        urls.withLock { urls in urls.contains { $0.hasSameOrigin(as: url) } }
    }
}
