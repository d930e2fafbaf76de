import Media
import System

/// Writes bytes to objects and claims them in the index. Used by the committing thread only.
struct EntryCommits: Sendable {
    /// The outcome of a commit.
    enum Commitment: Sendable {
        /// All bytes of the plan are claimed now, by `extents` of this store and of others. If other stores
        /// have added or removed bytes, `extents` are all extents of the entry. `description` is the
        /// description that the index has now.
        case cached(extents: [Extent], description: EntryDescription)
        /// The entry was replaced or removed, or holds another version of the resource that other stores
        /// committed: this commit claimed nothing, and later ones would not either.
        case gone
        /// There is no room for a resource of this use without evicting what others need more.
        case unwanted(ResourceUse)
    }

    /// Downloading ahead evicts no entry that was played within this time: seven days, in seconds.
    static let sparedTime: Int64 = 7 * 86_400

    let session: FolderSession
    let eviction: Eviction
    private var settings: CacheSettings { session.settings }

    /// Writes the bytes of `plan`, flushes them, then claims them. The order ensures that no bytes are
    /// claimed before they are on the disk.
    ///
    /// Holds the entry's commit lock throughout, so that no other store can claim bytes that this commit then
    /// overwrites. Holds the folder's lock only before and after writing, so that no process waits for the
    /// disk. Throws `FullDiskError` if a smaller commit might have had room, else a `MediaError`.
    ///
    /// `spared` are not evicted for it if it is downloaded ahead.
    func commit(_ plan: CommitPlan, to file: ObjectFile, for use: ResourceUse, sparing spared: Set<EntryID>)
        throws -> Commitment
    {
        do {
            return try file.withCommitLock {
                var trimming = eviction.trimming()
                trimming.policy.spared = spared
                var gaps: [ByteRange] = []
                var readiness = Readiness.makingRoom
                // Each step may evict a page of other entries; the folder is unlocked between steps.
                while readiness == .makingRoom {
                    readiness = try session.performOrFail {
                        guard try !$0.removeIfLost(file) else { return .gone }
                        return try makeReady(for: plan, of: file.entry, use, &gaps, &trimming, in: $0)
                    }
                }
                switch readiness {
                case .gone: return .gone
                case .unwanted(let use): return .unwanted(use)
                case .ready, .makingRoom: break
                }
                let holes = file.holes(in: gaps)
                do {
                    return try claim(try write(plan, to: gaps, of: file), for: plan, in: file)
                } catch {
                    if Self.claimsNothing(error) { giveBack(holes, of: file) }
                    // Corrects the size that was counted in advance. If this fails, the next opening of the
                    // folder corrects it.
                    let size = try? file.size().allocated
                    try? session.perform { folder in
                        guard let size else { return }
                        try folder.index.relaxedTransaction {
                            try folder.index.entries.setAllocated(size, of: file.entry)
                        }
                    }
                    throw error
                }
            }
        } catch {
            throw FullDiskError(error, report: settings.notCached(error)) ?? settings.notCached(error)
        }
    }

    // MARK: Before writing

    private enum Readiness: Equatable {
        /// There is not enough room yet.
        case makingRoom
        case ready
        case gone
        case unwanted(ResourceUse)
    }

    /// Determines the ranges to write, those that no store has claimed, and makes room for them, or takes one
    /// step towards that.
    private func makeReady(
        for plan: CommitPlan,
        of entry: EntryID,
        _ use: ResourceUse,
        _ gaps: inout [ByteRange],
        _ trimming: inout Trimming,
        in folder: OpenedFolder
    ) throws -> Readiness {
        guard let row = try folder.index.entries.row(entry),
            !row.isForeign(to: plan.description, since: plan.seen)
        else { return .gone }
        gaps = try plan.bytes.ranges.ranges.flatMap { range in
            let claimed = try folder.index.extents.all(of: entry, overlapping: range)
            return ByteRangeSet(claimed.map(\.range)).gaps(in: range)
        }
        guard !gaps.isEmpty else { return .ready }
        trimming.needed = gaps.reduce(Self.mapByteCount) { $0 + Self.blocks(of: $1) }
        let isForTags = row.lastPlayed == EvictionCandidate.neverPlayed && !row.isPinned
        let use = isForTags ? .tags : use
        switch use {
        case .playing: break
        case .ahead: trimming.policy.sparesPlayedSince = settings.wallClock() - Self.sparedTime
        case .tags: trimming.policy.sparesPlayedSince = EvictionCandidate.neverPlayed + 1
        }
        do {
            // The tags are in the first bytes, however long the resource is.
            let length = use == .tags ? nil : plan.length
            guard try eviction.makeRoom(&trimming, for: row, length: length, in: folder) else {
                return .makingRoom
            }
        } catch let error as MediaError where error.code == .notCached && use != .playing {
            return .unwanted(use)
        }
        // The size is counted before the bytes are written, so that other processes leave room for them.
        try folder.index.relaxedTransaction {
            try folder.index.entries.setAllocated(row.allocated + trimming.needed, of: entry)
        }
        // Without a flushed name, a power cut would lose all of a new file.
        if row.storedBytes == 0 { try folder.objects.flush() }
        return .ready
    }

