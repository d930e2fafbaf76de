internal import Media

/// Where a request stands on its way through redirects (RFC 9110 §15.4).
///
/// Secrets belong to the origin of the URL that was asked for; a redirect cannot carry them, or the
/// ones in its own `Location`, anywhere else.
struct RedirectState {
    /// More than any honest chain; browsers allow 20.
    static let mostRedirects = 10

    let original: WebURL
    /// What is asked now.
    private(set) var current: WebURL
    private var redirectCount = 0
    private let earlierRequests: Int
    private var visited: Set<String>

    /// Begins at the original, or at `target`, to which an earlier request was led. `earlierRequests` were
    /// sent in vain before.
    init(original: WebURL, at target: WebURL? = nil, earlierRequests: Int = 0) {
        self.original = original
        self.earlierRequests = earlierRequests
        current = target ?? original
        visited = [current.requestString]
    }

    /// The host that is asked now, where it is not the one that was asked for.
    var redirectedHost: String? { current.host == original.host ? nil : current.host }

    /// Requests so far, the one to `current` included.
    var requestCount: Int { earlierRequests + redirectCount + 1 }

    /// Whether user name, password and the listener's own header fields may go to `current`.
    var mayCarrySecrets: Bool { current.hasSameOrigin(as: original) }

    /// Goes on to `location`, as sent by `current`.
    mutating func redirected(to location: String) throws(MediaError) {
        guard let next = current.resolving(location) else {
            throw failure(.unsupportedScheme, "it is redirected to an address that is neither http nor https")
        }
        if current.scheme == "https", next.scheme == "http" {
            throw failure(.tlsFailed, "it is redirected from https to unencrypted http, which is refused")
        }
        guard redirectCount < Self.mostRedirects else {
            throw failure(.tooManyRedirects, "it is redirected more than 10 times; the server is at fault")
        }
        guard visited.insert(next.requestString).inserted else {
            throw failure(.tooManyRedirects, "it is redirected in a circle; the server is at fault")
        }
        current = next
        redirectCount += 1
    }

    private func failure(_ code: MediaError.Code, _ cause: SafeText) -> MediaError {
        MediaError(code, original.safeText, cause)
    }
}
