package import Media
import System

extension CacheFolder {
    /// Checks every cached byte, drops what is damaged, and removes files that belong to no entry.
    ///
    /// Calls `isDamaged` for every resource that is cached whole and without damage. It returns `true` if the
    /// content does not match a checksum that it contains (FLAC: its MD5): then the server's file is damaged,
    /// and nothing is dropped.
    ///
    /// Safe while other processes play: bytes that they read stay. `progress` is called about once per
    /// mebibyte and must not block. Throws `CancellationError` if the task is cancelled; repairs made so far
    /// stay.
    package func verify(
        progress: @escaping @Sendable (VerifyProgress) -> Void = { _ in },
        isDamaged: @escaping @Sendable (any ByteSource) async throws -> Bool = { _ in false }
    ) async throws -> VerifyReport {
        var verification = Verification(engine: engine, progress: progress, isDamaged: isDamaged)
        return try await verification.run()
    }
}

/// A verification in progress.
private struct Verification {
    let engine: CacheEngine
    let progress: @Sendable (VerifyProgress) -> Void
    let isDamaged: @Sendable (any ByteSource) async throws -> Bool
    var report = VerifyReport()
    var state = VerifyProgress()

    /// The number of extents checked in one job: at most a mebibyte, so that reads for playback do not wait
    /// long.
    private static let batchSize = 16

    mutating func run() async throws -> VerifyReport {
        guard engine.settings.hasFolder else { return report }
        report.indexWasDamaged = try await checkIndex()
        let (entries, bytes) = try await engine.ask(orElse: ([], 0)) { try $0.entries.everything() }
        state.totalBytes = bytes
        for entry in entries {
            try Task.checkCancellation()
            try await check(entry)
        }
        // Fails in a read-only folder, which can be checked all the same.
        let orphans = try? await engine.removeOrphans()
        try Task.checkCancellation()
        report.orphansRemoved = orphans?.entriesRemoved ?? 0
        report.reclaimedBytes += orphans?.bytesFreed ?? 0
        return report
    }

    private func checkIndex() async throws -> Bool {
        let engine = engine
        let isSound = try? await engine.reader.ask { try $0.isSound() }
        if isSound == true { return false }
        return try await engine.committer.run {
            let before = engine.session.setAsideCount
            do {
                try engine.session.performOrFail { folder in
                    guard try folder.index.isSound() else {
                        throw SQLiteError(code: .corrupt, message: "its pages do not fit together")
                    }
                }
            } catch {
                // A read-only folder can be checked, but not repaired.
                guard (try? engine.session.unwritableFolder(after: error)) != nil else {
                    throw engine.settings.notCached(error)
                }
            }
            return engine.session.setAsideCount > before
        }
    }

    private mutating func check(_ entry: EntryID) async throws {
        let engine = engine
        let reading = try await engine.committer.run { () -> OpenEntry? in
            if let reading = try engine.entries.openToRead({ try $0.entries.row(entry) }) { return reading }
            return try engine.session.perform { folder -> OpenEntry? in
                guard let row = try folder.index.entries.row(entry) else { return nil }
                // If the file is missing, this creates an empty one, so that all checks fail and all claims
                // are withdrawn.
                let file = try folder.objects.open(entry)
                try file.lockShared()
                return try OpenEntry(row, of: folder.index, file: file)
            }
        }
        // The entry was removed since it was listed.
        guard let reading else { return }
        report.entries += 1
        var damagedRanges = ByteRangeSet()
        let extents = reading.extents + reading.lost
        for start in stride(from: 0, to: extents.count, by: Self.batchSize) {
            try Task.checkCancellation()
            let batch = extents[start..<min(extents.count, start + Self.batchSize)]
            let damaged = await engine.io.run {
                batch.filter { engine.entries.bytes(of: $0, in: reading.file) == nil }
            }
            if !damaged.isEmpty {
                let isDropped = await engine.committer.run { engine.entries.drop(Array(damaged), of: entry) }
                if !isDropped { report.leftBytes += damaged.reduce(0) { $0 + Int64($1.range.count) } }
            }
            for extent in damaged { damagedRanges.insert(contentsOf: extent.range) }
            let size = batch.reduce(0) { $0 + Int64($1.range.count) }
            report.bytes += size
            state.bytes += size
            progress(state)
        }
        if !damagedRanges.isEmpty {
            report.damaged.append(VerifyReport.Damage(url: reading.url, ranges: damagedRanges))
        } else if let content = EntryContent(reading, engine), try await isDamaged(content) {
            report.damagedAtServer.append(reading.url)
        }
        // This fails in a read-only folder.
        report.reclaimedBytes +=
            (try? await engine.committer.run {
                try engine.session.perform { try engine.eviction.reclaim(reading.file, in: $0) }
            }) ?? 0
    }
}

/// The bytes of an entry that is cached as a whole.
private struct EntryContent: ByteSource {
    let reading: OpenEntry
    let engine: CacheEngine
    let length: Int64?

    /// `nil` if bytes are missing.
    init?(_ reading: OpenEntry, _ engine: CacheEngine) {
        // Of a stream, the entry's own length is that of its list.
        guard reading.stream == nil, let length = reading.description.length,
            ByteRangeSet(reading.extents.map(\.range)).covers(0..<length)
        else { return nil }
        self.reading = reading
        self.engine = engine
        self.length = length
    }

    func isStored(_ range: ByteRange) -> Bool { true }

    /// Returns at most the rest of one extent; no bytes at the end of the resource, or if the extent was
    /// damaged in the meantime.
    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        let index = reading.extents.partitioningIndex { $0.range.upperBound > offset }
        guard index < reading.extents.count, case let extent = reading.extents[index] else { return [] }
        let bytes = await engine.io.run { [engine, reading] in
            engine.entries.bytes(of: extent, in: reading.file)
        }
        return Array((bytes ?? []).dropFirst(Int(offset - extent.range.lowerBound)).prefix(count))
    }
}
