import Glibc
import Media
import System

/// An entry that was opened, and that is locked as in use as long as its file is open.
struct OpenEntry: Sendable {
    let file: ObjectFile
    /// For display; empty for a new entry.
    var url: SafeText = ""
    var description = EntryDescription()
    /// Sorted by offset.
    var extents: [Extent] = []
    /// Claimed extents beyond the end of the file; their claims must be withdrawn.
    var lost: [Extent] = []
    /// The error that prevents adding bytes to the entry; `nil` if they can be added.
    var refusal: MediaError?
    /// The segments of a recorded stream, and where they are; `nil` for other resources.
    var stream: StreamTable?
    var places: [PartPlace] = []
}

extension OpenEntry {
    /// The entry of `row`. Withdraws no claims.
    init(_ row: EntryRow, of index: CacheIndex, file: ObjectFile) throws {
        let length = try file.size().length
        let all = try index.extents.all(of: row.entry)
        self.init(
            file: file,
            url: row.url,
            description: row.description,
            extents: all.filter { $0.range.upperBound <= length },
            lost: all.filter { $0.range.upperBound > length }
        )
        description.facts = try index.facts.all(of: row.entry)
        guard row.isStream else { return }
        stream = try index.parts.table(of: row.entry)
        places = try index.parts.places(of: row.entry)
    }
}

/// Opens, replaces, names, pins and releases entries. Used by the committing thread only, except as noted.
final class EntryCatalog: @unchecked Sendable {
    // Unchecked: all variables are touched on the committing thread only.
    /// Keys whose entry is outdated and could not be replaced.
    private var outdated: Set<[UInt8]> = []
    /// Entries that this object has replaced: a store that loses one of them need not report it.
    private var replaced: Set<EntryID> = []
    private var forbidden = ForbiddenBytes()

    private let session: FolderSession
    private let eviction: Eviction
    private var settings: CacheSettings { session.settings }

    init(session: FolderSession, eviction: Eviction) {
        self.session = session
        self.eviction = eviction
    }

    /// The key of `url` in the index. May be called from any thread.
    func key(of url: WebURL) -> [UInt8] { session.protection.key(of: settings.identity.text(of: url)) }

    // MARK: Stores

    /// Opens the entry of `resource`, created empty if it is missing, marks it as played now as its use says,
    /// and notes its episode. In a read-only folder, opens the entry for reading only.
    func open(_ resource: ResourceKey, isOffline: Bool) throws(MediaError) -> OpenEntry {
        forbidden.removeAll(by: session)
        let url = resource.url
        let key = key(of: url)
        let episode = resource.episode.map { session.protection.key(of: $0.key) }
        // An earlier `replace` failed: retry it rather than open the outdated entry.
        guard !outdated.contains(key) else { return try replace(url) }
        func find(in index: CacheIndex) throws -> EntryRow? {
            try isOffline ? index.offlineRow(named: key, of: episode) : index.entries.row(named: key)
        }
        do {
            return try session.performOrFail { folder in
                guard let row = try find(in: folder.index) else {
                    let played = resource.use == .tags ? EvictionCandidate.neverPlayed : nil
                    return try make(url, key: key, of: episode, isPinned: false, played: played, in: folder)
                }
                let file = try folder.objects.open(row.entry)
                try file.lockShared()
                let opening = try OpenEntry(row, of: folder.index, file: file)
                if !opening.lost.isEmpty {
                    settings.onNotice(
                        MediaError(.damagedExtent, row.url, "cached bytes were lost; downloading them again")
                    )
                }
                guard resource.use != .tags else { return opening }
                // Downloading ahead does not count as playing. But an entry that was made for its tags holds
                // music from now on, and must not be evicted as tags are.
                let isTouched =
                    resource.use == .playing || row.lastPlayed == EvictionCandidate.neverPlayed
                // A full disk must not prevent reading what is stored.
                try? folder.index.relaxedTransaction {
                    if isTouched { try folder.index.entries.touch(row.entry, at: settings.wallClock()) }
                    try folder.index.names.bringBack(row.entry, as: key, url: url.safeText)
                    try folder.index.names.note(episode, of: key)
                }
                return opening
            }
        } catch {
            guard let opening = try openUnwritable(after: error, find) else {
                throw settings.notCached(error)
            }
            return opening
        }
    }

