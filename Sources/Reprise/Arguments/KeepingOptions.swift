import Cache

/// Where, how much and how is kept of what is fetched; one set of values for playing and for `reprise cache`.
struct KeepingOptions: Sendable, Equatable {
    /// As typed or by the XDG rules; nil when there is neither, and then nothing can be kept.
    var folder: String?
    /// Whether the folder was named, and not taken by rule.
    var isFolderNamed = false
    /// The most bytes that music may take on the disk.
    var size = CacheFolder.defaultBudget
    /// Whole days; nil keeps entries however old they are.
    var age: Duration?
    /// Bytes of the disk that are left free.
    var minimumFree = CacheFolder.defaultMinimumFree
    /// Which parts of whose URLs say nothing of the music.
    var identity = CacheIdentity()
    /// What is kept is sealed with this; nil for an open cache.
    var secret: CacheSecret?
}
