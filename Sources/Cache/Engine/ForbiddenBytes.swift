import Media

/// Parts and entries that their servers forbid to cache (`no-store`). If the index can't be changed, for
/// instance because the disk is full, each later opening and closing of an entry tries again to remove them.
/// Used by the committing thread only.
struct ForbiddenBytes {
    enum Item {
        /// The name with this key, and the entry if that was its last name.
        case name([UInt8], EntryID)
        case part(PartKey, ByteRange, EntryID)
    }

    private var items: [Item] = []

    /// Removes `item` from the index. If that fails, it is tried again later, and said; `subject` names it.
    mutating func remove(_ item: Item, of subject: SafeText, by session: FolderSession) {
        items.append(item)
        removeAll(by: session)
        guard !items.isEmpty else { return }
        let cause: SafeText = "what its server forbids to store (no-store) could not be removed yet"
        session.settings.onNotice(MediaError(.notCached, subject, cause))
    }

    mutating func removeAll(by session: FolderSession) {
        items.removeAll { item in
            let removed: Void? = try? session.perform { folder in
                switch item {
                case .name(let key, let entry):
                    if try folder.index.transaction({ try folder.index.removeName(key, of: entry) }) {
                        folder.objects.unlink(entry)
                    }
                case .part(let key, let region, let entry):
                    try folder.index.removePart(key, at: region, of: entry)
                }
            }
            return removed != nil
        }
    }
}
