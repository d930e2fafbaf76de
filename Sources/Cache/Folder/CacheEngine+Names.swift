import Media

// Recognising a resource that is cached under another URL.
extension CacheEngine {
    /// The number of first bytes that must be equal: what a cold start fetches at once.
    static let comparedBytes: Int64 = 64 * 1024

    /// `true` if another entry has the same strong entity tag and length. Looking thread only.
    func hasCopy(of description: EntryDescription, besides entry: EntryID) throws -> Bool {
        guard let identity = description.identityText else { return false }
        return try reading { try $0.entry(identity: identity, besides: entry) != nil }
    }

    /// Makes `url` a name of the other entry that has the strong entity tag and length of `description` and the
    /// first bytes `head`, and opens that; `nil` if there is none. `own`, which `url` led to, goes with its last
    /// name.
    ///
    /// Committing thread only. The bytes are compared because entity tags made of sizes and times collide, and
    /// because two servers need not mean the same by one.
    func addName(
        _ url: WebURL,
        besides own: EntryID,
        to description: EntryDescription,
        head: [UInt8]
    ) throws(MediaError) -> Opening? {
        guard let identity = description.identityText else { return nil }
        let key = key(of: url)
        return try perform { folder in
            guard try folder.index.entry(own)?.isPinned == false,
                let row = try folder.index.entry(identity: identity, besides: own),
                !row.description.contradicts(description.identityAlone),
                let file = try folder.objects.openExisting(row.entry),
                case let opening = try Opening(row, of: folder.index, file: file), try holds(head, opening)
            else { return nil }
            let isOwnGone = try folder.index.transaction {
                try folder.index.addName(key, url: url.safeText, of: row.entry)
                try folder.index.touch(row.entry, at: settings.wallClock())
                return try folder.index.removeName(key, of: own)
            }
            if isOwnGone { folder.objects.unlink(own) }
            return opening
        }
    }

    /// `true` if the entry starts with all of `head`, in bytes that pass their checks.
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
