/// What is kept in the cache, as a screen shows and changes it. No call waits; what is asked for is done in the
/// background, in the order asked for.
package protocol KeptShelf: Sendable {
    /// The newest that is known.
    var report: KeptReport { get }

    /// With `true` looks anew, and then whenever it is another cache than the one that was seen, at most once a
    /// second; with `false` no more.
    func watch(_ isWatched: Bool)

    /// Drops what is kept of `entry`, unless it is pinned or open in some process, and looks anew.
    func evict(_ entry: KeptEntry.ID)

    /// Keeps `entry` whatever the budget says, or no longer, and looks anew.
    func setPinned(_ entry: KeptEntry.ID, _ isPinned: Bool)

    /// Calls `observer` when `report` has changed, from any thread; it must only wake its user interface. One at a
    /// time: nil ends it.
    func observe(_ observer: (@Sendable () -> Void)?)
}

/// What a look into the cache has shown.
package struct KeptReport: Sendable, Equatable {
    /// Goes up with each change, so that who looks knows whether there is news.
    package var revision = 0
    /// The last played first; nil before the first look.
    package var entries: [KeptEntry]?
    /// Why the last thing that was asked for could not be done; nil when it was.
    package var problem: SafeText?

    package init() {}
}

/// One piece of music that is kept, whole or in parts.
package struct KeptEntry: Sendable, Equatable, Identifiable {
    /// The cache's own number for it, which no other entry ever has.
    package struct ID: Hashable, Sendable {
        package var value: Int64

        package init(_ value: Int64) { self.value = value }
    }

    package var id: ID
    /// The URL without secrets.
    package var source: SafeText
    package var title: SafeText?
    package var artist: SafeText?
    /// Length of the whole in bytes, where known.
    package var length: Int64?
    package var stored: ByteRangeSet
    package var isPinned: Bool
    /// How long ago it was played last, when it was looked at.
    package var age: Duration

    package init(
        id: ID,
        source: SafeText,
        title: SafeText? = nil,
        artist: SafeText? = nil,
        length: Int64? = nil,
        stored: ByteRangeSet = ByteRangeSet(),
        isPinned: Bool = false,
        age: Duration = .zero
    ) {
        self.id = id
        self.source = source
        self.title = title
        self.artist = artist
        self.length = length
        self.stored = stored
        self.isPinned = isPinned
        self.age = age
    }

    /// Whether the length is known and nothing is missing.
    package var isComplete: Bool { length.map { stored.covers(0..<$0) } ?? false }
}
