package import Media

/// What the transport is told by the command line and by tests.
package struct HTTPConfiguration: Sendable {
    package var userAgent = "reprise/0.1"
    /// Sent to the origin of each request's own URL, and to no redirect target elsewhere.
    package var headers: [RequestHeader] = []
    /// A file of PEM certificates that are trusted instead of the system's; nil for the system's.
    package var certificateFile: String?
    package var timeouts = Timeouts()
    /// All time-outs run on it.
    package var clock: any MonotonicClock = SystemClock()

    package init() {}
}
