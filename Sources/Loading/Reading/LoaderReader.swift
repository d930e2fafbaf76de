import Media
import System

/// One reader of a shared loader.
///
/// Stored bytes are read from the store; the loader is asked only for missing bytes.
final class LoaderReader: ResourceReader {
    private struct Guarded {
        var isClosed = false
        /// The bytes that were read, for the report.
        var read = ByteRangeSet()
    }

    let loader: ResourceLoader
    private let store: any ByteStore
    private let id: LoadReaders.ID
    private let guarded = Locked(Guarded())

    init(loader: ResourceLoader, id: LoadReaders.ID) {
        self.loader = loader
        self.id = id
        store = loader.store
    }

    var length: Int64? { loader.length }

    var report: LoadReport {
        var report = loader.report
        let read = guarded.withLock { $0.read }
        report.readBytes = read.byteCount
        report.cachedBytes = read.intersection(loader.storedAtOpen).byteCount
        return report
    }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        precondition(offset >= 0 && count > 0, "a read asks for bytes at an offset of the resource")
        var wasStored = false
        while true {
            try Task.checkCancellation()
            guard !isClosed else { throw CancellationError() }
            let bytes = try await store.read(at: offset, count: count)
            guard bytes.isEmpty else {
                took(offset..<offset + Int64(bytes.count))
                return bytes
            }
            switch try await loader.waitForBytes(id, at: offset) {
            case .stored:
                // The byte arrived after the store was read, so read the store once more. If the byte is
                // still not returned, the store has lost it.
                guard !wasStored else {
                    let cause: SafeText = "can't read the cached bytes; play it again"
                    throw MediaError(.damaged, loader.url.safeText, cause)
                }
                wasStored = true
            case .missing: wasStored = false
            case .end: return []
            case .live(let live): return try await live.read(at: offset, count: count)
            }
        }
    }

    /// Notes that `range` was read, and reports the position to the loader, which may plan read-ahead.
    private func took(_ range: ByteRange) {
        guarded.withLock { $0.read.insert(contentsOf: range) }
        // If every byte is stored, there is nothing to plan.
        if let length = store.description.length, length > 0, store.stored == ByteRangeSet(0..<length) {
            return
        }
        loader.step { $0.readRequested(id, at: range.upperBound - 1, $1) }
    }

    private var isClosed: Bool { guarded.withLock { $0.isClosed } }

    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        // Does not go through the loader, because this must not move the read-ahead.
        return isClosed ? [] : try await store.read(at: offset, count: count)
    }

    func willRead(_ range: ByteRange) { loader.step { $0.readerAsked(id, for: .reading(range), $1) } }

    var arrivesInOrder: Bool { !loader.isSeekable }

    func isStored(_ range: ByteRange) -> Bool { store.stored.covers(range) }

    func allowReadAhead(bytesPerSecond: Double) {
        loader.step { $0.readerAsked(id, for: .readAhead(bytesPerSecond: bytesPerSecond), $1) }
    }

    func setPriority(isLow: Bool) { loader.step { $0.readerAsked(id, for: .lowPriority(isLow), $1) } }

    func prefetch(_ range: ByteRange) { loader.step { $0.readerAsked(id, for: .prefetch(range), $1) } }

    func fill() { loader.step { $0.readerAsked(id, for: .fill, $1) } }

    func reject() async { if loader.storedAtOpen.isEmpty { await store.discard() } }

    func stored(_ fact: DerivedFact) -> [UInt8] { store.description.facts[fact] ?? [] }

    func store(_ value: [UInt8], as fact: DerivedFact) { loader.describe { $0.facts[fact] = value } }

    func store(_ facts: TrackFacts) {
        loader.describe { description in
            description.tags = facts.tags
            description.durationSeconds = facts.duration?.seconds
        }
    }

    var stream: StreamTable? { store.stream }

    var streamContents: StreamContents? { store.streamContents }

    func store(_ stream: StreamTable) { store.describe(stream) }

    func close() async {
        let isFirst = guarded.withLock { guarded in
            defer { guarded.isClosed = true }
            return !guarded.isClosed
        }
        guard isFirst else { return }
        await loader.close(id)
        // Commits what this reader fetched, even if others still have the resource open. The segments of a
        // stream are closed by now, and are committed with its list.
        if store.stream != nil || loader.hasReaders { try? await store.commit() }
    }
}
