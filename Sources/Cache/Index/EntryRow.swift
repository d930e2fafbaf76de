import Media

/// A row of `entries`.
struct EntryRow: Sendable {
    /// The columns that `init` reads, in its order.
    static let columns = """
        id, url, length, content_type, etag, last_modified, accepts_ranges, title, artist, duration,
        seek_table, last_played, pinned, allocated, created
        """

    let entry: EntryID
    let url: SafeText
    let description: EntryDescription
    /// Seconds since 1970.
    let lastPlayed: Int64
    /// When the entry was made: seconds since 1970.
    let created: Int64
    let isPinned: Bool
    /// Bytes on the disk, as of the last commit.
    let allocated: Int64

    /// Reads the columns named by `columns`. What stands there may have been changed by anyone.
    init(_ row: borrowing SQLiteRow) {
        entry = EntryID(row.integer(0))
        url = SafeText(row.optionalText(1) ?? "")
        var description = EntryDescription()
        description.length = row.optionalInteger(2).flatMap { $0 >= 0 ? $0 : nil }
        description.contentType = row.optionalText(3)
        description.validators = Validators(etag: row.optionalText(4), lastModified: row.optionalText(5))
        description.acceptsRanges = row.optionalInteger(6).map { $0 != 0 }
        description.title = row.optionalText(7)
        description.artist = row.optionalText(8)
        description.durationSeconds = row.optionalReal(9).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        description.seekTable = row.blob(10)
        self.description = description
        lastPlayed = row.integer(11)
        created = row.integer(14)
        isPinned = row.integer(12) != 0
        allocated = CacheIndex.plausible(row.integer(13))
    }
}
