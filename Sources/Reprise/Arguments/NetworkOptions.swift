/// What servers are told, and which of them are trusted.
struct NetworkOptions: Sendable, Equatable {
    var headers: [RequestHeader] = []
    var userAgent: String?
    /// A file of PEM certificates to trust in place of the system's.
    var certificateFile: String?
}
