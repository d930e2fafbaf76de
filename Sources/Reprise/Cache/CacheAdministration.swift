import Media

/// What `reprise cache` needs of the cache; the wiring puts the cache's own types behind it.
protocol CacheAdministration: Sendable {
    /// All entries, the last played first; empty when there is no cache yet. Throws `MediaError`.
    func list() async throws -> [CacheListing]

    /// The entry of `source`, as typed; nil when nothing of it is kept. Throws `MediaError`.
    func info(_ source: String) async throws -> CacheListing?

    /// Drops every entry that is not open in some process. Throws `MediaError`.
    func clear() async throws -> CacheClearing
}

/// One entry as it is listed.
struct CacheListing: Sendable, Equatable {
    /// The URL without secrets.
    var source: SafeText
    var title: SafeText?
    var artist: SafeText?
    var duration: Duration?
    /// In bytes; nil while no answer told it.
    var length: Int64?
    /// Bytes that are kept.
    var storedBytes: Int64
    /// The kept byte ranges, in order. Only `info` fills it.
    var ranges: [ByteRange] = []
    var contentType: SafeText?
    /// Seconds since 1970.
    var lastPlayed: Int64
}

/// What `clear` did.
struct CacheClearing: Sendable, Equatable {
    var removedEntries: Int
    var removedBytes: Int64
    /// Entries that were left because they are open.
    var keptEntries: Int
}
