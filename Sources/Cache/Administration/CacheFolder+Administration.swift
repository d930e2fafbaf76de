package import Media
import System

/// What `reprise cache …` asks for. A folder that is not there is empty, and is not made by asking.
extension CacheFolder {
    /// Every entry, the most recently played first. Throws `.notKept` when the folder cannot be used.
    package func list() async throws -> [CacheEntrySummary] {
        try await engine.ask(orElse: []) { index in
            try index.entries().map { CacheEntrySummary($0.row, stored: $0.stored) }
        }
    }

    /// The entry of `url`; nil when there is none. Does not count as playing it.
    package func info(for url: WebURL) async throws -> CacheEntrySummary? {
        let key = engine.key(of: url)
        return try await engine.ask(orElse: nil) { index in
            guard let row = try index.entry(key: key) else { return nil }
            let (stored, urls) = (try index.storedRanges(of: row.entry), try index.urls(of: row.entry))
            return CacheEntrySummary(row, stored: stored, urls: urls)
        }
    }

    /// The bytes that all objects take on the disk, as of their last commits.
    package var totalBytes: Int64 {
        get async throws { try await engine.ask(orElse: 0) { try $0.allocated() } }
    }

    /// Tests the secret, or its absence, against the folder, and makes the folder ready.
    ///
    /// Throws `MediaError` with `.cacheSecret` when the folder is sealed with another secret, when it is sealed
    /// and none was given, and when one was given and the folder is not sealed; nothing in it is touched then.
    /// Other troubles are no matter of this call: a folder that cannot be used is told by `open`. Without a
    /// secret, a folder that is not there is not made.
    ///
    /// - Parameter isAsking: only questions follow: an index that can be read without the folder's lock is asked
    ///   without it, so that nobody is waited for, and the folder is not made ready.
    package func checkSecret(isAsking: Bool = false) async throws {
        let engine = engine
        guard engine.settings.secret != nil || IndexReading.isFolder(engine.settings.path) else { return }
        if isAsking {
            do {
                return try await engine.look.run { try engine.reading { _ in } }
            } catch let error as SealError {
                throw engine.notKept(error)
            } catch {
                // What is wrong with it is found out, and seen to, below.
            }
        }
        try await engine.committer.run {
            do {
                try engine.performOrFail { _ in }
            } catch let error as SealError {
                throw engine.notKept(error)
            } catch {
                // Also where nothing can be written, the secret has to fit what is read.
                do { _ = try engine.unwritableFolder(after: error) } catch let error as SealError {
                    throw engine.notKept(error)
                } catch {}
            }
        }
    }
}
