package import Media

/// What the transport is told by the command line and by tests.
package struct HTTPConfiguration: Sendable {
    package var userAgent = "reprise/0.1"
    /// Sent to the origin of each request's own URL, and to no redirect target elsewhere.
    package var headers: [RequestHeader] = []
    /// The origins that `headers` may go to at all; nil for every request's own. A playlist names servers
    /// that the listener did not, and a secret is not for those.
    package var headerOrigins: [WebURL]?
    /// A file of PEM certificates that are trusted instead of the system's; nil for the system's.
    package var certificateFile: String?
    package var timeouts = Timeouts()
    /// All time-outs run on it.
    package var clock: any MonotonicClock = SystemClock()

    package init() {}

    /// The headers that a request for `url` carries.
    func headers(for url: WebURL) -> [RequestHeader] {
        guard let headerOrigins else { return headers }
        return headerOrigins.contains { $0.hasSameOrigin(as: url) } ? headers : []
    }
}
