import Media
import System

// Entries as stores open and leave them. All of it on the committing thread.
extension CacheEngine {
    /// An entry as it was found or made.
    struct Opening: Sendable {
        let entry: EntryID
        let file: ObjectFile
        let description: EntryDescription
        let extents: [Extent]
        /// Why nothing can be added to the entry; nil where it can.
        var refusal: MediaError?
    }

    /// Opens the entry of `url`, made where it is missing, and marks it as played now; in a folder that takes
    /// nothing, what is kept of it.
    func open(_ url: WebURL) throws(MediaError) -> Opening {
        let key = key(of: url)
        // What had to be replaced is not what was asked for, also where it could not be.
        guard !outdated.contains(key) else { return try replace(url) }
        do {
            return try performOrFail { folder in
                guard let row = try folder.index.entry(key: key) else {
                    return try make(url, key: key, isPinned: false, in: folder)
                }
                return try open(row, in: folder)
            }
        } catch {
            if let opening = try? openUnwritable(key, after: error) { return opening }
            throw notKept(error)
        }
    }

    /// Makes a new entry for `url` in place of the one there is, pinned if that was.
    func replace(_ url: WebURL) throws(MediaError) -> Opening {
        let key = key(of: url)
        outdated.insert(key)
        let opening = try perform { folder in
            let old = try folder.index.entry(key: key)
            if let old { replaced.insert(old.entry) }
            return try make(url, key: key, isPinned: old?.isPinned ?? false, inPlaceOf: old, in: folder)
        }
        outdated.remove(key)
        return opening
    }

    /// Pins the entry of `url`, made empty where there is none, or unpins it.
    func setPinned(_ url: WebURL, _ isPinned: Bool) throws(MediaError) {
        let key = key(of: url)
        try perform { folder in
            if let row = try folder.index.entry(key: key) {
                guard row.isPinned != isPinned else { return }
                try folder.index.transaction { try folder.index.setPinned(isPinned, of: row.entry) }
                // What was pinned before a byte of it came leaves nothing behind.
                if !isPinned, row.storedBytes == 0 { _ = try remove([row.entry], from: folder) }
            } else if isPinned {
                // On the disk when this returns, unlike an entry that is made to be filled at once.
                _ = try folder.index.transaction { try insert(url, key: key, isPinned: true, in: folder) }
            }
        }
    }

    /// Withdraws the claims of damaged or lost extents; says whether it could.
    @discardableResult
    func drop(_ extents: [Extent], of entry: EntryID) -> Bool {
        // If this fails, the next process finds the damage again by the same check.
        let dropped: Void? = try? perform { folder in
            try folder.index.transaction {
                for extent in extents { try folder.index.remove(extent, of: entry) }
            }
        }
        return dropped != nil
    }

    /// Why the store of `url` on `entry` claims nothing any more; nil when the entry was replaced, as it is when
    /// the resource has changed.
    func cause(ofLosing entry: EntryID, of url: WebURL) -> SafeText? {
        // The new one may be gone already: nothing came into it yet.
        guard !replaced.contains(entry) else { return nil }
        let key = key(of: url)
        let now = try? perform { try $0.index.entry(key: key)?.entry }
        guard let now = now ?? nil else { return "its place in the cache folder is gone" }
        return now == entry ? "others keep another version of it" : nil
    }

    /// Takes the name `url` from the entry, and removes the entry with its last name. Stores that have it open read
    /// on from a file without a name.
    func discard(_ entry: EntryID, of url: WebURL) {
        let key = key(of: url)
        // If this fails, the entry stays: what is in it is true, only not wanted.
        try? perform { folder in
            if try folder.index.transaction({ try folder.index.removeName(key, of: entry) }) {
                folder.objects.unlink(entry)
            }
        }
    }

    /// Lets go of an entry that is no longer used; an entry that never got a byte leaves nothing behind.
    func letGo(of entry: EntryID, _ file: ObjectFile) {
        // An empty entry that stays is no harm.
        try? perform { folder in
            defer { file.unlock() }
            guard try !withdrawLost(entry, file, in: folder) else { return }
            guard try !folder.index.hasExtents(entry), file.lockExclusive() else { return }
            try folder.index.relaxedTransaction { try folder.index.removeUnpinned(entry) }
            if try !folder.index.contains(entry) { folder.objects.unlink(entry) }
        }
        file.unlock()
    }

    /// Opens the entry of a row. The lock must be held.
    func open(_ row: EntryRow, in folder: OpenedFolder) throws -> Opening {
        let file = try folder.objects.open(row.entry)
        try file.lockShared()
        let extents = try wholeExtents(of: row, in: folder, length: file.size().length)
        var description = row.description
        description.seekTable = try folder.index.seekTable(of: row.entry)
        // A disk that is too full to note it must not keep anybody from what is stored.
        try? folder.index.relaxedTransaction { try folder.index.touch(row.entry, at: settings.wallClock()) }
        return Opening(
            entry: row.entry,
            file: file,
            description: description,
            extents: extents
        )
    }

    private func make(
        _ url: WebURL,
        key: [UInt8],
        isPinned: Bool,
        inPlaceOf old: EntryRow? = nil,
        in folder: OpenedFolder
    ) throws -> Opening {
        // Durable if an entry goes: its row must not come back without its file.
        let (isGone, entry, file) = try folder.index.transaction(isRelaxed: old == nil) {
            // The same resource may still be right under its other names.
            let isGone = try old.map { try folder.index.removeName(key, of: $0.entry) } ?? false
            let (entry, file) = try insert(url, key: key, isPinned: isPinned, in: folder)
            return (isGone, entry, file)
        }
        if let old, isGone { folder.objects.unlink(old.entry) }
        return Opening(entry: entry, file: file, description: EntryDescription(), extents: [])
    }

    private func insert(
        _ url: WebURL,
        key: [UInt8],
        isPinned: Bool,
        in folder: OpenedFolder
    ) throws -> (EntryID, ObjectFile) {
        let entry = EntryID.random()
        let file = try folder.objects.open(entry)
        try file.lockShared()
        let time = settings.wallClock()
        try folder.index.insert(entry, key: key, url: url.safeText, isPinned: isPinned, at: time)
        return (entry, file)
    }

    /// The extents that the file is long enough for; the others are withdrawn.
    private func wholeExtents(of row: EntryRow, in folder: OpenedFolder, length: Int64) throws -> [Extent] {
        let extents = try folder.index.extents(of: row.entry)
        let short = extents.filter { $0.range.upperBound > length }
        guard !short.isEmpty else { return extents }
        // Behind what is asked for now: it waits for the disk.
        committer.submit { [weak self] in self?.drop(short, of: row.entry) }
        settings.onNotice(
            MediaError(.damagedExtent, row.url, "stored bytes were lost and are fetched again")
        )
        return extents.filter { $0.range.upperBound <= length }
    }
}
