import Media
import System

extension CacheFolder {
    /// Checks every kept byte, drops what is damaged, and removes files that belong to no entry.
    ///
    /// Works beside playing processes: nothing they read is taken from them. `progress` is called about once
    /// a mebibyte and must not block. Throws `CancellationError` when the task is cancelled; what was mended
    /// until then stays so.
    package func verify(
        progress: @escaping @Sendable (VerifyProgress) -> Void = { _ in }
    ) async throws -> VerifyReport {
        var verification = Verification(engine: engine, progress: progress)
        return try await verification.run()
    }
}

/// One verification under way.
private struct Verification {
    let engine: CacheEngine
    let progress: @Sendable (VerifyProgress) -> Void
    private var report = VerifyReport()
    private var state = VerifyProgress()

    /// How many extents are checked in one go: a mebibyte, so that reads come in between.
    private static let batchSize = 16

    init(engine: CacheEngine, progress: @escaping @Sendable (VerifyProgress) -> Void) {
        self.engine = engine
        self.progress = progress
    }

    mutating func run() async throws -> VerifyReport {
        guard IndexReading.isFolder(engine.settings.path) else { return report }
        report.indexWasDamaged = try await checkIndex()
        let (entries, bytes) = try await engine.ask(orElse: ([], 0)) { try $0.everything() }
        state.totalBytes = bytes
        for entry in entries {
            try Task.checkCancellation()
            try await check(entry)
        }
        try await removeOrphans()
        return report
    }

    private func checkIndex() async throws -> Bool {
        let engine = engine
        let isSound = try? await engine.look.run { try engine.reading { try $0.isSound() } }
        if isSound == true { return false }
        return try await engine.committer.run {
            let before = engine.setAsideCount
            do {
                try engine.performOrFail { folder in
                    guard try folder.index.isSound() else {
                        throw IndexError(code: .corrupt, message: "its pages do not fit together")
                    }
                }
            } catch {
                // What takes nothing can be checked, if not mended.
                guard (try? engine.unwritableFolder(after: error)) != nil else { throw engine.notKept(error) }
            }
            return engine.setAsideCount > before
        }
    }

    private mutating func check(_ entry: EntryID) async throws {
        let engine = engine
        let reading = try await engine.committer.run { () -> CacheEngine.Reading? in
            if let reading = try engine.openToRead({ try $0.entry(entry) }) { return reading }
            return try engine.perform { folder -> CacheEngine.Reading? in
                guard let row = try folder.index.entry(entry) else { return nil }
                // Without its file, all that is claimed of it is damaged: an empty one shows that.
                let file = try folder.objects.open(entry)
                try file.lockShared()
                return CacheEngine.Reading(row: row, file: file, extents: try folder.index.extents(of: entry))
            }
        }
        // Removed since it was listed.
        guard let reading else { return }
        report.entries += 1
        state.entry = reading.row.url
        var damagedRanges = ByteRangeSet()
        for start in stride(from: 0, to: reading.extents.count, by: Self.batchSize) {
            try Task.checkCancellation()
            let batch = reading.extents[start..<min(reading.extents.count, start + Self.batchSize)]
            let damaged = await engine.io.run {
                batch.filter { engine.bytes(of: $0, in: reading) == nil }
            }
            if !damaged.isEmpty {
                let isDropped = await engine.committer.run { engine.drop(Array(damaged), of: entry) }
                if !isDropped { report.leftBytes += damaged.reduce(0) { $0 + Int64($1.range.count) } }
            }
            report.extents += batch.count
            report.damagedExtents += damaged.count
            for extent in damaged { damagedRanges.insert(contentsOf: extent.range) }
            let size = batch.reduce(0) { $0 + Int64($1.range.count) }
            report.bytes += size
            state.bytes += size
            progress(state)
        }
        if !damagedRanges.isEmpty {
            report.damaged.append(VerifyReport.Damage(url: reading.row.url, ranges: damagedRanges))
        }
        // A folder that takes nothing gives nothing back.
        report.reclaimedBytes += (try? await engine.committer.run { try engine.reclaim(reading) }) ?? 0
    }

    private mutating func removeOrphans() async throws {
        let engine = engine
        let walk = try? await engine.committer.run {
            try engine.perform { SharedWalk(try $0.objects.walk()) }
        }
        while let walk {
            try Task.checkCancellation()
            let swept = try await engine.committer.run { () -> (orphans: Int, bytes: Int64)? in
                guard let entries = walk.walk.next(CacheEngine.pageSize) else { return nil }
                return try engine.perform { try engine.sweep(entries, in: $0) }
            }
            guard let swept else { return }
            report.orphansRemoved += swept.orphans
            report.reclaimedBytes += swept.bytes
        }
    }
}

/// A walk that is handed from job to job of the committing thread.
private final class SharedWalk: @unchecked Sendable {
    // Unchecked: used by jobs of one thread, one after the other.
    let walk: ObjectWalk

    init(_ walk: ObjectWalk) { self.walk = walk }
}

extension CacheEngine {
    /// Gives the disk back what the entry's file takes without any claim, and puts its sums right. Returns how
    /// many bytes that were. Committing thread only.
    ///
    /// Only where nobody else has the entry open: another process may still read what was claimed when it
    /// looked, and would take the zeros of a hole for it.
    func reclaim(_ reading: Reading) throws(MediaError) -> Int64 {
        let entry = reading.row.entry
        return try perform { folder in
            guard let row = try folder.index.entry(entry) else { return 0 }
            let extents = try folder.index.extents(of: entry)
            let stored = ByteRangeSet(extents.map(\.range))
            let (length, allocated) = try reading.file.size()
            var after = allocated
            // Also within this process: each opener has a lock of its own.
            if reading.file.lockExclusive() {
                defer { try? reading.file.lockShared() }
                for gap in stored.gaps(in: 0..<max(length, 0)) where length > 0 {
                    try? settings.files.punch(gap, of: reading.file.descriptor)
                }
                after = try reading.file.size().allocated
            }
            let isRight = row.storedBytes == stored.byteCount && row.allocated == after
            if !isRight {
                // What somebody is just committing is counted already, and not yet on the disk.
                try reading.file.ifNobodyCommits {
                    let settled = try reading.file.size().allocated
                    try folder.index.relaxedTransaction {
                        try folder.index.recountStored(of: entry)
                        try folder.index.setAllocated(settled, of: entry)
                    }
                }
            }
            return max(0, allocated - after)
        }
    }
}

extension CacheIndex {
    /// Whether SQLite finds nothing wrong with its pages.
    fileprivate func isSound() throws -> Bool {
        try connection.statement("PRAGMA quick_check(1)").first { $0.optionalText(0) } == "ok"
    }
}
