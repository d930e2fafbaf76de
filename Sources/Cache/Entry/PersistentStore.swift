import Glibc
import Media

/// An open entry of the cache folder.
///
/// Opening one URL twice, in one process or in two, gives two stores on one entry: each reads what was
/// committed when it was opened, and learns at its own commits what the other has claimed meanwhile.
/// They are expected to write the same bytes, since one entry is one version of a resource; if they do
/// not, the check of the extent tells, and its bytes are missing again.
final class PersistentStore: ByteStore {
    /// Commit when this much is at stake: losing it costs a second of a 10 Mbit/s line.
    private static let commitSize: Int64 = 1024 * 1024
    /// Commit when the first byte at stake is this old.
    private static let commitAge = Duration.seconds(1)

    private enum Standing {
        case kept
        /// The last commit failed, and writing would only make the loss larger.
        case refusing(MediaError)
        /// The entry was replaced, removed or discarded: what is here is read on, and nothing is claimed.
        case detached
        case closed
    }

    private struct Guarded {
        var state: EntryState
        var standing = Standing.kept
        /// Commits a second after the first uncommitted byte; nil when there is none.
        var timer: Task<Void, Never>?

        /// Throws why nothing may be written, if so.
        func checkWritable() throws(MediaError) {
            switch standing {
            case .kept, .detached, .closed: break
            case .refusing(let error): throw error
            }
        }

        mutating func recorded(_ recording: CacheEngine.Recording, for plan: CommitPlan) {
            switch recording {
            case .recorded(let own, let others):
                state.committed(plan, own: own, others: others)
                standing = .kept
            case .gone:
                standing = .detached
            }
        }
    }

    private let engine: CacheEngine
    private let entry: EntryID
    private let subject: SafeText
    private let file: ObjectFile
    // The only lock: around the state, never around a file operation.
    private let guarded: Locked<Guarded>

    init(_ opening: CacheEngine.Opening, of url: WebURL, engine: CacheEngine) {
        self.engine = engine
        entry = opening.entry
        file = opening.file
        subject = url.safeText
        guarded = Locked(
            Guarded(state: EntryState(description: opening.description, extents: opening.extents))
        )
    }

    /// The extent of `range` as the file has it now.
    static func extent(_ range: ByteRange, of file: ObjectFile) throws -> Extent {
        let bytes = try file.read(range)
        guard bytes.count == range.count else { throw SystemError("read kept bytes back", number: EIO) }
        return Extent(range: range, check: Digest.check(of: bytes))
    }

    package var description: EntryDescription { guarded.withLock { $0.state.description } }
    package var stored: ByteRangeSet { guarded.withLock { $0.state.stored } }

    package var isPersistent: Bool {
        guarded.withLock { guarded in
            switch guarded.standing {
            case .kept, .refusing: true
            case .detached, .closed: false
            }
        }
    }

