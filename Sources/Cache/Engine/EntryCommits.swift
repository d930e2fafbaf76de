import Media
import System

/// Writes bytes to objects and claims them in the index. Used by the committing thread only.
struct EntryCommits: Sendable {
    /// The outcome of a commit.
    enum Commitment: Sendable {
        /// All bytes of the plan are claimed by `extents`, own ones and those of other stores. `description`
        /// is what the index now has of the resource.
        case kept(extents: [Extent], description: EntryDescription)
        /// The entry was replaced or removed, or other stores keep another version of the resource in it:
        /// nothing is claimed, and nothing ever will be.
        case gone
    }

    private let settings: CacheSettings
    private let protection: Protection
    private let session: FolderSession
    private let eviction: Eviction

    init(settings: CacheSettings, protection: Protection, session: FolderSession, eviction: Eviction) {
        self.settings = settings
        self.protection = protection
        self.session = session
        self.eviction = eviction
    }

    /// Writes the bytes of `plan`, flushes them, then claims them, in this order: no claim can be made of
    /// bytes that are not on the disk.
    ///
    /// Holds the entry's commit lock all the time, so that nothing that other stores claim meanwhile is
    /// written over, and the folder's lock only before and after, so that nobody waits for the disk. Throws
    /// `FullDiskError` if a smaller commit might have had room, else a `MediaError`.
    func commit(_ plan: CommitPlan, of entry: EntryID, in file: ObjectFile) throws -> Commitment {
        do {
            return try file.withCommitLock {
                var trimming = eviction.trimming()
                var room = Room()
                var readiness = Readiness.makingRoom
                // A page of other entries may go each time; in between the folder is free.
                while readiness == .makingRoom {
                    readiness = try session.performOrFail {
                        guard try !$0.withdrawLost(entry, file) else { return .gone }
                        return try makeReady(for: plan, of: entry, &room, &trimming, in: $0)
                    }
                }
                guard readiness == .ready else { return .gone }
                let holes = file.holes(in: room.gaps)
                do {
                    let own = try write(plan, to: room.gaps, of: entry, in: file)
                    return try claim(own, besides: room.others, for: plan, of: entry, in: file)
                } catch {
                    if Self.claimsNothing(error) { giveBack(holes, of: file) }
                    // Corrects the size that was counted in advance; if this fails, the next opening does.
                    let size = try? file.size().allocated
                    try? session.perform { folder in
                        guard let size else { return }
                        try folder.index.relaxedTransaction {
                            try folder.index.entries.setAllocated(size, of: entry)
                        }
                    }
                    throw error
                }
            }
        } catch {
            throw FullDiskError(error, told: settings.notKept(error)) ?? settings.notKept(error)
        }
    }

    // MARK: Before writing

    private struct Room {
        /// The ranges of the plan that nobody has claimed.
        var gaps: [ByteRange] = []
        /// The extents that other stores have claimed of it.
        var others: [Extent] = []
    }

    private enum Readiness {
        /// There is not enough room yet.
        case makingRoom
        case ready
        case gone
    }

    /// Finds out what is to be written, and makes room for it or takes a step towards that.
    private func makeReady(
        for plan: CommitPlan,
        of entry: EntryID,
        _ room: inout Room,
        _ trimming: inout Trimming,
        in folder: OpenedFolder
    ) throws -> Readiness {
        guard let row = try folder.index.entries.row(entry), !isForeign(plan, to: row) else { return .gone }
        room = Room()
        for range in plan.bytes.ranges.ranges {
            let claimed = try folder.index.extents.all(of: entry, overlapping: range)
            room.others += claimed
            room.gaps += ByteRangeSet(claimed.map(\.range)).gaps(in: range)
        }
        guard !room.gaps.isEmpty else { return .ready }
        trimming.needed = room.gaps.reduce(0) { $0 + Self.blocks(of: $1) }
        let length = plan.description.length
        guard try eviction.makeRoom(&trimming, for: row, length: length, in: folder) else {
            return .makingRoom
        }
        // Counted before it is written, so that other processes leave room for it.
        try folder.index.relaxedTransaction {
            try folder.index.entries.setAllocated(row.allocated + trimming.needed, of: entry)
        }
        // If its name is not on the disk, a power cut loses a new file whole.
        if row.storedBytes == 0 { try folder.objects.flush() }
        return .ready
    }

