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
    var count: Int { visited.count - 1 }

    /// Follows `location`, as sent by the URL before. Returns the URL to which the request is sent next.
    mutating func redirected(to location: String) throws(MediaError) -> WebURL {
        guard let next = current.resolving(location) else {
            throw failure(.unsupportedScheme, "it is redirected to an address that is neither http nor https")
        }
        if current.scheme == "https", next.scheme == "http" {
            throw failure(.tlsFailed, "it is redirected from https to unencrypted http, which is refused")
        }
        guard count < Self.mostRedirects else {
            throw failure(.tooManyRedirects, "it is redirected more than 10 times; the server is at fault")
        }
        guard visited.insert(next.requestString).inserted else {
            throw failure(.tooManyRedirects, "redirect loop; the server is at fault")
        }
        current = next
        return next
    }

    private func failure(_ code: MediaError.Code, _ cause: SafeText) -> MediaError {
        MediaError(code, original.safeText, cause)
    }
}

/// The targets of redirects, so that the next window of a track is requested from the target at once.
///
/// Stored only in memory, because a target may be a signed URL that expires. A target is forgotten when it
/// fails, or if it was not used for a while.
struct RedirectMemory {
    private struct Target {
        var url: WebURL
        var lastUsed: Duration
    }

    /// The most targets to remember: far more than are in use at the same time, and each is only one URL.
    static let mostTargets = 64
    /// A target that was not used for this long is forgotten. While a track plays, its requests are more
    /// frequent; after a longer pause, or when it is played again, the request goes to the original URL,
    /// which may redirect elsewhere by now.
    static let longestIdle = Duration.seconds(600)

    private var targets: [WebURL: Target] = [:]

    /// The target for requests to `original`; `nil` to use `original` itself.
    mutating func target(of original: WebURL, now: Duration) -> WebURL? {
        guard let target = targets[original] else { return nil }
        guard now - target.lastUsed < Self.longestIdle else {
            targets[original] = nil
            return nil
        }
        targets[original]?.lastUsed = now
        return target.url
    }

    /// Records that `target` responded to a request for `original`; the two are equal if there was no
    /// redirect.
    mutating func answered(_ original: WebURL, by target: WebURL, now: Duration) {
        guard target.requestString != original.requestString else {
            targets[original] = nil
            return
        }
        targets[original] = Target(url: target, lastUsed: now)
        guard targets.count > Self.mostTargets else { return }
        if let oldest = targets.min(by: { $0.value.lastUsed < $1.value.lastUsed }) {
            targets[oldest.key] = nil
        }
    }

    /// Forgets the target of `original`, which failed.
    mutating func forget(_ original: WebURL) {
        targets[original] = nil
    }

    /// `true` if a response with `status` from a remembered target may only mean that the target has expired,
    /// so that the request must be sent to the original.
    static func isExpired(status: Int) -> Bool { [401, 403, 404, 410].contains(status) }
}
