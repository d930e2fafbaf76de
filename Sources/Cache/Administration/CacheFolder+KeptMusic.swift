package import Media
import System

extension CacheFolder: KeptMusic {
    /// What is here of each of `urls`; a folder that cannot be used has nothing.
    ///
    /// One row is read for each, in batches between which other questions come to their turn.
    package func availability(of urls: [WebURL]) async -> [Availability?] {
        let engine = engine
        var answers: [Availability?] = []
        answers.reserveCapacity(urls.count)
        for start in stride(from: 0, to: urls.count, by: Self.batchSize) {
            let batch = urls[start..<min(urls.count, start + Self.batchSize)]
            let found = try? await engine.ask(orElse: [Availability?](repeating: nil, count: batch.count)) {
                index in
                try batch.map { try index.entry(key: engine.key(of: $0)).map { Availability($0) } }
            }
            answers += found ?? [Availability?](repeating: nil, count: batch.count)
        }
        return answers
    }

    /// Whether bytes of `url` are kept, which is asked where `open` comes next: nothing is opened for the
    /// question alone, and a folder that is not made yet is not made for it.
    package func keepsSome(of url: WebURL) async -> Bool {
        let engine = engine
        guard IndexReading.isFolder(engine.settings.path) else { return false }
        let row = try? await engine.committer.run {
            try engine.performOrFail { try $0.index.entry(key: engine.key(of: url)) }
        }
        return (row?.storedBytes ?? 0) > 0
    }

    /// Some milliseconds of work.
    private static let batchSize = 1_000

    /// Pins the entry of `url`, made empty where there is none, or unpins it. Durable when this returns.
    ///
    /// Throws `.notKept` when the folder cannot be used. Pinned entries are never evicted, and count towards
    /// the budget like all others.
    package func setPinned(_ url: WebURL, _ isPinned: Bool) async throws {
        let engine = engine
        try await engine.committer.run { try engine.setPinned(url, isPinned) }
    }
}

extension Availability {
    fileprivate init(_ row: EntryRow) {
        let length = row.description.length
        self.init(
            storedBytes: min(row.storedBytes, length ?? .max),
            length: length,
            playsTo: Self.playsTo(row),
            isPinned: row.isPinned
        )
    }

    /// The part of the duration that the stored beginning is of the whole: exact where all of it is there,
    /// and near enough to be shown elsewhere.
    private static func playsTo(_ row: EntryRow) -> Duration? {
        // Longer than this is a slip of somebody's, and `Duration` ends before `Double` does.
        guard let seconds = row.description.durationSeconds, seconds < 1e9,
            let length = row.description.length, length > 0
        else { return nil }
        return .seconds(seconds * min(1, Double(row.prefix) / Double(length)))
    }
}
