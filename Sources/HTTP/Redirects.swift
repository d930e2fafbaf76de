internal import Media

/// The path of one request through redirects (RFC 9110 §15.4), from the first redirect on.
struct RedirectState {
    /// The most redirects that are followed, more than any correct server needs; browsers allow 20.
    static let mostRedirects = 10

    private let original: WebURL
    private var current: WebURL
    /// All URLs on the path, the first one included.
    private var visited: Set<String>

    /// The request for `original` was sent to `first`, which redirects it.
    init(original: WebURL, first: WebURL) {
        self.original = original
        current = first
        visited = [first.requestString]
    }

    /// The number of redirects followed.
    private(set) var count = 0

    /// Follows `location`, as sent by the URL before. Returns the URL to which the request is sent next. With
    /// `newCookies`, that may be an earlier one, whose answer they may change.
    mutating func redirected(to location: String, newCookies: Bool = false) throws(MediaError) -> WebURL {
        guard let next = current.resolving(location) else {
            throw failure(.unsupportedScheme, "it is redirected to an address that is neither http nor https")
        }
        if current.scheme == "https", next.scheme == "http" {
            throw failure(.tlsFailed, "it is redirected from https to unencrypted http, which is refused")
        }
        guard count < Self.mostRedirects else {
            throw failure(.tooManyRedirects, "it is redirected more than 10 times; the server is at fault")
        }
        guard visited.insert(next.requestString).inserted || newCookies else {
            throw failure(.tooManyRedirects, "redirect loop; the server is at fault")
        }
        count += 1
        current = next
        return next
    }

    private func failure(_ code: MediaError.Code, _ cause: SafeText) -> MediaError {
        MediaError(code, original.safeText, cause)
    }
}
