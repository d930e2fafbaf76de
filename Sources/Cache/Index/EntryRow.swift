import Media

/// A row of `entries`.
struct EntryRow: Sendable {
    /// The columns that `init` reads, in its order.
    static let columns = "id, url, about, last_played, pinned, allocated, created, stored, prefix"

    let entry: EntryID
    let url: SafeText
    /// Without the seek table; see `CacheIndex.seekTable(of:)`.
    let description: EntryDescription
    /// Seconds since 1970.
    let lastPlayed: Int64
    let isPinned: Bool
    /// Bytes on the disk, as of the last commit.
    let allocated: Int64
    /// When the entry was made: seconds since 1970.
    let created: Int64
    /// How many bytes are committed.
    let storedBytes: Int64
    /// How far the bytes are committed from the first on, without a gap.
    let prefix: Int64

    /// Reads the columns named by `columns`. What stands there may have been changed by anyone: a record that
    /// is not what was put down tells nothing.
    init(_ row: borrowing SQLiteRow, protection: Protection) {
        entry = EntryID(row.integer(0))
        let record = protection.record(from: row.blob(2), in: .about, of: entry).flatMap {
            EntryRecord(bytes: $0)
        }
        url = record?.url ?? SafeText(row.optionalText(1) ?? "")
        description = record?.description ?? EntryDescription()
        lastPlayed = row.integer(3)
        isPinned = row.integer(4) != 0
        allocated = CacheIndex.plausible(row.integer(5))
        created = row.integer(6)
        storedBytes = CacheIndex.plausible(row.integer(7))
        prefix = CacheIndex.plausible(row.integer(8))
    }
}
