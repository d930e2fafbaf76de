import Media
import System

extension CacheFolder {
    /// Checks every cached byte, drops what is damaged, and removes files that belong to no entry.
    ///
    /// Works beside playing processes and takes nothing from them. `progress` is called about once a mebibyte
    /// and must not block. Throws `CancellationError` if the task is cancelled; repairs made until then stay.
    package func verify(
        progress: @escaping @Sendable (VerifyProgress) -> Void = { _ in }
    ) async throws -> VerifyReport {
        var verification = Verification(engine: engine, progress: progress)
        return try await verification.run()
    }
}

/// A verification in progress.
private struct Verification {
    let engine: CacheEngine
    let progress: @Sendable (VerifyProgress) -> Void
    private var report = VerifyReport()
    private var state = VerifyProgress()

    /// Extents checked in one job: a mebibyte, so that reads come in between.
    private static let batchSize = 16

    init(engine: CacheEngine, progress: @escaping @Sendable (VerifyProgress) -> Void) {
        self.engine = engine
        self.progress = progress
    }

    mutating func run() async throws -> VerifyReport {
        guard engine.settings.hasFolder else { return report }
        report.indexWasDamaged = try await checkIndex()
        let (entries, bytes) = try await engine.ask(orElse: ([], 0)) { try $0.entries.everything() }
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
        let isSound = try? await engine.look.run { try engine.questions.ask { try $0.isSound() } }
        if isSound == true { return false }
        return try await engine.committer.run {
            let before = engine.session.setAsideCount
            do {
                try engine.session.performOrFail { folder in
                    guard try folder.index.isSound() else {
                        throw IndexError(code: .corrupt, message: "its pages do not fit together")
                    }
                }
            } catch {
                // A folder that accepts no writes can be checked, if not repaired.
                guard (try? engine.session.unwritableFolder(after: error)) != nil else {
                    throw engine.settings.notKept(error)
                }
            }
            return engine.session.setAsideCount > before
        }
    }

    private mutating func check(_ entry: EntryID) async throws {
        let engine = engine
        let reading = try await engine.committer.run { () -> EntryReading? in
            if let reading = try engine.entries.openToRead({ try $0.entries.row(entry) }) { return reading }
            return try engine.session.perform { folder -> EntryReading? in
                guard let row = try folder.index.entries.row(entry) else { return nil }
                // If its file is missing, all its claims are damaged, as the checks find out with an empty
                // one.
                let file = try folder.objects.open(entry)
                try file.lockShared()
                return EntryReading(row: row, file: file, extents: try folder.index.extents.all(of: entry))
            }
        }
        // Removed since it was listed.
        guard let reading else { return }
        report.entries += 1
        var damagedRanges = ByteRangeSet()
        for start in stride(from: 0, to: reading.extents.count, by: Self.batchSize) {
            try Task.checkCancellation()
            let batch = reading.extents[start..<min(reading.extents.count, start + Self.batchSize)]
            let damaged = await engine.io.run {
                batch.filter { engine.entries.bytes(of: $0, in: reading) == nil }
            }
            if !damaged.isEmpty {
                let isDropped = await engine.committer.run { engine.entries.drop(Array(damaged), of: entry) }
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
        // Fails in a folder that accepts no writes.
        report.reclaimedBytes +=
            (try? await engine.committer.run {
                try engine.session.perform { try engine.eviction.reclaim(reading, in: $0) }
            }) ?? 0
    }

    private mutating func removeOrphans() async throws {
        let engine = engine
        let walk = try? await engine.committer.run {
            try engine.session.perform { SharedWalk(try $0.objects.walk()) }
        }
        while let walk {
            try Task.checkCancellation()
            let swept = try await engine.committer.run { () -> (orphans: Int, bytes: Int64)? in
                guard let entries = walk.walk.next(Eviction.pageSize) else { return nil }
                return try engine.session.perform { try engine.eviction.sweep(entries, in: $0) }
            }
            guard let swept else { return }
            report.orphansRemoved += swept.orphans
            report.reclaimedBytes += swept.bytes
        }
    }
}

/// A walk that one job of the committing thread passes to the next.
private final class SharedWalk: @unchecked Sendable {
    // Unchecked: only jobs of one thread, one after the other, use the walk.
    let walk: ObjectWalk

    init(_ walk: ObjectWalk) { self.walk = walk }
}
