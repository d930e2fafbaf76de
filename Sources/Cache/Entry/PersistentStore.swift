import Media
import System

/// An open entry of the cache folder.
///
/// Written bytes stay in memory until a commit writes them to the file, flushes it and claims them: so no byte that
/// anybody has claimed is ever overwritten, and what a full disk refuses can still be read.
///
/// Bytes that cannot be committed (full disk, full budget, read-only folder, `no-store`, an entry that is gone) go to a
/// volatile store instead, which writes only sealed bytes to the disk. Reads find the bytes wherever they are.
///
/// Opening one URL twice, in one process or in two, gives two stores on one entry: each reads what was
/// committed when it was opened, and learns by `refresh` and at its own commits what the other has claimed
/// meanwhile. They are expected to write the same bytes, since one entry is one version of a resource; whose
/// description differs from what is claimed already claims nothing.
final class PersistentStore: ByteStore {
    /// Commit when this much is at stake: losing it costs a second of a 10 Mbit/s line.
    static let commitSize: Int64 = 1024 * 1024
    /// Commit when the first byte at stake is this old.
    static let commitAge = Duration.seconds(1)
    /// A write waits for the commit when this much is at stake: a disk that is slower than the line bounds
    /// what is kept in memory, and what a kill can cost.
    static let mostBuffered: Int64 = 2 * commitSize

    enum Standing {
        case kept
        /// The last commit failed, and writing would only make the loss larger.
        case refusing(MediaError)
        /// The folder takes nothing: what is here is read on.
        case unwritable(MediaError)
        /// The entry was replaced, removed or discarded: what is here is read on, and nothing is claimed.
        case detached
        case closed
    }

    /// Where the bytes are.
    struct Place: Sendable {
        var entry: EntryID
        var file: ObjectFile
    }

    struct Guarded {
        var state: EntryState
        var place: Place
        var standing = Standing.kept
        /// Whether the last commit was refused for want of room.
        var isDiskFull = false
        /// Commits a second after the first uncommitted byte; nil when there is none.
        var timer: Task<Void, Never>?
        /// The extent that was unsealed last, so that small reads do not unseal it again and again.
        var unsealed: (extent: Extent, bytes: [UInt8])?
        /// What was read and checked before it is asked for.
        var ahead = ReadAheadState()
        /// Takes the bytes that cannot be committed; made when it is needed.
        var volatile: (any ByteStore)?
        /// `true` if an entry with the same resource was looked up since the entity tag and length are known.
        var hasSoughtCopy = false
        /// Whether somebody was told why nothing is kept any more.
        var isToldNotKept = false
    }

    let engine: CacheEngine
    let url: WebURL
    // The only lock: around the state, never around a file operation.
    let guarded: Locked<Guarded>

    init(_ opening: CacheEngine.Opening, of url: WebURL, engine: CacheEngine) {
        self.engine = engine
        self.url = url
        guarded = Locked(
            Guarded(
                state: EntryState(description: opening.description, extents: opening.extents),
                place: Place(entry: opening.entry, file: opening.file),
                standing: opening.refusal.map { .unwritable($0) } ?? .kept
            )
        )
    }

    package var description: EntryDescription { guarded.withLock { $0.state.description } }

    package var stored: ByteRangeSet {
        let (stored, volatile) = guarded.withLock { ($0.state.stored, $0.volatile) }
        return volatile.map { stored.union($0.stored) } ?? stored
    }

    package var isPersistent: Bool {
        guarded.withLock { guarded in
            switch guarded.standing {
            case .kept, .refusing: guarded.volatile == nil
            case .unwritable, .detached, .closed: false
            }
        }
    }

