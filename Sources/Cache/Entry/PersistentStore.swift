import Media
import System

/// An open entry of the cache folder.
///
/// Written bytes stay in memory until a commit writes them to the file, flushes it and claims them. So
/// claimed bytes are never overwritten, and bytes that do not fit on a full disk can still be read.
///
/// Bytes that cannot be committed (full disk, full budget, read-only folder, `no-store`, an entry that was
/// removed) go to a volatile store instead, which writes only sealed bytes to the disk. Reads find the bytes
/// wherever they are.
///
/// Opening one URL twice, in one process or in two, gives two stores on one entry: each reads what was
/// committed when it was opened, and takes over later claims of the other at `refresh` and at its own
/// commits. Both are expected to write the same bytes, since one entry is one version of a resource. If a
/// store's description contradicts bytes that are already claimed, that store claims nothing.
final class PersistentStore: ByteStore {
    /// A commit begins once this many bytes are buffered. If they are lost, fetching them again takes about
    /// half a second at 10 Mbit/s.
    static let commitSize: Int64 = 512 << 10
    /// A commit begins once the oldest buffered byte is this old.
    static let commitAge = Duration.seconds(1)
    /// A write that would exceed this many buffered bytes first waits for a commit. If the disk is slower
    /// than the network, this bounds the memory used, and the loss if the process is killed.
    static let mostBuffered: Int64 = commitSize + commitSize / 2
    /// The most bytes that stay in memory because they are not proven to be of the resource's version.
    static let mostUnproven: Int64 = 2 << 20

    enum Standing {
        case caching
        /// The last commit failed: new bytes go to the volatile store until a commit succeeds.
        case refusing(MediaError)
        /// Nothing can be written to the folder; the committed bytes can be read.
        case unwritable(MediaError)
        /// The entry was replaced, removed or discarded: its bytes can still be read, and nothing more is
        /// claimed.
        case detached
        case closed
    }

    struct Guarded {
        var state: EntryState
        var file: ObjectFile
        var standing = Standing.caching
        /// `true` if the last commit failed because the disk is full.
        var isDiskFull = false
        /// Commits a second after the first buffered byte; `nil` if nothing is buffered.
        var timer: Task<Void, Never>?
        /// The extent that was unsealed last, so that small reads do not unseal it each time.
        var unsealed: (extent: Extent, bytes: [UInt8])?
        /// Stores the bytes that cannot be committed; created when needed.
        var volatile: (any ByteStore)?
        /// `true` once the index was searched for another entry with the current entity tag and length.
        var hasSoughtCopy = false
        /// The last reported reason why bytes are not cached; `nil` once all of them were cached again.
        var reported: MediaError?
        /// `true` if the entry was discarded because the server forbids caching it.
        var isDiscarded = false
    }

    let engine: CacheEngine
    let url: WebURL
    let use: ResourceUse
    let ahead: ReadAhead
    // Guards the state, and is never held during a file operation.
    let guarded: Locked<Guarded>

    init(_ opening: OpenEntry, of url: WebURL, for use: ResourceUse = .playing, engine: CacheEngine) {
        self.engine = engine
        self.url = url
        self.use = use
        ahead = ReadAhead(on: engine.io)
        guarded = Locked(
            Guarded(
                state: EntryState(
                    description: opening.description,
                    extents: opening.extents,
                    parts: PartsState(table: opening.stream, places: opening.places)
                ),
                file: opening.file,
                standing: opening.refusal.map { .unwritable($0) } ?? .caching
            )
        )
    }

    package var description: EntryDescription { guarded.withLock { $0.state.description } }

    package var stored: ByteRangeSet {
        let (stored, volatile, isStream) = guarded.withLock { guarded in
            (guarded.state.stored, guarded.volatile, guarded.state.parts.isStream)
        }
        // The bytes of the parts are not those of the list.
        if isStream { return self.stored(in: 0..<PartsTable.firstOffset) }
        return volatile.map { stored.union($0.stored) } ?? stored
    }

    package var isPersistent: Bool {
        guarded.withLock { guarded in
            switch guarded.standing {
            case .caching, .refusing: guarded.volatile == nil
            case .unwritable, .detached, .closed: false
            }
        }
    }

