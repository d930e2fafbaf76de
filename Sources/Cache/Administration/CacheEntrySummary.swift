package import Media

/// What a listing says of one entry: a copy, made at one moment.
package struct CacheEntrySummary: Sendable, Equatable {
    /// The entry's own number, which no other ever has.
    package var number: Int64
    /// The URL without user name, password and query.
    package var url: SafeText
    /// Other URLs that lead to the entry, without user name, password and query. Not looked up for a list.
    package var otherURLs: [SafeText]
    /// The resource's length in bytes, where known.
    package var length: Int64?
    /// What is committed of it; that the bytes are still right is checked when they are read.
    package var stored: ByteRangeSet
    /// The bytes that the entry takes on the disk.
    package var allocatedBytes: Int64
    /// Seconds since 1970.
    package var lastPlayed: Int64
    /// When the entry was made: seconds since 1970.
    package var keptSince: Int64
    /// Whether eviction passes it over.
    package var isPinned: Bool
    package var contentType: SafeText?
    /// As the server sent them: outside text.
    package var validators: Validators
    /// Whether the server sends parts; nil while that is not known.
    package var acceptsRanges: Bool?
    package var title: SafeText?
    package var artist: SafeText?
    package var duration: Duration?

    /// How many bytes are committed.
    package var storedBytes: Int64 { stored.byteCount }

    /// Whether the length is known and nothing is missing.
    package var isComplete: Bool { length.map { stored.covers(0..<$0) } ?? false }

    init(_ row: EntryRow, stored: ByteRangeSet, urls: [SafeText] = []) {
        number = row.entry.value
        url = row.url
        // Signed URLs differ in their queries alone, which are not shown.
        otherURLs = urls.reduce(into: []) { others, name in
            if !name.isEmpty, name != row.url, !others.contains(name) { others.append(name) }
        }
        length = row.description.length
        self.stored = stored
        allocatedBytes = row.allocated
        lastPlayed = row.lastPlayed
        keptSince = row.created
        isPinned = row.isPinned
        contentType = row.description.contentType.map { SafeText($0) }
        validators = row.description.validators
        acceptsRanges = row.description.acceptsRanges
        title = row.description.title.map { SafeText($0) }
        artist = row.description.artist.map { SafeText($0) }
        // Longer than this is a slip of somebody's, and `Duration` ends before `Double` does.
        duration = row.description.durationSeconds.flatMap { $0 < 1e9 ? .seconds($0) : nil }
    }
}