    package func write(_ bytes: [UInt8], at offset: Int64) async throws {
        guard !bytes.isEmpty else { return }
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        // The last two offsets are the commit lock's.
        guard offset >= 0, !isTooFar, end < Int64.max - 1 else {
            throw MediaError(.notKept, url.safeText, "bytes at an impossible offset cannot be kept")
        }
        let isFull = guarded.withLock { guarded in
            let count = guarded.state.bufferedByteCount
            return count > 0 && count + Int64(bytes.count) > Self.mostBuffered
        }
        if isFull { try? await commit() }
        let (gaps, isDue, isKept) = guarded.withLock { guarded in
            let gaps = guarded.state.gaps(in: offset..<end)
            guard case .kept = guarded.standing else { return (gaps, false, false) }
            for gap in gaps {
                let start = Int(gap.lowerBound - offset)
                guarded.state.bytesWritten(bytes[start..<start + gap.count], at: gap.lowerBound)
            }
            if !gaps.isEmpty, guarded.timer == nil { guarded.timer = startTimer() }
            return (gaps, guarded.state.bufferedByteCount >= Self.commitSize, true)
        }
        // If it fails, the next write goes to the volatile store and reports why.
        if isDue { engine.committer.submit { try? self.commitNow() } }
        guard !isKept, !gaps.isEmpty else { return }
        reportRefusal()
        let volatile = try await volatileStore()
        for gap in gaps {
            let start = Int(gap.lowerBound - offset)
            try await volatile.write(Array(bytes[start..<start + gap.count]), at: gap.lowerBound)
        }
    }

    package func describe(_ description: EntryDescription) {
        guarded.withLock { guarded in
            if guarded.state.description.identityText != description.identityText {
                guarded.hasSoughtCopy = false
            }
            var description = description
            // A caller that has no seek table knows nothing of one that came with another name's entry.
            if description.seekTable.isEmpty {
                description.seekTable = guarded.state.description.seekTable
            }
            guarded.state.described(description)
        }
    }

    package func commit() async throws {
        try await engine.committer.run { try self.commitNow() }
    }

    package func discard() async {
        stopTimer()
        await engine.committer.run {
            let lost: Place? = self.guarded.withLock { guarded in
                switch guarded.standing {
                case .kept, .refusing:
                    guarded.standing = .detached
                    return guarded.place
                case .unwritable, .detached, .closed: return nil
                }
            }
            // Row and name go; the bytes stay in the file that is open, for this store to read on.
            if let lost { self.engine.discard(lost.entry, of: self.url) }
        }
    }

    package func close() async {
        await engine.committer.run {
            do {
                try self.commitNow()
            } catch {
                // Bytes that could not be committed are missing the next time; who was told already knows why.
                let isNews = self.guarded.withLock {
                    !$0.isToldNotKept && $0.state.bufferedByteCount > 0
                }
                if isNews { self.engine.settings.onNotice(self.engine.notKept(error)) }
            }
            let place: Place? = self.guarded.withLock { guarded in
                defer {
                    guarded.standing = .closed
                    guarded.ahead.stop()
                }
                if case .closed = guarded.standing { return nil }
                return guarded.place
            }
            if let place { self.engine.letGo(of: place.entry, place.file) }
        }
        engine.tidyLater()
    }

    private func volatileStore() async throws -> any ByteStore {
        if let volatile = guarded.withLock({ $0.volatile }) { return volatile }
        let fresh = try await engine.volatile.open(url)
        return guarded.withLock { guarded in
            let volatile = guarded.volatile ?? fresh
            guarded.volatile = volatile
            return volatile
        }
    }

    /// Reports why bytes are not cached, if the listener cannot know it: not after `discard` or `replace`.
    private func reportRefusal() {
        let refusal: MediaError? = guarded.withLock { guarded in
            switch guarded.standing {
            case .refusing(let error), .unwritable(let error):
                guarded.isToldNotKept = true
                return error
            case .kept, .detached, .closed: return nil
            }
        }
        if let refusal { engine.reportNotCached(refusal) }
    }

    private func startTimer() -> Task<Void, Never> {
        let clock = engine.settings.clock
        return Task { [weak self] in
            guard (try? await clock.sleep(for: Self.commitAge)) != nil, let self else { return }
            engine.committer.submit { try? self.commitNow() }
        }
    }

    func stopTimer() {
        let timer = guarded.withLock { guarded in
            defer { guarded.timer = nil }
            return guarded.timer
        }
        timer?.cancel()
    }
}