    package func write(_ bytes: [UInt8], at offset: Int64) async throws {
        guard !bytes.isEmpty else { return }
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        // All bytes must lie before the offset `Int64.max - 1`, which is used for the commit lock.
        guard offset >= 0, !isTooFar, end < Int64.max - 1 else {
            throw MediaError(.notCached, url.safeText, "bytes at an impossible offset can't be cached")
        }
        if isFull(for: bytes.count) {
            // A commit that was due may have made room meanwhile.
            try? await engine.committer.run { if self.isFull(for: bytes.count) { try self.commitNow() } }
        }
        let (gaps, isDue, isCached) = guarded.withLock { guarded in
            let gaps = guarded.state.gaps(in: offset..<end)
            guard case .caching = guarded.standing else {
                // The timer retries the refused commit, so that a temporary failure does not end caching.
                if case .refusing = guarded.standing, guarded.timer == nil { guarded.timer = startTimer() }
                return (gaps, false, false)
            }
            guard guarded.state.heldByteCount(adding: offset..<end) <= Self.mostUnproven else {
                return (gaps, false, false)
            }
            let before = guarded.state.bufferedByteCount
            for gap in gaps {
                let start = Int(gap.lowerBound - offset)
                guarded.state.bytesWritten(bytes[start..<start + gap.count], at: gap.lowerBound)
            }
            if !gaps.isEmpty, guarded.timer == nil { guarded.timer = startTimer() }
            // The write that crosses the limit asks for the commit; others would ask for small ones behind
            // it.
            let isDue = before < Self.commitSize && guarded.state.bufferedByteCount >= Self.commitSize
            return (gaps, isDue, true)
        }
        // If this fails, the next write goes to the volatile store and reports why.
        if isDue { engine.committer.submit { try? self.commitNow() } }
        guard !isCached, !gaps.isEmpty else { return }
        reportRefusal()
        let volatile = try await volatileStore()
        for gap in gaps {
            let start = Int(gap.lowerBound - offset)
            try await volatile.write(Array(bytes[start..<start + gap.count]), at: gap.lowerBound)
        }
    }

    /// `true` if `byteCount` more bytes may be buffered only after a commit.
    private func isFull(for byteCount: Int) -> Bool {
        guarded.withLock { guarded in
            // Only a store that is caching buffers new bytes; otherwise they go to the volatile store.
            guard case .caching = guarded.standing else { return false }
            let count = guarded.state.bufferedByteCount
            return count > 0 && count + Int64(byteCount) > Self.mostBuffered
        }
    }

    package func describe(_ description: EntryDescription) {
        guarded.withLock { guarded in
            if guarded.state.description.identityText != description.identityText {
                guarded.hasSoughtCopy = false
            }
            var description = description
            // A stored fact stays if the caller has none of its kind: it may have come with the entry of
            // another URL. Bytes that are not proven may be of another version, and so may their facts.
            let stored = guarded.state.description
            if guarded.state.proven == nil {
                description.facts = stored.facts.merging(description.facts) { $1 }
            } else {
                description.facts = stored.facts
                description.tags.cover = stored.tags.cover
            }
            guarded.state.described(description)
        }
    }

    package func commit() async throws {
        try await engine.committer.run { try self.commitNow() }
    }

    package func commitOnly(_ proven: ByteRangeSet?) {
        guarded.withLock { guarded in
            guarded.state.changeParts { $0.ownProven = proven }
            if guarded.state.bufferedByteCount > 0, guarded.timer == nil { guarded.timer = startTimer() }
        }
    }

    package func discard() async {
        stopTimer()
        await engine.committer.run {
            let lost: EntryID? = self.guarded.withLock { guarded in
                switch guarded.standing {
                case .caching, .refusing:
                    guarded.standing = .detached
                    guarded.isDiscarded = true
                    return guarded.file.entry
                case .unwritable, .detached, .closed: return nil
                }
            }
            // Removes the row and the file's name; the open file remains, so that this store can still read
            // its bytes.
            if let lost { self.engine.entries.discard(lost, of: self.url) }
        }
    }