    /// Replaces the entry of `url` by a new one, which is pinned if the old one was.
    func replace(_ url: WebURL) throws(MediaError) -> OpenEntry {
        let key = key(of: url)
        outdated.insert(key)
        let opening = try session.perform { folder in
            let old = try folder.index.entries.row(named: key)
            if let old { replaced.insert(old.entry) }
            return try make(url, key: key, isPinned: old?.isPinned ?? false, inPlaceOf: old, in: folder)
        }
        outdated.remove(key)
        return opening
    }

    /// Opens another rendition of the stream `url`: the cached one whose stored form begins with `rendition`,
    /// or a new, empty one. The entry of the rendition before is set aside, and loses nothing.
    func open(_ rendition: [UInt8], of url: WebURL) throws(MediaError) -> OpenEntry {
        let key = key(of: url)
        let new = try session.perform { folder -> ObjectFile? in
            let index = folder.index
            let other = try index.entries.rows(named: key).first { row in
                try index.parts.table(of: row.entry)?.rendition.starts(with: rendition) == true
            }
            return try index.relaxedTransaction {
                if let other {
                    try index.names.bringBack(other.entry, as: key, url: url.safeText)
                    return nil
                }
                try index.names.setAside(key)
                return try insert(url, key: key, isPinned: false, in: folder)
            }
        }
        if let new { return OpenEntry(file: new) }
        return try open(ResourceKey(url), isOffline: false)
    }

    private func make(
        _ url: WebURL,
        key: [UInt8],
        of episode: [UInt8]? = nil,
        isPinned: Bool,
        played: Int64? = nil,
        inPlaceOf old: EntryRow? = nil,
        in folder: OpenedFolder
    ) throws -> OpenEntry {
        func change() throws -> (isGone: Bool, file: ObjectFile) {
            // The old entry may still be valid for its other URLs.
            let isGone = try old.map { try folder.index.removeName(key, of: $0.entry) } ?? false
            let file = try insert(url, key: key, isPinned: isPinned, played: played, in: folder)
            try folder.index.names.note(episode, of: key)
            return (isGone, file)
        }
        // Durable if an entry is removed: a power cut must not bring back its row without its file.
        let (isGone, file) =
            old == nil ? try folder.index.relaxedTransaction(change) : try folder.index.transaction(change)
        if let old, isGone { folder.objects.unlink(old.entry) }
        return OpenEntry(file: file)
    }

    private func insert(
        _ url: WebURL,
        key: [UInt8],
        isPinned: Bool,
        played: Int64? = nil,
        in folder: OpenedFolder
    ) throws -> ObjectFile {
        let file = try folder.objects.open(.random())
        try file.lockShared()
        let time = settings.wallClock()
        let index = folder.index
        let text = url.safeText
        try index.insert(file.entry, key: key, url: text, isPinned: isPinned, at: time, played: played)
        return file
    }

    /// Removes the name `url` of the entry, whose server forbids to cache it, and the entry itself if that
    /// was its last name. Stores that have it open can still read its unlinked file.
    func discard(_ entry: EntryID, of url: WebURL) {
        forbidden.remove(.name(key(of: url), entry), of: url.safeText, by: session)
    }

    /// Removes the part `key` of the stream `url`, whose server forbids to cache it.
    func discard(_ key: PartKey, at region: ByteRange, of entry: EntryID, _ url: WebURL) {
        forbidden.remove(.part(key, region, entry), of: url.safeText, by: session)
    }

    /// Unlocks an entry that a store has closed. Removes it if none of its bytes is committed, unless it is
    /// pinned or another store has it open.
    func release(_ file: ObjectFile) {
        forbidden.removeAll(by: session)
        // If this fails, an empty entry may stay, which does no harm.
        try? session.perform { folder in
            defer { file.unlock() }
            let entry = file.entry
            guard try !folder.removeIfLost(file) else { return }
            guard try folder.index.extents.isEmpty(entry), file.lockExclusive() else { return }
            try folder.index.relaxedTransaction { try folder.index.entries.removeUnpinned(entry) }
            if try folder.index.entries.row(entry) == nil { folder.objects.unlink(entry) }
        }
        file.unlock()
    }