    /// The most that `range` takes on the disk, in the blocks of 4 KiB that nearly all filesystems have.
    private static func blocks(of range: ByteRange) -> Int64 {
        let block: Int64 = 4_096
        return ((range.upperBound - 1) / block - range.lowerBound / block + 1) * block
    }

    /// `true` if other stores keep another version of the resource in the entry than the plan's.
    ///
    /// Two stores of an empty entry can get different answers. The first one to commit is right; a version
    /// that was in the index when this store opened it is the loader's to judge.
    private func isForeign(_ plan: CommitPlan, to row: EntryRow) -> Bool {
        row.storedBytes > 0 && row.description.contradicts(plan.description)
            && row.description.isOtherVersion(than: plan.seen)
    }

    // MARK: Writing and claiming

    private func write(
        _ plan: CommitPlan,
        to gaps: [ByteRange],
        of entry: EntryID,
        in file: ObjectFile
    ) throws -> [Extent] {
        guard !gaps.isEmpty else { return [] }
        var extents: [Extent] = []
        for range in gaps.flatMap(Extent.pieces) {
            let (bytes, extent) = protection.keep(plan.bytes.bytes(of: range), at: range, of: entry)
            try file.write(bytes[...], at: range.lowerBound)
            extents.append(extent)
        }
        try file.flush()
        return extents
    }

    private func claim(
        _ own: [Extent],
        besides others: [Extent],
        for plan: CommitPlan,
        of entry: EntryID,
        in file: ObjectFile
    ) throws -> Commitment {
        let allocated = try file.size().allocated
        return try session.performOrFail { folder in
            var commitment = Commitment.gone
            guard try !folder.withdrawLost(entry, file) else { return commitment }
            try settings.files.record {
                try folder.index.transaction {
                    guard let row = try folder.index.entries.row(entry), !isForeign(plan, to: row) else {
                        return
                    }
                    try folder.index.extents.insert(own, of: entry)
                    try folder.index.entries.setAllocated(allocated, of: entry)
                    let description = try describe(plan, of: row, in: folder.index)
                    commitment = .kept(extents: own + others, description: description)
                }
            }
            return commitment
        }
    }

    /// Records the plan's description of the resource, and returns what the index has of it from now on.
    private func describe(_ plan: CommitPlan, of row: EntryRow, in index: CacheIndex) throws
        -> EntryDescription
    {
        var description = plan.isDescribed ? plan.description.completed(by: row.description) : row.description
        description.seekTable = plan.isDescribed ? plan.description.seekTable : plan.seen.seekTable
        guard plan.isDescribed else { return description }
        try index.entries.put(EntryRecord(url: row.url, description: description), of: row.entry)
        if plan.description.seekTable != plan.seen.seekTable {
            try index.entries.putSeekTable(plan.description.seekTable, of: row.entry)
        }
        return description
    }

    // MARK: After a failure

    /// Frees the disk space that the failed commit took in `holes`: on a full disk it would be missing for
    /// the index, for a smaller commit and for everybody else.
    ///
    /// Only what took no space before: the rest may be bytes of a withdrawn claim that another reader still
    /// uses, or that a power cut brings back.
    private func giveBack(_ holes: ByteRangeSet, of file: ObjectFile) {
        for hole in holes.ranges { try? settings.files.punch(hole, of: file.descriptor) }
    }

    /// `true` if after this failure no claim can be found, not even by a process that opens the index after a
    /// power cut.
    private static func claimsNothing(_ error: any Error) -> Bool {
        switch error {
        // Of the file, or of the folder when it is opened and locked: before the claim.
        case is SystemError: true
        // Of the log: the page that would make the claim valid is its last one, and had no room. (SQLite
        // writes nothing behind it unless built without SQLITE_POWERSAFE_OVERWRITE.)
        case let error as IndexError: error.code == .full
        default: false
        }
    }
}

/// A commit failed because the disk is full.
struct FullDiskError: Error {
    /// The failure as it is reported to users.
    let told: MediaError

    /// `nil` if `cause` is another failure.
    init?(_ cause: any Error, told: MediaError) {
        let isFull = (cause as? SystemError)?.isFullDisk ?? ((cause as? IndexError)?.code == .full)
        guard isFull else { return nil }
        self.told = told
    }
}