    package func close() async {
        await engine.committer.run {
            do {
                try self.commitNow()
            } catch {
                // These bytes will be missing at the next open: report that unless it was reported before.
                let isUnreported = self.guarded.withLock {
                    $0.reported == nil && $0.state.bufferedByteCount > 0
                }
                if isUnreported { self.engine.settings.onNotice(self.engine.settings.notCached(error)) }
            }
            let file: ObjectFile? = self.guarded.withLock { guarded in
                defer { guarded.standing = .closed }
                if case .closed = guarded.standing { return nil }
                return guarded.file
            }
            self.ahead.stop()
            if let file { self.engine.entries.release(file) }
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

    /// Reports why bytes are not cached, except after `discard` or `replace`, when that is expected.
    func reportRefusal() {
        let refusal: MediaError? = guarded.withLock { guarded in
            switch guarded.standing {
            case .refusing(let error), .unwritable(let error):
                guard guarded.reported != error else { return nil }
                guarded.reported = error
                return error
            case .caching, .detached, .closed: return nil
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

    // MARK: Reading

    package func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        var bytes = readBuffer(at: offset, count: count)
        if bytes == nil {
            bytes = try await ahead.bytes(at: offset, count: count) { [self] offset, count, isAhead in
                if isAhead, !guarded.withLock({ $0.isCommitted(at: offset) }) { return [] }
                return readNow(at: offset, count: count)
            }
        }
        if let bytes, !bytes.isEmpty { return bytes }
        guard let volatile = guarded.withLock({ $0.volatile }) else { return [] }
        return try await volatile.read(at: offset, count: count)
    }

    /// Answers a read from bytes that are not committed yet. `nil` if some of them are committed; empty if
    /// nothing is stored at `offset`.
    private func readBuffer(at offset: Int64, count: Int) -> [UInt8]? {
        guarded.withLock { guarded in
            var bytes: [UInt8] = []
            while bytes.count < count {
                let (position, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
                guard !isTooFar, let next = guarded.state.segment(at: position, count: count - bytes.count)
                else { break }
                guard case .buffered(let piece) = next else { return nil }
                bytes += piece
            }
            return bytes
        }
    }

    func readNow(at offset: Int64, count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        // Avoids copies while pieces are appended. Bounded, because a very large read rarely gets all its
        // bytes.
        bytes.reserveCapacity(min(count, ReadAheadState.mostHeld))
        while bytes.count < count {
            let (position, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
            let wanted = count - bytes.count
            let next = guarded.withLock { guarded in
                isTooFar
                    ? nil
                    : guarded.state.segment(at: position, count: wanted).map { ($0, guarded.file) }
            }
            guard let (segment, file) = next else { break }
            switch segment {
            case .buffered(let piece): bytes += piece
            case .committed(let extent, let isChecked):
                let range = position..<min(extent.range.upperBound, position &+ Int64(wanted))
                guard let piece = read(range, of: extent, isChecked: isChecked, in: file) else {
                    return bytes
                }
                bytes += piece
            }
        }
        return bytes
    }

    /// The bytes of `range`. If they differ from what was committed, drops the extent and returns `nil`.
    ///
    /// A read error counts as damage too: the bytes can be fetched again.
    private func read(
        _ range: ByteRange,
        of extent: Extent,
        isChecked: Bool,
        in file: ObjectFile
    ) -> ArraySlice<UInt8>? {
        if isChecked, case .checked = engine.protection {
            if let bytes = try? file.read(range), bytes.count == range.count { return bytes[...] }
            return drop(extent, of: file.entry)
        }
        let start = Int(range.lowerBound - extent.range.lowerBound)
        let unsealed = guarded.withLock { $0.unsealed.flatMap { $0.extent == extent ? $0.bytes : nil } }
        if let unsealed { return unsealed[start..<start + range.count] }
        let stored = (try? file.read(extent.range)) ?? []
        guard let bytes = engine.protection.bytes(of: extent, from: stored, of: file.entry) else {
            return drop(extent, of: file.entry)
        }
        guarded.withLock { guarded in
            guarded.state.extentChecked(extent)
            if case .sealed = engine.protection { guarded.unsealed = (extent, bytes) }
        }
        return bytes[start..<start + range.count]
    }

    /// Withdraws the claim of the extent, and reports the damage.
    private func drop(_ extent: Extent, of entry: EntryID) -> ArraySlice<UInt8>? {
        guard guarded.withLock({ $0.state.extentDropped(extent) }) else { return nil }
        let start = extent.range.lowerBound
        let end = extent.range.upperBound
        engine.settings.onNotice(
            MediaError(
                .damagedExtent,
                url.safeText,
                SafeText("cached bytes \(start)–\(end - 1) were damaged; downloading them again")
            )
        )
        let engine = engine
        // Queued before a write can fill the gap, so that it runs before the commit of that write.
        engine.committer.submit { engine.entries.drop([extent], of: entry) }
        return nil
    }
}

extension PersistentStore.Guarded {
    /// `true` if the byte at `offset` is in the file and the store is open.
    fileprivate func isCommitted(at offset: Int64) -> Bool {
        if case .closed = standing { return false }
        if case .committed = state.segment(at: offset, count: 1) { return true }
        return false
    }
}
