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

    /// Removes every entry that no process has open; pinned ones only when asked to.
    package func clear(includingPinned: Bool) async throws -> CacheRemoval {
        try await ask(orElse: CacheRemoval()) { engine, folder in
            try engine.remove(
                entries: folder.index.removables(),
                includingPinned: includingPinned,
                from: folder
            )
        }
    }

    /// Removes the entries of `urls` that no process has open, pinned ones too: they were named.
    package func evict(_ urls: [WebURL]) async throws -> CacheRemoval {
        throw MediaError(.notKept, "evict", "is not built yet")
    }

    /// Removes least recently played entries until the objects take no more than `budget` bytes; never
    /// pinned or open ones.
    package func evict(toBudget budget: Int64) async throws -> CacheRemoval {
        throw MediaError(.notKept, "evict", "is not built yet")
    }

    /// Checks every kept byte, drops what is damaged, and removes files that belong to no entry.
    ///
    /// Works beside playing processes: nothing they read is taken from them. `progress` is called from one
    /// of the cache's threads, about once a mebibyte, and must not block. Throws `CancellationError` when the
    /// task is cancelled; what was mended until then stays so.
    package func verify(
        progress: @escaping @Sendable (VerifyProgress) -> Void = { _ in }
    ) async throws -> VerifyReport {
        throw MediaError(.notKept, "verify", "is not built yet")
    }

    /// Writes what is kept of `url` to an open, seekable file, each byte at its own offset from the file's
    /// start, and gives the file the resource's length where that is known; nil when there is no entry.
    ///
    /// Every byte is checked; a damaged extent becomes a gap. Does not count as playing it. Throws
    /// `.unreadable` when the file cannot be written, `CancellationError` when the task is cancelled.
    package func export(_ url: WebURL, into descriptor: CInt) async throws -> CacheExport? {
        throw MediaError(.notKept, "export", "is not built yet")
    }

    /// Tests the secret, or its absence, against the folder, and makes the folder ready.
    ///
    /// Throws `MediaError` with `.cacheSecret` when the folder is sealed with another secret, when it is sealed
    /// and none was given, and when one was given and the folder is not sealed; nothing in it is touched then.
    /// Other troubles are no matter of this call: a folder that cannot be used is told by `open`.
    package func checkSecret() async throws {
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
