internal import Glibc
import Media
package import System

/// What the transport is told by the command line and by tests.
package struct HTTPConfiguration: Sendable {
    package var userAgent = "reprise/0.1"
    /// Sent to the origin of each request's own URL, and to no redirect target elsewhere.
    package var headers: [RequestHeader] = []
    /// A file of user names and passwords by host, in the form of `.netrc` (curl(1), `--netrc-file`); nil for
    /// none. One that does not exist counts as empty. Those of a URL itself go before.
    package var netrcFile: String?
    /// The origins that `headers`, what `netrcFile` says, and user names in URLs may go to at all; nil for every
    /// request's own. A playlist names servers that the listener did not, and no secret is for those, not even
    /// one that the playlist itself names: what it says may be meant to be found in a server's log.
    package var secretOrigins: SecretOrigins?
    /// A file of PEM certificates that are trusted instead of the system's; nil for the system's.
    package var certificateFile: String?
    /// Whether the environment names a proxy, so that errors can say that it may be at fault. libcurl itself
    /// reads the variables.
    package var hasProxy = false
    package var timeouts = Timeouts()
    /// All time-outs run on it.
    package var clock: any MonotonicClock = SystemClock()
    /// The time of day in seconds since 1970, for servers that name a moment and no time of their own.
    package var wallTime: @Sendable () -> Int64 = { Int64(time(nil)) }

    package init() {}

    /// Whether the listener's secrets are for the origin of `url`.
    func maySendSecrets(to url: WebURL) -> Bool {
        secretOrigins?.contains(url) ?? true
    }

    /// Whether `url` has a user name and a password that are not sent.
    func withholdsUserInfo(of url: WebURL) -> Bool { url.userInfo != nil && !maySendSecrets(to: url) }

    /// Whether `environment` names a proxy, in the variables that libcurl looks at: `http_proxy` counts in
    /// lower case only, because a web server hands a visitor's header on in upper case.
    package static func namesProxy(_ environment: (String) -> String?) -> Bool {
        ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
            environment($0)?.isEmpty == false
        }
    }
}
