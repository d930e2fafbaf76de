import Media
import System

/// What a cache folder is told once, when it is made.
struct CacheSettings: Sendable {
    var path: String
    /// The most bytes that the objects may take on the disk.
    var budget: Int64
    /// The bytes of the disk that are left free.
    var minimumFree: Int64
    /// Seconds after which what was not played goes; nil for never.
    var maximumAge: Int64?
    /// What of a URL does not tell one resource from another.
    var identity: CacheIdentity
    /// What a sealed folder is read and written with; nil for a folder that is not sealed.
    var secret: CacheSecret?
    /// For the rhythm of commits.
    var clock: any MonotonicClock
    /// The time of day in seconds since 1970: when an entry was played.
    var wallClock: @Sendable () -> Int64
    var files: any FileLayer
    /// Called on one of the cache's threads; must not block.
    var onNotice: @Sendable (MediaError) -> Void
}
