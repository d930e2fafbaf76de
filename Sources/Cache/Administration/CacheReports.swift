package import Media

/// How far a verification has come.
package struct VerifyProgress: Sendable, Equatable {
    /// Bytes looked at so far; never falls.
    package var bytes: Int64 = 0
    /// Bytes that were claimed when it began, at least 0.
    package var totalBytes: Int64 = 0
    /// The entry being looked at, without secrets.
    package var entry: SafeText = ""
}

/// What a verification looked at, found and mended.
package struct VerifyReport: Sendable, Equatable {
    /// What one entry lost.
    package struct Damage: Sendable, Equatable {
        /// Without secrets.
        package var url: SafeText
        /// Never empty.
        package var ranges: ByteRangeSet
    }

    package var entries = 0
    package var extents = 0
    /// Bytes that were read and compared, damaged ones included.
    package var bytes: Int64 = 0
    /// Extents whose bytes were not what was kept. They were dropped, and are fetched again when played.
    package var damagedExtents = 0
    /// What was lost, in the order of the entries.
    package var damaged: [Damage] = []
    /// Damaged bytes that could not be dropped, because the folder takes nothing.
    package var leftBytes: Int64 = 0
    /// Files in `objects/` that belonged to no entry, and were removed.
    package var orphansRemoved = 0
    /// Bytes on the disk that nothing claimed, and that are free now.
    package var reclaimedBytes: Int64 = 0
    /// The index itself was damaged: it was set aside, and the cache is empty now.
    package var indexWasDamaged = false

    /// How many bytes were lost.
    package var damagedBytes: Int64 { damaged.reduce(0) { $0 + $1.ranges.byteCount } }

    /// Whether all was as it should be.
    package var isSound: Bool { damagedExtents == 0 && !indexWasDamaged }
}

/// What a removal did.
package struct CacheRemoval: Sendable, Equatable {
    package var entriesRemoved = 0
    /// Bytes that the removed files took on the disk.
    package var bytesFreed: Int64 = 0
    /// Entries that were left because some process has them open.
    package var entriesInUse = 0
    /// Entries that were left because they are pinned.
    package var entriesPinned = 0
    /// Asked for, and not there.
    package var entriesMissing = 0

    /// Adds what another removal did.
    static func += (sum: inout CacheRemoval, other: CacheRemoval) {
        sum.entriesRemoved += other.entriesRemoved
        sum.bytesFreed += other.bytesFreed
        sum.entriesInUse += other.entriesInUse
        sum.entriesPinned += other.entriesPinned
        sum.entriesMissing += other.entriesMissing
    }
}

/// What an export wrote.
package struct CacheExport: Sendable, Equatable {
    /// The resource's length in bytes; nil where no answer told it.
    package var length: Int64?
    /// Bytes that were written, each of them checked.
    package var writtenBytes: Int64 = 0
    /// What is missing, in order: zeros stand in its place. Behind the last stored byte only where the length
    /// is known.
    package var gaps: [ByteRange] = []

    /// Whether the whole resource was written.
    package var isWhole: Bool { length != nil && gaps.isEmpty }
}
