/// Status and header fields of one answer, before anyone asked what they mean.
struct ResponseHead: Equatable, Sendable {
    var status: Int
    var fields: HeaderFields
    /// Whether the connection carries several transfers at once (HTTP/2 and later).
    var isMultiplexed = false
}
