package import Media

extension CachedItem {
    init(
        _ row: EntryRow,
        stored: ByteRangeSet,
        urls: [SafeText] = [],
        stream: StreamContents? = nil
    ) {
        self.init(row.entry, url: row.url, lastPlayed: row.lastPlayed)
        let description = row.description
        // URLs that differ only in a signature look the same here, because queries are not shown.
        otherURLs = urls.reduce(into: []) { others, name in
            if !name.isEmpty, name != row.url, !others.contains(name) { others.append(name) }
        }
        tags = description.tags
        duration = description.plausibleDuration
        length = stream.map(\.length) ?? description.length
        self.stored = stored
        self.stream = stream
        allocatedBytes = row.allocated
        contentType = description.contentType.map { SafeText($0) }
        etag = description.validators.etag.map { SafeText($0) }
        lastModified = description.validators.lastModified.map { SafeText($0) }
        acceptsRanges = description.acceptsRanges
        isPinned = row.isPinned
        created = row.created
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
    /// Bytes that were read and checked, damaged ones included.
    package var bytes: Int64 = 0
    /// In the order of the entries.
    package var damaged: [Damage] = []
    /// The URLs of resources that are cached whole and as the server sent them, but whose content does not
    /// match its own checksum. In the order of the entries, without user name, password and query.
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

extension CacheRemoval {
    /// The removal of all of `entries`.
    package init(of entries: [CachedItem]) {
        self.init(entriesRemoved: entries.count, bytesFreed: entries.reduce(0) { $0 &+ $1.allocatedBytes })
    }
}

/// The result of an export.
package struct CacheExport: Sendable, Equatable {
    /// `true` if the whole resource was written.
    package let isWhole: Bool
    /// The missing ranges, in order, which are zeros in the file. If the length is unknown, the last gap ends
    /// at the last stored byte.
    package let gaps: [ByteRange]
}
