import Media

/// What `reprise cache` needs of the cache; the wiring puts the cache's own types behind it.
///
/// A folder that is not there is empty, and is not made by asking. Every call throws `MediaError`
/// when the folder cannot be used.
protocol CacheAdministration: Sendable {
    /// All entries, the last played first.
    func list() async throws -> [CacheListing]

    /// The entry of `url`; nil when nothing of it is kept. Does not count as playing it.
    func info(_ url: WebURL) async throws -> CacheListing?

    /// Checks every byte that is kept, and drops what is damaged.
    ///
    /// `progress` hears how many of all bytes are checked, from any thread, and must not block. Throws
    /// `CancellationError` when the task is cancelled; what was dropped by then stays dropped.
    func verify(progress: @escaping @Sendable (_ checked: Int64, _ total: Int64) -> Void) async throws
        -> CheckReport

    /// Drops the entries of `urls`, but for those that are open in some process.
    func drop(_ urls: [WebURL], includesPinned: Bool) async throws -> DropReport

    /// Drops the least recently played entries until no more than `size` bytes are left.
    func shrink(to size: Int64, includesPinned: Bool) async throws -> DropReport

    /// What `shrink` would drop if nothing were open, without pinned ones; drops nothing.
    func forecast(shrinkingTo size: Int64) async throws -> DropReport

    /// Drops every entry that is not open in some process.
    func clear(includesPinned: Bool) async throws -> DropReport

    /// Keeps what is stored, or will be, of `url` whatever the bounds say; or no longer.
    func setPinned(_ url: WebURL, _ isPinned: Bool) async throws

    /// Writes what is kept of `url` to a file that is open and seekable, each byte at its own offset; nil
    /// when nothing of it is kept. Every byte is checked, and a damaged one becomes part of a gap.
    func export(_ url: WebURL, into descriptor: Int32) async throws -> ExportReport?
}

/// What a check of all bytes found.
struct CheckReport: Sendable, Equatable {
    /// What one entry lost: bytes that were not what was kept, and are dropped.
    struct Damage: Sendable, Equatable {
        /// Its URL without secrets.
        var source: SafeText
        var ranges: ByteRangeSet
    }

    /// Entries that were checked.
    var entries = 0
    /// Bytes that were checked.
    var bytes: Int64 = 0
    /// The entries that lost something.
    var damaged: [Damage] = []
    /// Damaged bytes that could not be dropped, because the folder takes nothing.
    var leftBytes: Int64 = 0
    /// Files that belonged to no entry, and were removed.
    var strayFiles = 0
    /// Bytes of the disk that nothing claimed, and that are free now.
    var reclaimedBytes: Int64 = 0
    /// The index was damaged and set aside: the cache is empty now.
    var isIndexLost = false

    var damagedBytes: Int64 { damaged.reduce(0) { $0 + $1.ranges.byteCount } }
    var isSound: Bool { damaged.isEmpty && !isIndexLost }
}

/// What dropping entries did.
struct DropReport: Sendable, Equatable {
    var removedEntries = 0
    /// Of the disk.
    var removedBytes: Int64 = 0
    /// Entries that were left because they are pinned.
    var pinnedEntries = 0
    /// Entries that were left because they are open.
    var openEntries = 0
    /// URLs of which nothing was kept.
    var unknownSources = 0

    var leftEntries: Int { pinnedEntries + openEntries }
}

/// What was written of one piece of music.
struct ExportReport: Sendable, Equatable {
    /// In bytes; nil where no answer told it.
    var length: Int64?
    var writtenBytes: Int64
    /// What is missing, in order: zeros stand in its place.
    var gaps: [ByteRange]

    /// Whether all was written.
    var isWhole: Bool { length != nil && gaps.isEmpty }
}
