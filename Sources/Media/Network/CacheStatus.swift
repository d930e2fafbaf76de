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

    /// The tags and the duration that were found when each of `urls` was played, in their order; `nil` if
    /// nothing.
    func facts(of urls: [WebURL]) async -> [TrackFacts?]

    /// Pins `url`, so that its cached bytes, now and later, are never evicted; or unpins it. Throws
    /// `MediaError` with `.notCached` if the cache cannot be used.
    func setPinned(_ url: WebURL, _ isPinned: Bool) async throws

    /// From now on, what is downloaded ahead evicts no entry of `urls`, which are to be played, too.
    func spare(_ urls: [WebURL]) async

    /// `true` if what was downloaded ahead since the last `spare` found no more room.
    var isFullAhead: Bool { get }

    /// Counts what was heard of `url`. Never waits; a folder that can't be written to counts nothing.
    func count(_ bytes: HeardBytes, of url: WebURL)
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
    func evict(_ entry: CachedItem.ID)

    /// Pins or unpins `entry`, and makes a new report.
    func setPinned(_ entry: CachedItem.ID, _ isPinned: Bool)

    /// Calls `observer` after each change of `report`, from any thread; it must only wake its user interface.
    func observe(_ observer: @escaping @Sendable () -> Void) -> Observation
}

/// The contents of the cache.
package struct CacheContents: Sendable, Equatable {
    /// Incremented with each change of the report.
    package var revision = 0
    /// The entries, the last played first; `nil` before the first report.
    package var entries: [CachedItem]?
    /// How many of `entries` are playlists, feeds and folders.
    package var listCount = 0
    /// When `entries` were read, in seconds since 1970.
    package var time: Int64 = 0
    /// The most bytes that the cache may hold; `nil` if unknown.
    package var budget: Int64?
    package var savings = Savings()
    /// The reason why the last change failed; `nil` if it succeeded.
    package var problem: SafeText?

    package init() {}
}

/// One entry of the cache, as it was at one moment.
package struct CachedItem: Sendable, Equatable, Identifiable {
    /// The entry's own number, which is never given to another entry.
    package struct ID: Hashable, Sendable {
        package let value: Int64

        package init(_ value: Int64) { self.value = value }
    }

    package var id = ID(0)
    /// The URL without user name, password and query.
    package var url: SafeText
    /// Other URLs of the entry, without user name, password and query. A list of all entries lacks them.
    package var otherURLs: [SafeText] = []
    package var tags = TrackTags()
    package var duration: Duration?
    /// In bytes; `nil` until a server reported it.
    package var length: Int64?
    /// The committed ranges. The bytes are checked only when they are read.
    package var stored = ByteRangeSet()
    /// Set for a recorded stream of segments, whose `length` and `stored` are those of all segments in a row.
    package var stream: StreamContents?
    /// The disk space that the entry occupies, in bytes.
    package var allocatedBytes: Int64 = 0
    package var contentType: SafeText?
    package var etag: SafeText?
    package var lastModified: SafeText?
    /// `true` if the server answers requests for a range; `nil` if unknown.
    package var acceptsRanges: Bool?
    /// `true` if the entry is never evicted.
    package var isPinned = false
    /// When the entry was created, in seconds since 1970; `nil` if unknown.
    package var created: Int64?
    /// Seconds since 1970.
    package var lastPlayed: Int64
}

extension CachedItem {
    package init(_ id: ID, url: SafeText, lastPlayed: Int64) {
        self.init(id: id, url: url, lastPlayed: lastPlayed)
    }

    /// The number of committed bytes.
    package var storedBytes: Int64 { stored.byteCount }

    /// `true` if the length is known and no byte is missing.
    package var isComplete: Bool { length.map { stored.covers(0..<$0) } ?? false }

    /// The stored share in percent, rounded down, so that 100 means all; `nil` if the length is unknown.
    package var percent: Int? {
        guard let length, length > 0 else { return length == 0 ? 100 : nil }
        return isComplete ? 100 : min(99, Int(Double(storedBytes) / Double(length) * 100))
    }

    /// The title and artist; without a title, the name of the file.
    package func name(dash: SafeText = "–") -> SafeText {
        TrackName.text(tags.title, tags.artist, at: url, dash: dash)
    }
}