    /// Withdraws the claims of damaged or lost extents. Returns `true` on success.
    @discardableResult
    func drop(_ extents: [Extent], of entry: EntryID) -> Bool {
        // If this fails, the next check of these bytes finds the damage again.
        let dropped: Void? = try? session.perform { folder in
            try folder.index.transaction { try folder.index.extents.remove(extents, of: entry) }
        }
        return dropped != nil
    }

    /// The reason to report when the store of `url` can no longer commit to `entry`. `nil` if that is
    /// expected: this object replaced the entry because the resource has changed, or `url` is now a name of
    /// another entry.
    func cause(ofLosing entry: EntryID, of url: WebURL) -> SafeText? {
        // Checked first: the new entry may have been removed already, if nothing was stored in it.
        guard !replaced.contains(entry) else { return nil }
        let key = key(of: url)
        let current = try? session.perform { try $0.index.entries.row(named: key)?.entry }
        guard let current = current ?? nil else { return "its entry in the cache folder was removed" }
        return current == entry ? "another player has cached another version of it" : nil
    }

    // MARK: The parts of a stream

    /// The key of the part `name` in the index. May be called from any thread.
    func key(of name: PartName) -> PartKey {
        func key(_ kind: PartKey.Kind, of url: WebURL) -> PartKey {
            let text = "part\0" + settings.identity.text(of: url)
            return PartKey(kind: kind, number: 0, name: session.protection.key(of: text))
        }
        switch name {
        case .list(let level): return PartKey(kind: .list, number: Int64(level), name: [])
        case .key(let url): return key(.key, of: url)
        case .section(let url): return key(.section, of: url)
        case .segments(let number): return PartKey(kind: .segments, number: Int64(number), name: [])
        }
    }

    /// The part `key` of `entry`, with its extents; added with room for `byteCount` bytes, and as `url`
    /// says, if there is none. A part with less room gets more, unless another part lies behind it.
    func makePart(
        _ key: PartKey,
        at url: SafeText,
        byteCount: Int64,
        of entry: EntryID
    ) throws(MediaError) -> (row: PartRow, extents: [Extent]) {
        try session.perform { folder in
            let index = folder.index
            if var row = try index.parts.row(key, of: entry) {
                if let longer = try index.parts.lengthened(row.region, to: byteCount, in: entry) {
                    row.region = longer
                    try index.relaxedTransaction { [row] in try index.parts.put(row, as: key, of: entry) }
                }
                return (row, try index.extents.all(of: entry, overlapping: row.region))
            }
            guard try index.entries.row(entry) != nil,
                let region = try index.parts.room(for: byteCount, in: entry)
            else { throw SystemError("make room in a stream's entry", number: ENOSPC) }
            let row = PartRow(region: region, url: url)
            // Bytes are claimed in a later transaction, which makes this one durable too.
            try index.relaxedTransaction { try index.parts.put(row, as: key, of: entry) }
            return (row, [])
        }
    }

    /// Removes the part `key`, and the claims of its bytes. If that fails, returns `false`, and the part
    /// stays; the bytes that it claims are valid.
    func removePart(_ key: PartKey, at region: ByteRange, of entry: EntryID) -> Bool {
        (try? session.perform { try $0.index.removePart(key, at: region, of: entry) }) != nil
    }

    // MARK: One resource under several URLs

    /// The number of first bytes that must be equal: as many as a cold start requests first.
    static let comparedBytes: Int64 = 64 * 1024

