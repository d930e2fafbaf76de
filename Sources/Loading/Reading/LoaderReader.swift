import Media
import System

/// One reader of a shared loader.
final class LoaderReader: ResourceReader {
    let loader: ResourceLoader
    private let id: LoadReaders.ID
    private let isClosed = Locked(false)

    init(loader: ResourceLoader, id: LoadReaders.ID) {
        self.loader = loader
        self.id = id
    }

    var length: Int64? { loader.length }
    var report: LoadReport { loader.report }
    var storedSeekTable: [UInt8] { loader.store.description.seekTable }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard !isClosed.withLock({ $0 }) else { throw CancellationError() }
        return try await loader.read(id, at: offset, count: count)
    }

    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        // Does not go through the loader, because this must not move the read-ahead.
        guard !isClosed.withLock({ $0 }) else { return [] }
        return try await loader.store.read(at: offset, count: count)
    }

    func isStored(_ range: ByteRange) -> Bool { loader.store.stored.covers(range) }

    func allowReadAhead(bytesPerSecond: Double) {
        loader.step { $0.readerAsked(id, for: .readAhead(bytesPerSecond: bytesPerSecond), $1) }
    }

    func setPriority(isLow: Bool) { loader.step { $0.readerAsked(id, for: .lowPriority(isLow), $1) } }

    func prefetch(_ range: ByteRange) { loader.step { $0.readerAsked(id, for: .prefetch(range), $1) } }

    func fill() { loader.step { $0.readerAsked(id, for: .fill, $1) } }

    func reject() async { await loader.reject() }

    func storeSeekTable(_ table: [UInt8]) {
        loader.note { $0.state.describe { $0.keep(seekTable: table) } }
        loader.storeDescription()
    }

    func storeTags(title: SafeText?, artist: SafeText?, duration: Duration?) {
        loader.note { $0.state.describe { $0.keep(title: title, artist: artist, duration: duration) } }
        loader.storeDescription()
    }

    func close() async {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { await loader.close(id) }
    }
}

/// Counts what one open of a resource read and received.
struct LoadCounters: Sendable {
    let storedAtOpen: ByteRangeSet
    private var readFromStored = ByteRangeSet()
    private(set) var cachedBytes: Int64 = 0
    var fetchedBytes: Int64 = 0
    var requestCount = 0

    init(storedAtOpen: ByteRangeSet = ByteRangeSet()) { self.storedAtOpen = storedAtOpen }

    /// Counts those bytes of `range` that were stored before this open, each only once.
    mutating func read(_ range: ByteRange) {
        guard !storedAtOpen.isEmpty, !readFromStored.covers(range) else { return }
        var before = ByteRangeSet(range)
        for gap in storedAtOpen.gaps(in: range) { before.remove(contentsOf: gap) }
        for piece in before.ranges {
            for new in readFromStored.gaps(in: piece) { cachedBytes += Int64(new.count) }
            readFromStored.insert(contentsOf: piece)
        }
    }

    func add(to report: inout LoadReport) {
        report.cachedBytes = cachedBytes
        report.fetchedBytes = fetchedBytes
        report.requestCount = requestCount
    }
}
