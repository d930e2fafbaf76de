import Media
import System

extension PersistentStore {
    /// Commits the buffered bytes, or as many of them as a full disk has room for. Committing thread only.
    func commitNow() throws(MediaError) {
        stopTimer()
        var (left, most) = guarded.withLock { guarded in
            // If the disk was full the last time, begin with a small commit.
            (guarded.state.bufferedByteCount, guarded.isDiskFull ? Self.leastCommit : .max)
        }
        while let (plan, place) = nextCommit(ofAtMost: most) {
            do {
                try commit(plan, to: place)
                // Bytes written since this commit began are left to the next one.
                left -= plan.bytes.count
                guard left > 0 else { return }
                if most < left { most *= 2 }
            } catch let error as FullDiskError {
                let count = plan.bytes.count
                // Smaller commits are not worth their row in the index.
                guard count > Self.leastCommit else { throw refused(error.report, isDiskFull: true) }
                most = max(Self.leastCommit, count / 2)
            } catch {
                throw refused(engine.notCached(error), isDiskFull: false)
            }
        }
    }

    private static let leastCommit: Int64 = 64 * 1024

    private func nextCommit(ofAtMost most: Int64) -> (plan: CommitPlan, place: Place)? {
        guarded.withLock { guarded in
            switch guarded.standing {
            case .kept, .refusing: guarded.state.commitPlan().map { ($0.first(most), guarded.place) }
            case .unwritable, .detached, .closed: nil
            }
        }
    }

    private func commit(_ plan: CommitPlan, to place: Place) throws {
        let commitment = try engine.commit(plan, of: place.entry, in: place.file)
        if case .gone = commitment, let cause = engine.cause(ofLosing: place.entry, of: url) {
            engine.settings.onNotice(MediaError(.notCached, url.safeText, cause))
        }
        guarded.withLock { guarded in
            switch commitment {
            case .kept(let extents, let description):
                guarded.state.committed(plan, as: extents, description: description)
                guarded.standing = .kept
                guarded.isDiskFull = false
            case .gone:
                guarded.standing = .detached
            }
        }
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

    package func refresh(_ range: ByteRange) async -> ByteRangeSet {
        // Before the look, so that what is committed meanwhile is found the next time.
        let stamp = engine.version.current
        let (place, isCached, seen) = guarded.withLock { guarded in
            if case .kept = guarded.standing { return (guarded.place, true, guarded.seen) }
            return (guarded.place, false, nil)
        }
        guard isCached, !range.isEmpty else { return stored }
        if stamp == nil || stamp != seen {
            let extents = try? await engine.look.run {
                try self.engine.questions.ask { try $0.extents.all(of: place.entry) }
            }
            guarded.withLock { guarded in
                guard let extents, guarded.place.entry == place.entry else { return }
                guarded.state.extentsSeen(extents)
                guarded.seen = stamp
            }
        }
        if !stored.covers(range) { await seekCopy() }
        return stored
    }

    /// Continues in the entry that already has the same resource under another URL, if there is one.
    private func seekCopy() async {
        let found: (description: EntryDescription, place: Place, size: Int64)? = guarded.withLock {
            guarded in
            let description = guarded.state.description
            guard !guarded.hasSoughtCopy, description.identityText != nil, let length = description.length
            else { return nil }
            let size = min(length, CacheEngine.comparedBytes)
            // A store that already has more than this gains little from the other entry, and would have much
            // to copy.
            guard guarded.state.stored.covers(0..<size),
                guarded.state.stored.byteCount <= PersistentStore.mostBuffered
            else { return nil }
            guarded.hasSoughtCopy = true
            return (description, guarded.place, size)
        }
        guard let found else { return }
        let hasCopy = try? await engine.look.run {
            try self.engine.hasCopy(of: found.description, besides: found.place.entry)
        }
        guard hasCopy == true else { return }
        await engine.committer.run {
            self.joinCopy(of: found.description, from: found.place, size: found.size)
        }
    }

    /// Committing thread only, so that no commit can interfere.
    private func joinCopy(of description: EntryDescription, from place: Place, size: Int64) {
        let head = readNow(at: 0, count: Int(size))
        guard head.count == size,
            let copy = try? engine.addName(url, besides: place.entry, to: description, head: head)
        else { return }
        // On a slow connection, bytes may have been committed to the former entry before the comparison.
        let committed = guarded.withLock { $0.state.committed }.ranges.map { range in
            (offset: range.lowerBound, bytes: readNow(at: range.lowerBound, count: range.count))
        }
        guarded.withLock { guarded in
            guarded.state.entryChanged(to: copy.description, extents: copy.extents, adding: committed)
            guarded.place = Place(entry: copy.entry, file: copy.file)
            guarded.unsealed = nil
            guarded.seen = nil
            guarded.ahead.stop()
        }
    }
}