    /// Makes `url` a name of the other entry that has the strong entity tag and length of `description` and
    /// the first bytes `head`, and opens that entry; `nil` if there is none. `own`, the former entry of
    /// `url`, is removed if that was its last name. If another process was faster, only opens the entry.
    ///
    /// The bytes are compared because entity tags made of sizes and times collide, and because two servers
    /// may use the same tag for different resources.
    func addName(
        _ url: WebURL,
        besides own: EntryID,
        to description: EntryDescription,
        head: [UInt8]
    ) throws(MediaError) -> OpenEntry? {
        guard let identity = description.identityText else { return nil }
        var shared = EntryDescription()
        shared.length = description.length
        shared.validators.etag = description.validators.etag
        let key = key(of: url)
        return try session.perform { folder in
            let index = folder.index
            guard let current = try index.entries.row(named: key),
                let row = try index.entries.row(identity: identity, besides: own),
                current.entry == row.entry || (current.entry == own && !current.isPinned),
                !row.description.contradicts(shared),
                let file = try folder.objects.openExisting(row.entry),
                case let opening = try OpenEntry(row, of: index, file: file), try starts(opening, with: head)
            else { return nil }
            guard current.entry == own else { return opening }
            let isOwnGone = try index.transaction {
                try index.names.add(key, url: url.safeText, to: row.entry)
                try index.entries.touch(row.entry, at: settings.wallClock())
                return try index.removeName(key, of: own)
            }
            if isOwnGone { folder.objects.unlink(own) }
            return opening
        }
    }

    /// `true` if the entry starts with all of `head`, in bytes that pass their checks.
    private func starts(_ opening: OpenEntry, with head: [UInt8]) throws -> Bool {
        var offset: Int64 = 0
        for extent in opening.extents where offset < head.count {
            guard extent.range.lowerBound == offset else { return false }
            let stored = try opening.file.read(extent.range)
            guard let bytes = session.protection.bytes(of: extent, from: stored, of: opening.file.entry)
            else { return false }
            let end = min(extent.range.upperBound, Int64(head.count))
            guard head[Int(offset)..<Int(end)].elementsEqual(bytes.prefix(Int(end - offset))) else {
                return false
            }
            offset = end
        }
        return offset == head.count
    }

    // MARK: Pins

    /// Pins the entry of `url`, created empty if there is none, or unpins it.
    func setPinned(_ url: WebURL, _ isPinned: Bool) throws(MediaError) {
        let key = key(of: url)
        try session.perform { folder in
            if let row = try folder.index.entries.row(named: key) {
                guard row.isPinned != isPinned else { return }
                try folder.index.transaction { try folder.index.entries.setPinned(isPinned, of: row.entry) }
                // An entry that was pinned while empty is removed when it is unpinned.
                if !isPinned, row.storedBytes == 0 { _ = try eviction.remove([row.entry], from: folder) }
            } else if isPinned {
                // Durable, because the user asked for the pin; an entry that is created for playback need
                // not be durable.
                _ = try folder.index.transaction { try insert(url, key: key, isPinned: true, in: folder) }
            }
        }
    }

    // MARK: Reading beside the players

    /// Opens the entry whose row `find` returns, in a read-only folder too, without marking it as played;
    /// `nil` if there is none, or its file is missing.
    func openToRead(_ find: (CacheIndex) throws -> EntryRow?) throws(MediaError) -> OpenEntry? {
        do {
            return try session.performOrFail { folder in
                guard let row = try find(folder.index),
                    let file = try folder.objects.openExisting(row.entry)
                else { return nil }
                return try OpenEntry(row, of: folder.index, file: file)
            }
        } catch {
            return try openUnwritable(after: error, find)
        }
    }

    /// Like `openToRead`, if `failure` means that the folder accepts no writes, and throws `failure` if not,
    /// or if the folder cannot even be read.
    func openUnwritable(
        after failure: any Error,
        _ find: (CacheIndex) throws -> EntryRow?
    ) throws(MediaError) -> OpenEntry? {
        do {
            guard let folder = try session.unwritableFolder(after: failure) else { throw failure }
            guard let row = try find(folder.index) else { return nil }
            let file = try folder.object(row.entry, files: settings.files)
            var opening = try OpenEntry(row, of: folder.index, file: file)
            opening.refusal = settings.notCached(failure)
            return opening
        } catch {
            throw settings.notCached(failure)
        }
    }

    /// The bytes of an extent; `nil` if they differ from what was committed. May be called from any thread.
    func bytes(of extent: Extent, in file: ObjectFile) -> [UInt8]? {
        let stored = (try? file.read(extent.range)) ?? []
        return session.protection.bytes(of: extent, from: stored, of: file.entry)
    }
}
