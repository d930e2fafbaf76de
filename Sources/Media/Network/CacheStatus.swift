package import System

/// How much of a resource is cached.
package struct Availability: Sendable, Equatable {
    package var stored: ByteRangeSet
    /// Length of the resource in bytes; `nil` if unknown.
    package var length: Int64?
    package var isPinned: Bool

    package init(stored: ByteRangeSet = ByteRangeSet(), length: Int64? = nil, isPinned: Bool = false) {
        self.stored = stored
        self.length = length
        self.isPinned = isPinned
    }

    package var storedBytes: Int64 { stored.byteCount }

    /// `true` if every byte is cached.
    package var isComplete: Bool { length.map { stored.covers(0..<$0) } ?? false }

    /// The cached part, 0...1; `nil` if the length is unknown.
    package var fraction: Double? {
        length.map { $0 <= 0 ? 1 : min(1, Double(stored.byteCount) / Double($0)) }
    }
}

/// Reports how much of the player's tracks is cached, and pins them.
package protocol CacheStatus: Sendable {
    /// How much of each of `urls` is cached, in their order; `nil` if nothing.
    func availability(of urls: [WebURL]) async -> [Availability?]

    /// The tags and the duration that were found when each of `urls` was played, in their order; `nil` if nothing.
    func facts(of urls: [WebURL]) async -> [TrackFacts?]

    /// Pins `url`, so that its cached bytes, now and later, are never evicted; or unpins it. Throws
    /// `MediaError` with `.notCached` if the cache cannot be used.
    func setPinned(_ url: WebURL, _ isPinned: Bool) async throws
}

/// Lists and changes the contents of the cache for a screen. No call waits: changes are made in the
/// background, in the order of the calls.
package protocol CacheControl: Sendable {
    /// The newest report.
    var report: CacheContents { get }

    /// With `true`, updates `report` now and after every change of the cache, at most once a second; with
    /// `false`, stops these updates.
    func watch(_ isWatched: Bool)

    /// Removes `entry`, unless it is pinned or open in some process, and makes a new report.
    func evict(_ entry: CachedTrack.ID)

    /// Pins or unpins `entry`, and makes a new report.
    func setPinned(_ entry: CachedTrack.ID, _ isPinned: Bool)

    /// Calls `observer` after each change of `report`, from any thread; it must only wake its user interface.
    func observe(_ observer: @escaping @Sendable () -> Void) -> Observation
}

/// The contents of the cache.
package struct CacheContents: Sendable, Equatable {
    /// Incremented with each change of the report.
    package var revision = 0
    /// The entries, the last played first; `nil` before the first report.
    package var entries: [CachedTrack]?
    /// The most bytes that the cache may hold; `nil` if unknown.
    package var budget: Int64?
    /// The reason why the last change failed; `nil` if it succeeded.
    package var problem: SafeText?

    package init() {}
}

/// One cached track, whole or in parts.
package struct CachedTrack: Sendable, Equatable, Identifiable {
    /// The entry's number in the cache, which is never given to another entry.
    package struct ID: Hashable, Sendable {
        package var value: Int64

        package init(_ value: Int64) { self.value = value }
    }

    package var id: ID
    /// The URL without secrets.
    package var source: SafeText
    package var title: SafeText?
    package var artist: SafeText?
    /// Length of the whole in bytes; `nil` if unknown.
    package var length: Int64?
    package var stored = ByteRangeSet()
    package var isPinned = false
    /// `true` for a playlist, a feed or a folder.
    package var isList = false
    /// The time from when it was last played to this report.
    package var age = Duration.zero

    package init(id: ID, source: SafeText) { (self.id, self.source) = (id, source) }

    /// `true` if the length is known and nothing is missing.
    package var isComplete: Bool { length.map { stored.covers(0..<$0) } ?? false }
}