    /// The bytes of a block on nearly all filesystems.
    private static let block: Int64 = 4_096
    /// The most bytes by which a commit lengthens the filesystem's map of a file in many pieces. ext4 counts
    /// them as the file's.
    private static let mapByteCount = 2 * block

    /// The most bytes that `range` takes on the disk.
    private static func blocks(of range: ByteRange) -> Int64 {
        ((range.upperBound - 1) / block - range.lowerBound / block + 1) * block
    }

    // MARK: Writing and claiming

    private func write(_ plan: CommitPlan, to gaps: [ByteRange], of file: ObjectFile) throws -> [Extent] {
        guard !gaps.isEmpty else { return [] }
        var extents: [Extent] = []
        for range in gaps.flatMap(Extent.pieces) {
            let (bytes, extent) = session.protection.keep(
                plan.bytes.bytes(of: range),
                at: range,
                of: file.entry
            )
            try file.write(bytes[...], at: range.lowerBound)
            extents.append(extent)
        }
        try file.flush()
        return extents
    }

    private func claim(_ own: [Extent], for plan: CommitPlan, in file: ObjectFile) throws -> Commitment {
        let entry = file.entry
        let allocated = try file.size().allocated
        return try session.performOrFail { folder in
            var commitment = Commitment.gone
            guard try !folder.removeIfLost(file) else { return commitment }
            try settings.files.record {
                try folder.index.transaction {
                    guard let row = try folder.index.entries.row(entry),
                        !row.isForeign(to: plan.description, since: plan.seen)
                    else {
                        return
                    }
                    try folder.index.extents.insert(own, of: entry)
                    try folder.index.entries.setAllocated(allocated, of: entry)
                    try plan.parts.put(into: folder.index.parts, of: entry)
                    let description = try describe(plan, of: row, in: folder.index)
                    let extents = try self.extents(of: entry, for: plan, row, in: folder.index)
                    commitment = .cached(extents: extents, description: description)
                }
            }
            return commitment
        }
    }

    /// Returns only the extents that cover the plan, so that a commit costs the same however long the entry
    /// is. Returns all extents of the entry if `row`, read before the commit, shows that other stores have
    /// added or removed bytes.
    private func extents(of entry: EntryID, for plan: CommitPlan, _ row: EntryRow, in index: CacheIndex)
        throws
        -> [Extent]
    {
        guard row.storedBytes == plan.committedBytes else { return try index.extents.all(of: entry) }
        return try plan.bytes.ranges.ranges.flatMap { try index.extents.all(of: entry, overlapping: $0) }
    }

    /// Records the plan's description of the resource, and returns the description that the index has
    /// afterwards.
    private func describe(_ plan: CommitPlan, of row: EntryRow, in index: CacheIndex) throws
        -> EntryDescription
    {
        var description = plan.isDescribed ? plan.description.completed(by: row.description) : row.description
        description.facts = plan.isDescribed ? plan.description.facts : plan.seen.facts
        guard plan.isDescribed else { return description }
        try index.entries.put(EntryRecord(url: row.url, description: description), of: row.entry)
        for (fact, value) in plan.description.facts where value != plan.seen.facts[fact] {
            try index.facts.put(value, as: fact, of: row.entry)
        }
        return description
    }

    // MARK: After a failure

    /// Frees the disk space that the failed commit took in `holes`: on a full disk the index, a smaller
    /// commit and other programs need it.
    ///
    /// Frees only what took no space before. The rest may be bytes of a withdrawn claim: another reader may
    /// still use them, and a power cut may restore the claim.
    private func giveBack(_ holes: ByteRangeSet, of file: ObjectFile) {
        for hole in holes.ranges { try? settings.files.punch(hole, of: file.descriptor) }
    }

    /// `true` if `error` proves that no claim was recorded, not even one that appears after a power cut.
    private static func claimsNothing(_ error: any Error) -> Bool {
        switch error {
        // From the file, or from opening and locking the folder: both come before the claim.
        case is SystemError: true
        // From the write-ahead log: its last page would have made the claim valid, and did not fit. (SQLite
        // writes nothing after that page unless built without SQLITE_POWERSAFE_OVERWRITE.)
        case let error as SQLiteError: error.code == .full
        default: false
        }
    }
}

/// A commit failed because the disk is full.
struct FullDiskError: Error {
    /// The error to report to users.
    let report: MediaError

    /// `nil` if `cause` is another failure.
    init?(_ cause: any Error, report: MediaError) {
        let isFull = (cause as? SystemError)?.isFullDisk ?? ((cause as? SQLiteError)?.code == .full)
        guard isFull else { return nil }
        self.report = report
    }
}
