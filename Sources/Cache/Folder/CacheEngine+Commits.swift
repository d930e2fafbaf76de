import Media
import System

// How bytes come into the folder. All of it on the committing thread.
extension CacheEngine {
    /// What became of a commit.
    enum Commitment: Sendable {
        /// All bytes of the plan are claimed: by `extents`, own ones and those of others. The index says
        /// `description` of the resource.
        case kept(extents: [Extent], description: EntryDescription)
        /// The entry was replaced or removed, or others keep another version of the resource in it: nothing
        /// is claimed, and nothing ever will be.
        case gone
    }

    /// Writes what `plan` names, flushes it, then claims it: in this order, and nothing in between can make
    /// a claim of bytes that are not on the disk.
    ///
    /// All of it under the entry's commit lock, so that what others have claimed meanwhile is never written
    /// over; under the folder's lock only before and after, so that nobody waits for the disk. Throws `FullDiskError`
    /// where less might have had room, else a `MediaError`.
    func commit(_ plan: CommitPlan, of entry: EntryID, in file: ObjectFile) throws -> Commitment {
        do {
            return try file.withCommitLock {
                var trimming = Trimming(policy)
                var room = Room()
                var readiness = Readiness.makingRoom
                // A page of others may go each time, and the folder is free in between.
                while readiness == .makingRoom {
                    readiness = try performOrFail {
                        guard try !withdrawLost(entry, file, in: $0) else { return .gone }
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
                    // What was set aside for it is given back; if not even that can be, the next opening counts.
                    let size = try? file.size().allocated
                    try? perform { folder in
                        guard let size else { return }
                        try folder.index.relaxedTransaction { try folder.index.setAllocated(size, of: entry) }
                    }
                    throw error
                }
            }
        } catch {
            throw FullDiskError(error, told: notKept(error)) ?? notKept(error)
        }
    }

    /// Gives the disk back what of `holes` was written to: on a full one it would be in the way of the index, of a
    /// smaller commit and of everybody else.
    ///
    /// Only what took no room before: what did may be bytes of a claim that was withdrawn and that another reader
    /// still looks at, or of one that a power cut brings back.
    private func giveBack(_ holes: ByteRangeSet, of file: ObjectFile) {
        for hole in holes.ranges { try? settings.files.punch(hole, of: file.descriptor) }
    }

    /// Whether after this failure no claim can be found, not even by who opens the index after a power cut.
    private static func claimsNothing(_ error: any Error) -> Bool {
        switch error {
        // Of the file, or of the folder when it is opened and locked: before the claim.
        case is SystemError: true
        // Of the log: the page that would make the claim true is its last one, and has found no room. (SQLite puts
        // nothing behind it unless built without SQLITE_POWERSAFE_OVERWRITE.)
        case let error as IndexError: error.code == .full
        default: false
        }
    }

    private struct Room {
        /// What of the plan nobody has claimed.
        var gaps: [ByteRange] = []
        /// What others have claimed of it.
        var others: [Extent] = []
    }

    /// Whether the entry's file was removed by somebody; what was claimed of it is withdrawn then.
    func withdrawLost(_ entry: EntryID, _ file: ObjectFile, in folder: OpenedFolder) throws -> Bool {
        guard try file.isUnlinked() else { return false }
        if try folder.index.contains(entry) {
            try folder.index.transaction { try folder.index.remove(entry) }
        }
        return true
    }

    private enum Readiness {
        /// There is not room enough yet.
        case makingRoom
        case ready
        case gone
    }

    /// Finds out what is to be written, and makes room for it or goes a step towards that.
    private func makeReady(
        for plan: CommitPlan,
        of entry: EntryID,
        _ room: inout Room,
        _ trimming: inout Trimming,
        in folder: OpenedFolder
    ) throws -> Readiness {
        guard let row = try folder.index.entry(entry), !isForeign(plan, to: row) else { return .gone }
        room = Room()
        for range in plan.bytes.ranges.ranges {
            let there = try folder.index.extents(of: entry, overlapping: range)
            room.others += there
            room.gaps += ByteRangeSet(there.map(\.range)).gaps(in: range)
        }
        guard !room.gaps.isEmpty else { return .ready }
        let needed = room.gaps.reduce(0) { $0 + Self.blocks(of: $1) }
        trimming.needed = needed
        let length = plan.description.length
        guard try makeRoom(&trimming, for: row, length: length, in: folder) else { return .makingRoom }
        // Counted before it is written, so that other processes leave room for it.
        try folder.index.relaxedTransaction {
            try folder.index.setAllocated(row.allocated + needed, of: entry)
        }
        // Without its name on the disk a new file would be lost by a power cut, whole.
        if row.storedBytes == 0 { try folder.objects.flush() }
        return .ready
    }

    /// What `range` takes on the disk at most, in the blocks of 4 KiB that nearly all filesystems have.
    private static func blocks(of range: ByteRange) -> Int64 {
        let block: Int64 = 4_096
        return ((range.upperBound - 1) / block - range.lowerBound / block + 1) * block
    }

    /// Whether others keep another version of the resource in the entry than the plan's.
    ///
    /// Two openers of an empty entry can be answered differently. The first to commit is right; what the
    /// index said already when this store opened it, is for its loader to judge.
    private func isForeign(_ plan: CommitPlan, to row: EntryRow) -> Bool {
        row.storedBytes > 0 && row.description.contradicts(plan.description)
            && row.description.isOtherVersion(than: plan.seen)
    }

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
        return try performOrFail { folder in
            var commitment = Commitment.gone
            guard try !withdrawLost(entry, file, in: folder) else { return commitment }
            try settings.files.record {
                try folder.index.transaction {
                    guard let row = try folder.index.entry(entry), !isForeign(plan, to: row) else { return }
                    for extent in own { try folder.index.insert(extent, of: entry) }
                    try folder.index.count(own, of: entry)
                    try folder.index.setAllocated(allocated, of: entry)
                    let description = try describe(plan, of: row, in: folder.index)
                    commitment = .kept(extents: own + others, description: description)
                }
            }
            return commitment
        }
    }

    /// Puts down what the plan says of the resource, and returns what the index says from now on.
    private func describe(_ plan: CommitPlan, of row: EntryRow, in index: CacheIndex) throws
        -> EntryDescription
    {
        var description = plan.isDescribed ? plan.description.completed(by: row.description) : row.description
        description.seekTable = plan.isDescribed ? plan.description.seekTable : plan.seen.seekTable
        guard plan.isDescribed else { return description }
        try index.put(EntryRecord(url: row.url, description: description), of: row.entry)
        if plan.description.seekTable != plan.seen.seekTable {
            try index.putSeekTable(plan.description.seekTable, of: row.entry)
        }
        return description
    }
}
