import Media
import System

extension PersistentStore {
    private static let leastCommit: Int64 = 64 * 1024

    /// Commits the buffered bytes, or as many of them as a full disk has room for. Committing thread only.
    func commitNow() throws(MediaError) {
        stopTimer()
        var (left, most) = guarded.withLock { guarded in
            // If the disk was full the last time, begin with a small commit.
            (guarded.state.bufferedByteCount, guarded.isDiskFull ? Self.leastCommit : .max)
        }
        while let (plan, file) = nextCommit(ofAtMost: most) {
            let count = plan.bytes.count
            do {
                guard try commit(plan, to: file) else { continue }
                // Bytes written since this commit began are left to the next one.
                left -= count
                guard left > 0 else { return noteCached() }
                if most < left { most *= 2 }
            } catch let error as FullDiskError {
                // Smaller commits are not worth their row in the index.
                guard count > Self.leastCommit else { throw refused(error.report, isDiskFull: true) }
                most = max(Self.leastCommit, count / 2)
            } catch {
                throw refused(engine.settings.notCached(error), isDiskFull: false)
            }
        }
    }

    private func nextCommit(ofAtMost most: Int64) -> (plan: CommitPlan, file: ObjectFile)? {
        guarded.withLock { guarded in
            switch guarded.standing {
            case .caching, .refusing: guarded.state.commitPlan().map { ($0.first(most), guarded.file) }
            case .unwritable, .detached, .closed: nil
            }
        }
    }

    /// Returns `false` if the entry is lost: then this store continues in another one, or is detached.
    private func commit(_ plan: CommitPlan, to file: ObjectFile) throws -> Bool {
        let spared = use == .ahead ? engine.spared.withLock { $0 } : []
        switch try engine.commits.commit(plan, to: file, for: use, sparing: spared) {
        case .cached(let extents, let description):
            guarded.withLock { guarded in
                guarded.state.committed(plan, extents: extents, description: description)
                guarded.standing = .caching
                guarded.isDiskFull = false
            }
            return true
        case .gone:
            // Another process may have made this URL a name of another entry with the same resource.
            if !joinCopy(from: file) { detach(from: file) }
            return false
        case .unwanted(let use):
            engine.refusedUses.withLock { _ = $0.insert(use) }
            guarded.withLock { if $0.file === file { $0.standing = .detached } }
            return false
        }
    }

    /// Stops claiming bytes in the entry, and reports why unless that is expected. Committing thread only.
    private func detach(from file: ObjectFile) {
        if let cause = engine.entries.cause(ofLosing: file.entry, of: url) {
            engine.settings.onNotice(MediaError(.notCached, url.safeText, cause))
        }
        guarded.withLock { if $0.file === file { $0.standing = .detached } }
    }

    /// All bytes are cached, so a later refusal is reported again.
    private func noteCached() {
        guarded.withLock { $0.reported = nil }
        engine.noteCached()
    }

    /// Records a failed commit. The bytes stay in memory and can be read. The next commit writes all of them
    /// again: after a failed flush, the kernel may have marked pages clean that are not on the disk.
    private func refused(_ error: MediaError, isDiskFull: Bool) -> MediaError {
        guarded.withLock { guarded in
            guarded.standing = .refusing(error)
            guarded.isDiskFull = isDiskFull
        }
        return error
    }

    // MARK: What other processes have committed

    package func refresh(_ range: ByteRange, isUrgent: Bool) async -> ByteRangeSet {
        let (isCached, isShared) = guarded.withLock { guarded in
            if case .caching = guarded.standing { return (true, guarded.state.isShared) }
            return (false, false)
        }
        guard isCached, !range.isEmpty else { return stored }
        if !isUrgent || isShared { await readIndex() }
        if !stored.covers(range) { await seekCopy() }
        return stored
    }

    /// Takes over what other stores have committed. Reads the extents only if their number of bytes differs
    /// from what this store knows.
    private func readIndex() async {
        let (file, known) = guarded.withLock { ($0.file, $0.state.committed.byteCount) }
        let found = try? await engine.reader.ask { index -> (row: EntryRow, extents: [Extent])? in
            guard let row = try index.entries.row(file.entry) else { return nil }
            return (row, row.storedBytes == known ? [] : try index.extents.all(of: file.entry))
        }
        guard let (row, extents) = found ?? nil else { return }
        let isForeign = guarded.withLock { guarded in
            guard guarded.file === file else { return false }
            guard !guarded.state.isForeign(row) else { return true }
            guarded.state.indexSeen(row, extents)
            return false
        }
        if isForeign { await engine.committer.run { self.detach(from: file) } }
    }

    /// Continues in the entry that already has the same resource under another URL, if there is one.
    private func seekCopy() async {
        let found = guarded.withLock { guarded -> (identity: String, file: ObjectFile)? in
            guard !guarded.hasSoughtCopy, guarded.comparedBytes != nil,
                let identity = guarded.state.description.identityText
            else { return nil }
            guarded.hasSoughtCopy = true
            return (identity, guarded.file)
        }
        guard let (identity, file) = found else { return }
        let hasCopy = try? await engine.reader.ask {
            try $0.entries.row(identity: identity, besides: file.entry) != nil
        }
        // On the committing thread, so that no commit can interfere.
        if hasCopy == true { await engine.committer.run { _ = self.joinCopy(from: file) } }
    }

    /// Committing thread only. Returns `false` if there is no copy.
    private func joinCopy(from file: ObjectFile) -> Bool {
        let (description, size) = guarded.withLock { ($0.state.description, $0.comparedBytes) }
        guard let size, case let head = readNow(at: 0, count: Int(size)), head.count == size,
            // The lists of two streams may be equal, and their segments not.
            head.withUnsafeBufferPointer({ HLSPlaylistKind.of($0) }) == nil,
            let copy = try? engine.entries.addName(url, besides: file.entry, to: description, head: head)
        else { return false }
        // On a slow connection, bytes may have been committed to the former entry before the comparison.
        let committed = guarded.withLock { $0.state.committed }.ranges.map { range in
            (offset: range.lowerBound, bytes: readNow(at: range.lowerBound, count: range.count))
        }
        guarded.withLock { guarded in
            guarded.state.entryChanged(to: copy.description, extents: copy.extents, adding: committed)
            guarded.file = copy.file
            guarded.unsealed = nil
        }
        ahead.stop()
        return true
    }
}

extension PersistentStore.Guarded {
    /// The most stored bytes that are copied into another entry.
    private static let mostCopied: Int64 = 2 << 20

    /// The number of first bytes that another entry must share to count as a copy of the resource. `nil` if
    /// the length is unknown, if those bytes are not stored yet, or if so much is stored that joining the
    /// copy would copy much and save little.
    fileprivate var comparedBytes: Int64? {
        guard let length = state.description.length, case let size = min(length, EntryCatalog.comparedBytes),
            state.stored.covers(0..<size), state.stored.byteCount <= Self.mostCopied
        else { return nil }
        return size
    }
}
