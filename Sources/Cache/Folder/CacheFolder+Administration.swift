import Glibc
package import Media

/// What `reprise cache …` asks for. A folder that is not there is empty, and is not made by asking.
extension CacheFolder {
    /// Every entry, the most recently played first. Throws `.notKept` when the folder cannot be used.
    package func list() async throws -> [CacheEntrySummary] {
        try await ask(orElse: []) { _, folder in
            try folder.index.entries().map { CacheEntrySummary($0.row, stored: $0.stored) }
        }
    }

    /// The entry of `url`; nil when there is none. Does not count as playing it.
    package func info(for url: WebURL) async throws -> CacheEntrySummary? {
        try await ask(orElse: nil) { _, folder in
            guard let row = try folder.index.entry(key: Digest.key(of: url.requestString)) else { return nil }
            return CacheEntrySummary(row, stored: try folder.index.storedRanges(of: row.entry))
        }
    }

    /// Removes every entry, pinned ones too, that no process has open. Says how many, and what it freed.
    package func clear() async throws -> (entriesRemoved: Int, bytesFreed: Int64) {
        try await ask(orElse: (0, 0)) { engine, folder in
            let before = try folder.index.allocated()
            let removed = try engine.remove(folder.index.entries().map(\.row.entry), from: folder)
            return (removed.count, max(0, before - (try folder.index.allocated())))
        }
    }

    /// The bytes that all objects take on the disk, as of their last commits.
    package var totalBytes: Int64 {
        get async throws { try await ask(orElse: 0) { _, folder in try folder.index.allocated() } }
    }

    private func ask<Answer: Sendable>(
        orElse nothing: Answer,
        _ question: @escaping @Sendable (CacheEngine, OpenedFolder) throws -> Answer
    ) async throws -> Answer {
        let engine = engine
        return try await engine.committer.run {
            if access(engine.settings.path, F_OK) != 0, errno == ENOENT { return nothing }
            return try engine.perform { try question(engine, $0) }
        }
    }
}
