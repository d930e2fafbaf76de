internal import Media

/// Status and header fields of one answer, before anyone asked what they mean.
struct ResponseHead: Equatable, Sendable {
    /// The version of an answer in SHOUTcast's own protocol, `ICY 200 OK`.
    static let icyVersion = "ICY"

    var status: Int
    var fields: HeaderFields
    /// `HTTP/1.1`, `HTTP/2`, `ICY`.
    var version = "HTTP/1.1"
    /// Whether the connection had carried an answer before; nil where that is not known.
    var reusedConnection: Bool?

    /// Whether the connection carries several transfers at once (HTTP/2 and later).
    var isMultiplexed: Bool {
        version.hasPrefix("HTTP/") && !version.hasPrefix("HTTP/0") && !version.hasPrefix("HTTP/1")
    }
}
