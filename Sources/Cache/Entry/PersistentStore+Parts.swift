import Media
import System

// The parts of a stream are regions of the entry's object; see `PartStore`.
extension PersistentStore {
    package var stream: StreamTable? { guarded.withLock { $0.state.parts.table } }

    package var streamContents: StreamContents? {
        let (parts, stored) = guarded.withLock { ($0.state.parts, $0.state.stored) }
        return parts.table.map { StreamContents(of: $0, at: parts.places, stored: stored) }
    }

    package func describe(_ stream: StreamTable) {
        guarded.withLock { guarded in guarded.state.changeParts { $0.described(stream) } }
        reportDiscarded()
    }

    package func part(_ name: PartName, at url: WebURL, likelyLength: Int64, isNew: Bool) async
        -> (any ByteStore)?
    {
        let key = engine.entries.key(of: name)
        let (file, changed) = guarded.withLock { ($0.file, $0.state.parts.changes.rows[key]) }
        let found = try? await engine.ask(orElse: nil as (row: PartRow, extents: [Extent])?) { index in
            guard let row = try index.parts.row(key, of: file.entry) else { return nil }
            return (row, try index.extents.all(of: file.entry, overlapping: row.region))
        }
        // A new description may not be in the index yet.
        var row = found.map { changed ?? $0.row }
        if isNew, let region = row?.region {
            // The bytes that stay would be taken for those of the new part.
            guard await removePart(key, at: region) else {
                if let row, let extents = found?.extents { adopt(row, as: key, extents) }
                return nil
            }
            row = nil
        }
        if let row, let extents = found?.extents { adopt(row, as: key, extents) }
        // The validators of another server say nothing, so its bytes are compared.
        if row?.url != url.safeText { row?.description.validators = Validators() }
        return PartStore(key, at: url, likelyLength: likelyLength, row, of: self)
    }

    /// Takes over a part from the index.
    func adopt(_ row: PartRow, as key: PartKey, _ extents: [Extent]) {
        guarded.withLock { guarded in
            guarded.state.changeParts { $0.found(row, as: key) }
            guarded.state.extentsSeen(extents)
        }
    }

    /// The bytes of `region` that can be read.
    func stored(in region: ByteRange) -> ByteRangeSet {
        let (stored, volatile) = guarded.withLock { ($0.state.stored(in: region), $0.volatile) }
        return volatile.map { stored.union($0.stored.intersection(ByteRangeSet(region))) } ?? stored
    }

    /// Adds a part to the index, or gives it more room; `nil` if the entry cannot be written to, or has no
    /// room for it.
    func makePart(_ key: PartKey, at url: SafeText, byteCount: Int64) async -> PartRow? {
        reportRefusal()
        return await engine.committer.run {
            let entry: EntryID? = self.guarded.withLock { guarded in
                switch guarded.standing {
                case .caching, .refusing: guarded.file.entry
                case .unwritable, .detached, .closed: nil
                }
            }
            guard let entry else { return nil }
            do {
                let part = try self.engine.entries.makePart(key, at: url, byteCount: byteCount, of: entry)
                self.adopt(part.row, as: key, part.extents)
                return part.row
            } catch {
                self.engine.reportNotCached(self.engine.settings.notCached(error))
                return nil
            }
        }
    }

    /// Removes a part from the index; `false` if that fails. Its bytes can be read as long as this store is
    /// open.
    private func removePart(_ key: PartKey, at region: ByteRange) async -> Bool {
        await engine.committer.run {
            self.engine.entries.removePart(key, at: region, of: self.forgetPart(key, at: region))
        }
    }

    /// The same for a part that must not be cached: if it can't be removed now, that is tried again later.
    func discardPart(_ key: PartKey, at region: ByteRange) async {
        await engine.committer.run {
            let entry = self.forgetPart(key, at: region)
            self.engine.entries.discard(key, at: region, of: entry, self.url)
        }
    }

    /// Commits nothing more of a part. Returns the entry.
    private func forgetPart(_ key: PartKey, at region: ByteRange) -> EntryID {
        guarded.withLock { guarded in
            guarded.state.changeParts { $0.removed(key, at: region) }
            return guarded.file.entry
        }
    }

    func changeParts(_ change: (inout PartsState) -> Void) {
        guarded.withLock { $0.state.changeParts(change) }
    }

    /// Reports once that nothing of the stream is cached because a server forbids it.
    func reportDiscarded() {
        let isNew = guarded.withLock { guarded in
            defer { guarded.isDiscarded = false }
            return guarded.isDiscarded
        }
        guard isNew else { return }
        let cause: SafeText = "its server forbids caching (no-store)"
        engine.settings.onNotice(MediaError(.notCached, url.safeText, cause))
    }
}