    package func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        return try await engine.io.run { try self.readNow(at: offset, count: count) }
    }

    package func write(_ bytes: [UInt8], at offset: Int64) async throws {
        guard !bytes.isEmpty else { return }
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        guard offset >= 0, !isTooFar else {
            throw MediaError(.notKept, subject, "bytes at an impossible offset cannot be kept")
        }
        try engine.checkBudget()
        try await engine.io.run { try self.writeNow(bytes, to: offset..<end) }
    }

    package func describe(_ description: EntryDescription) {
        guarded.withLock { $0.state.described(description) }
    }

    package func commit() async throws {
        try await engine.committer.run { try self.commitNow() }
    }

    package func discard() async {
        stopTimer()
        await engine.committer.run {
            let wasKept = self.guarded.withLock { guarded in
                switch guarded.standing {
                case .kept, .refusing:
                    guarded.standing = .detached
                    return true
                case .detached, .closed: return false
                }
            }
            // Row and name go; the bytes stay in the file that is open, for this store to read on.
            if wasKept { self.engine.discard(self.entry) }
        }
    }

    package func close() async {
        await engine.committer.run {
            // Nobody is left to be told; what could not be committed is missing the next time.
            try? self.commitNow()
            let wasOpen = self.guarded.withLock { guarded in
                defer { guarded.standing = .closed }
                if case .closed = guarded.standing { return false }
                return true
            }
            if wasOpen { self.engine.letGo(of: self.entry, self.file) }
        }
        engine.tidyLater()
    }

    private func readNow(at offset: Int64, count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let position = offset + Int64(bytes.count)
            guard let segment = guarded.withLock({ $0.state.segment(at: position) }) else { break }
            let wanted = count - bytes.count
            switch segment {
            case .plain(let range):
                let piece = try readPlain(range.prefix(wanted))
                bytes += piece
                if piece.isEmpty {
                    // The file was cut under us: to claim what it had would make the reader ask for ever.
                    lose(range)
                    return bytes
                }
            case .unchecked(let extent):
                guard let whole = checked(extent) else { return bytes }
                bytes += whole[Int(position - extent.range.lowerBound)...].prefix(wanted)
            }
        }
        return bytes
    }

    /// What the file has of `range`; empty, too, when the disk cannot read what was committed.
    ///
    /// Committed bytes can be fetched again. Those that were only just written fail aloud, because
    /// fetching them once more onto the same disk promises nothing better.
    private func readPlain(_ range: ByteRange) throws(MediaError) -> [UInt8] {
        do {
            return try file.read(range)
        } catch {
            guard !guarded.withLock({ $0.state.isCommitted(at: range.lowerBound) }) else { return [] }
            throw MediaError(.unreadable, subject, SafeText("\(error)"))
        }
    }

    /// Drops `range`, which the file no longer has, and withdraws what was claimed of it.
    private func lose(_ range: ByteRange) {
        guard let lost = guarded.withLock({ $0.state.bytesLost(range) }) else { return }
        let (start, end) = (range.lowerBound, range.upperBound)
        engine.settings.onNotice(
            MediaError(.damagedExtent, subject, SafeText("stored bytes \(start)–\(end - 1) were lost"))
        )
        let (engine, entry) = (engine, entry)
        // Handed over before any write can fill the place, so it runs before that write's commit.
        engine.committer.submit { for extent in lost { engine.drop(extent, of: entry) } }
    }

    /// The bytes of `extent`; nil, and the extent dropped, when they are not those that were committed.
    ///
    /// A disk that cannot read them is damage too: what it lost can be fetched again.
    private func checked(_ extent: Extent) -> [UInt8]? {
        let bytes = (try? file.read(extent.range)) ?? []
        guard bytes.count == extent.range.count, Digest.check(of: bytes) == extent.check else {
            let wasKnown = guarded.withLock { $0.state.extentDropped(extent) }
            guard wasKnown else { return nil }
            let (start, end) = (extent.range.lowerBound, extent.range.upperBound)
            engine.settings.onNotice(
                MediaError(.damagedExtent, subject, SafeText("stored bytes \(start)–\(end - 1) were damaged"))
            )
            let (engine, entry) = (engine, entry)
            // Handed over before any write can fill the place, so it runs before that write's commit.
            engine.committer.submit { engine.drop(extent, of: entry) }
            return nil
        }
        guarded.withLock { $0.state.extentChecked(extent) }
        return bytes
    }

    private func writeNow(_ bytes: [UInt8], to range: ByteRange) throws {
        let gaps = try guarded.withLock { guarded in
            try guarded.checkWritable()
            return guarded.state.writable(in: range)
        }
        for gap in gaps {
            let start = Int(gap.lowerBound - range.lowerBound)
            do {
                try file.write(bytes[start..<start + gap.count], at: gap.lowerBound)
            } catch {
                throw engine.notKept(error)
            }
            // Looked at again: a flush can have failed meanwhile, and then these bytes are in doubt too.
            let isDue = try guarded.withLock { guarded in
                try guarded.checkWritable()
                guarded.state.bytesWritten(gap)
                // What is never claimed needs no commit either.
                guard case .kept = guarded.standing else { return false }
                if guarded.timer == nil { guarded.timer = startTimer() }
                return guarded.state.uncommittedByteCount >= Self.commitSize
            }
            // The failure of a commit that nobody asked for is told by the next write.
            if isDue { engine.committer.submit { try? self.commitNow() } }
        }
    }

    /// Flushes, then claims: in this order, and nothing in between can make a claim of unflushed bytes.
    private func commitNow() throws {
        stopTimer()
        let plan: CommitPlan? = guarded.withLock { guarded in
            switch guarded.standing {
            case .kept, .refusing: guarded.state.commitPlan()
            case .detached, .closed: nil
            }
        }
        guard let plan else { return }
        do {
            if !plan.ranges.isEmpty { try file.flush() }
        } catch {
            let error = engine.notKept(error)
            guarded.withLock { guarded in
                guarded.state.flushFailed()
                guarded.standing = .refusing(error)
            }
            throw error
        }
        do {
            let extents = try plan.ranges.flatMap(Extent.pieces).map { try Self.extent($0, of: file) }
            let recording = try engine.record(extents, description: plan.description, of: entry, in: file)
            guarded.withLock { $0.recorded(recording, for: plan) }
        } catch {
            // The bytes are on the disk and good to be read; the next commit tries to claim them again.
            let error = engine.notKept(error)
            guarded.withLock { $0.standing = .refusing(error) }
            throw error
        }
    }

    private func startTimer() -> Task<Void, Never> {
        let clock = engine.settings.clock
        return Task { [weak self] in
            guard (try? await clock.sleep(for: Self.commitAge)) != nil, let self else { return }
            engine.committer.submit { try? self.commitNow() }
        }
    }

    private func stopTimer() {
        let timer = guarded.withLock { guarded in
            defer { guarded.timer = nil }
            return guarded.timer
        }
        timer?.cancel()
    }
}
