import Media

// Recognising a resource that is kept under another URL.
extension CacheEngine {
    /// How many of the first bytes have to be equal: what a cold start fetches at once.
    static let comparedBytes: Int64 = 64 * 1024

    /// Whether some other entry has the same strong entity tag and length. Looking thread only.
    func hasTwin(of description: EntryDescription, besides entry: EntryID) throws -> Bool {
        guard let identity = description.identityText else { return false }
        return try reading { try $0.entry(identity: identity, besides: entry) != nil }
    }

    /// Lets `url` lead to the entry that has the same strong entity tag and length as `description` and the
    /// same first bytes as `head`; nil when there is none. The entry made for `url`, `entry`, goes.
    ///
    /// Committing thread only. The bytes are compared, because entity tags made of sizes and times collide,
    /// and because two servers need not mean the same by one.
    func move(
        _ url: WebURL,
        from entry: EntryID,
        to description: EntryDescription,
        head: [UInt8]
    ) throws(MediaError) -> Opening? {
        guard let identity = description.identityText else { return nil }
        let key = key(of: url)
        return try perform { folder in
            guard let own = try folder.index.entry(entry), !own.isPinned,
                let twin = try folder.index.entry(identity: identity, besides: entry),
                !twin.description.contradicts(description.identityAlone),
                let opening = try opening(twin, in: folder),
                try holds(head, opening)
            else { return nil }
            try folder.index.transaction {
                try folder.index.remove(entry)
                try folder.index.addAlias(key, of: twin.entry, at: settings.wallClock())
                try folder.index.touch(twin.entry, at: settings.wallClock())
            }
            folder.objects.unlink(entry)
            return opening
        }
    }

    /// The entry of a row for another URL than its own; nil when its file is gone.
    private func opening(_ row: EntryRow, in folder: OpenedFolder) throws -> Opening? {
        guard let file = try folder.objects.openExisting(row.entry) else { return nil }
        return try Opening(row, of: folder.index, file: file, isAlias: true)
    }

    /// Whether the entry has all of `head` at its start, by bytes that pass their checks.
    private func holds(_ head: [UInt8], _ opening: Opening) throws -> Bool {
        var offset: Int64 = 0
        for extent in opening.extents where offset < head.count {
            guard extent.range.lowerBound == offset else { return false }
            let stored = try opening.file.read(extent.range)
            guard let bytes = protection.bytes(of: extent, from: stored, of: opening.entry) else {
                return false
            }
            let end = min(extent.range.upperBound, Int64(head.count))
            guard head[Int(offset)..<Int(end)].elementsEqual(bytes.prefix(Int(end - offset))) else {
                return false
            }
            offset = end
        }
        return offset == head.count
    }
}

extension EntryDescription {
    /// What the identity is made of, without what may differ between servers.
    fileprivate var identityAlone: EntryDescription {
        var alone = EntryDescription()
        alone.length = length
        alone.validators.etag = validators.etag
        return alone
    }
}
