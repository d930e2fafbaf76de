package import Media
import System

/// The origins that the listener named as sources: theirs alone are the listener's secrets.
///
/// They can grow while requests are made, for a source can be added at any time.
package final class SecretOrigins: Sendable {
    private let urls: Locked<[WebURL]>

    /// The origins of `sources`.
    package init(_ sources: [WebURL]) { urls = Locked(sources) }

    /// The listener named `source` too.
    package func insert(_ source: WebURL) {
        urls.withLock { urls in
            if !urls.contains(where: { $0.hasSameOrigin(as: source) }) { urls.append(source) }
        }
    }

    /// Whether `url` is of one of the origins.
    package func contains(_ url: WebURL) -> Bool {
        urls.withLock { urls in urls.contains { $0.hasSameOrigin(as: url) } }
    }
}
