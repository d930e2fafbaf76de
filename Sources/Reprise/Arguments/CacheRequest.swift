/// What `reprise cache` was asked to do.
struct CacheRequest: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        case list
        /// As typed.
        case info(source: String)
        case clear(isConfirmed: Bool)
    }

    var action: Action
    /// As typed or by the XDG rules.
    var folder: String
    /// Whether the folder was named, so that it has to exist.
    var isFolderNamed = false
    var isJSON: Bool
}
