import Media

extension CacheEngine {
    /// An entry as it was found or made.
    struct Opening: Sendable {
        let entry: EntryID
        let file: ObjectFile
        let description: EntryDescription
        let extents: [Extent]
    }

    /// What became of a commit.
    enum Recording: Sendable {
        /// `own` was claimed now; `others` were claimed by another store of the same entry meanwhile.
        case recorded(own: [Extent], others: [Extent])
        /// The entry was replaced or removed: nothing is claimed, and nothing ever will be.
        case gone
    }

    /// Opens the entry of `url`, made where it is missing, and marks it as played now.
    func open(_ url: WebURL) throws(MediaError) -> Opening {
        try perform { folder in
            guard let row = try folder.index.entry(key: Digest.key(of: url.requestString)) else {
                return try make(url, isPinned: false, in: folder)
            }
            let file = try folder.objects.open(row.entry)
            try file.lockShared()
            let extents = try wholeExtents(of: row, in: folder, length: file.size().length)
            try folder.index.relaxedTransaction {
                try folder.index.touch(row.entry, at: settings.wallClock())
            }
            return Opening(entry: row.entry, file: file, description: row.description, extents: extents)
        }
    }

    /// Makes a new entry for `url` in place of the one there is, pinned if that was.
    func replace(_ url: WebURL) throws(MediaError) -> Opening {
        try perform { folder in
            let old = try folder.index.entry(key: Digest.key(of: url.requestString))
            return try make(url, isPinned: old?.isPinned ?? false, inPlaceOf: old?.entry, in: folder)
        }
    }

    /// Claims `extents`, whose bytes are on the disk, in one transaction with the description.
    func record(
        _ extents: [Extent],
        description: EntryDescription?,
        of entry: EntryID,
        in file: ObjectFile
    ) throws(MediaError) -> Recording {
        try perform { folder in
            var recording = Recording.gone
            // Without its name on the disk a new file would be lost by a power cut, whole.
            if !extents.isEmpty, try !folder.index.hasExtents(entry) { try folder.objects.flush() }
            try settings.files.record {
                try folder.index.transaction {
                    guard try folder.index.contains(entry) else { return }
                    recording = try claim(extents, of: entry, in: file, index: folder.index)
                    if let description { try folder.index.describe(entry, as: description) }
                    try folder.index.setAllocated(file.size().allocated, of: entry)
                }
            }
            // The commit is done, whatever becomes of the others; the next one tries to make room again.
            try? enforceBudget(in: folder)
            return recording
        }
    }

    /// Withdraws the claim of a damaged extent.
    func drop(_ extent: Extent, of entry: EntryID) {
        // If this fails, the next process finds the damage again by the same check.
        try? perform { folder in
            try folder.index.transaction { try folder.index.remove(extent, of: entry) }
        }
    }

    /// Removes the entry, also when others have it open: they read on from a file without a name.
    func discard(_ entry: EntryID) {
        // If this fails, the entry stays: what is in it is true, only not wanted.
        try? perform { folder in
            try folder.index.transaction { try folder.index.remove(entry) }
            folder.objects.unlink(entry)
        }
    }

    /// Lets go of an entry that is no longer used; an entry that never got a byte leaves nothing behind.
    func letGo(of entry: EntryID, _ file: ObjectFile) {
        // An empty entry that stays is no harm.
        try? perform { folder in
            defer { file.unlock() }
            guard try !folder.index.hasExtents(entry), file.lockExclusive() else { return }
            try folder.index.relaxedTransaction { try folder.index.removeUnpinned(entry) }
            if try !folder.index.contains(entry) { folder.objects.unlink(entry) }
        }
        file.unlock()
    }

    private func make(
        _ url: WebURL,
        isPinned: Bool,
        inPlaceOf old: EntryID? = nil,
        in folder: OpenedFolder
    ) throws -> Opening {
        let entry = EntryID.random()
        let file = try folder.objects.open(entry)
        try file.lockShared()
        func insert() throws {
            if let old { try folder.index.remove(old) }
            try folder.index.insert(
                entry,
                key: Digest.key(of: url.requestString),
                url: url.safeText,
                isPinned: isPinned,
                at: settings.wallClock()
            )
        }
        if old == nil {
            try folder.index.relaxedTransaction(insert)
        } else {
            // The old row has to be gone for good before its file is: a power cut must not bring it back.
            try folder.index.transaction(insert)
        }
        if let old { folder.objects.unlink(old) }
        return Opening(entry: entry, file: file, description: EntryDescription(), extents: [])
    }

    /// The extents that the file is long enough for; the others are withdrawn.
    private func wholeExtents(of row: EntryRow, in folder: OpenedFolder, length: Int64) throws -> [Extent] {
        let extents = try folder.index.extents(of: row.entry)
        let short = extents.filter { $0.range.upperBound > length }
        guard !short.isEmpty else { return extents }
        try folder.index.transaction {
            for extent in short { try folder.index.remove(extent, of: row.entry) }
        }
        settings.onDamage(row.url + ": stored bytes were lost and are fetched again")
        return extents.filter { $0.range.upperBound <= length }
    }

    /// Claims what of `extents` nobody else has claimed meanwhile.
    private func claim(
        _ extents: [Extent],
        of entry: EntryID,
        in file: ObjectFile,
        index: CacheIndex
    ) throws -> Recording {
        var own: [Extent] = []
        var others: [Extent] = []
        for extent in extents {
            let there = try index.extents(of: entry, overlapping: extent.range)
            // An extent before may reach into this piece and the next: it is told once.
            others += there.filter { $0 != others.last }
            let gaps = ByteRangeSet(there.map(\.range)).gaps(in: extent.range)
            own +=
                try gaps == [extent.range] ? [extent] : gaps.map { try PersistentStore.extent($0, of: file) }
        }
        for extent in own { try index.insert(extent, of: entry) }
        return .recorded(own: own, others: others)
    }
}
