package import Media

/// One entry of the cache, as it was at one moment.
package struct CachedEntry: Sendable, Equatable {
    /// The entry's own number, which is never given to another entry.
    package var number: Int64 = 0
    /// The URL without user name, password and query.
    package var url: SafeText
    /// Other URLs of the entry, without user name, password and query. `list()` does not look them up.
    package var otherURLs: [SafeText] = []
    package var title: SafeText?
    package var artist: SafeText?
    package var duration: Duration?
    /// In bytes; `nil` until a server reported it.
    package var length: Int64?
    /// The committed ranges. The bytes are checked only when they are read.
    package var stored = ByteRangeSet()
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

    /// The number of committed bytes.
    package var storedBytes: Int64 { stored.byteCount }

    /// `true` if the length is known and no byte is missing.
    package var isComplete: Bool { length.map { stored.covers(0..<$0) } ?? false }

    /// The stored share in percent, rounded down, so that 100 means all; `nil` if the length is unknown.
    package var percent: Int? {
        guard let length, length > 0 else { return length == 0 ? 100 : nil }
        return isComplete ? 100 : min(99, Int(Double(storedBytes) / Double(length) * 100))
    }
}

extension CachedEntry {
    init(_ row: EntryRow, stored: ByteRangeSet, urls: [SafeText] = []) {
        let description = row.description
        self.init(
            number: row.entry.value,
            url: row.url,
            // URLs that differ only in a signature look the same here, because queries are not shown.
            otherURLs: urls.reduce(into: []) { others, name in
                if !name.isEmpty, name != row.url, !others.contains(name) { others.append(name) }
            },
            title: description.title.map { SafeText($0) },
            artist: description.artist.map { SafeText($0) },
            duration: description.plausibleDuration,
            length: description.length,
            stored: stored,
            allocatedBytes: row.allocated,
            contentType: description.contentType.map { SafeText($0) },
            etag: description.validators.etag.map { SafeText($0) },
            lastModified: description.validators.lastModified.map { SafeText($0) },
            acceptsRanges: description.acceptsRanges,
            isPinned: row.isPinned,
            created: row.created,
            lastPlayed: row.lastPlayed
        )
    }
}

extension EntryDescription {
    /// `nil` also for an absurd duration: `Duration` overflows long before `Double` does.
    var plausibleDuration: Duration? { durationSeconds.flatMap { $0 < 1e9 ? .seconds($0) : nil } }
}

/// The progress of a verification.
package struct VerifyProgress: Sendable, Equatable {
    /// Bytes checked so far.
    package var bytes: Int64 = 0
    /// Bytes that were claimed as cached when the verification began.
    package var totalBytes: Int64 = 0
}

/// The result of a verification.
package struct VerifyReport: Sendable, Equatable {
    /// The damage of one entry.
    package struct Damage: Sendable, Equatable {
        /// The URL without user name, password and query.
        package var url: SafeText
        /// The bytes that differed from what was committed and were dropped. Never empty.
        package var ranges: ByteRangeSet
    }

    package var entries = 0
    package var extents = 0
    /// Bytes that were read and checked, damaged ones included.
    package var bytes: Int64 = 0
    package var damagedExtents = 0
    /// In the order of the entries.
    package var damaged: [Damage] = []
    /// The URLs of resources that are cached whole and as the server sent them, but whose content does not match its
    /// own checksum. In the order of the entries, without user name, password and query.
    package var damagedAtServer: [SafeText] = []
    /// Damaged bytes that could not be dropped, because the folder accepts no writes.
    package var leftBytes: Int64 = 0
    /// Files in `objects/` that belonged to no entry and were removed.
    package var orphansRemoved = 0
    /// Disk space that no entry claimed, and that was freed.
    package var reclaimedBytes: Int64 = 0
    /// `true` if the index was damaged and set aside: the cache is empty now.
    package var indexWasDamaged = false

    package var damagedBytes: Int64 { damaged.reduce(0) { $0 + $1.ranges.byteCount } }

    /// `true` if no damage was found in the cache itself.
    package var isSound: Bool { damaged.isEmpty && !indexWasDamaged }
}

/// The result of removing entries.
package struct CacheRemoval: Sendable, Equatable {
    package var entriesRemoved = 0
    /// Bytes that the removed files took on the disk.
    package var bytesFreed: Int64 = 0
    /// Entries that stayed because some process has them open.
    package var entriesInUse = 0
    /// Entries that stayed because they are pinned.
    package var entriesPinned = 0
    /// URLs without an entry.
    package var entriesMissing = 0

    static func += (sum: inout CacheRemoval, other: CacheRemoval) {
        sum.entriesRemoved += other.entriesRemoved
        sum.bytesFreed += other.bytesFreed
        sum.entriesInUse += other.entriesInUse
        sum.entriesPinned += other.entriesPinned
        sum.entriesMissing += other.entriesMissing
    }
}

/// The entries that an eviction would remove.
package struct CacheForecast: Sendable, Equatable {
    /// The numbers of the entries, the least recently played first.
    package var numbers: [Int64] = []
    package var removal = CacheRemoval()

    package init(numbers: [Int64] = [], removal: CacheRemoval = CacheRemoval()) {
        self.numbers = numbers
        self.removal = removal
    }
}

/// The result of an export.
package struct CacheExport: Sendable, Equatable {
    /// The resource's length in bytes; `nil` if unknown.
    package var length: Int64?
    /// Bytes that were written, all of them checked.
    package var writtenBytes: Int64 = 0
    /// The missing ranges, in order, which are zeros in the file. If the length is unknown, the last gap ends
    /// at the last stored byte.
    package var gaps: [ByteRange] = []

    /// `true` if the whole resource was written.
    package var isWhole: Bool { length != nil && gaps.isEmpty }
}
