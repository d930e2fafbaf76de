import Media
import System

/// One listener's handle on a shared loader.
final class LoaderReader: ResourceReader {
    let loader: ResourceLoader
    private let id: ResourceLoadState.ReaderID
    private let isClosed = Locked(false)

    init(loader: ResourceLoader, id: ResourceLoadState.ReaderID) {
        self.loader = loader
        self.id = id
    }

    var length: Int64? { loader.guarded.withLock { $0.state.length } }
    var report: LoadReport { loader.report }
    var keptSeekTable: [UInt8] { loader.store.description.seekTable }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard !isClosed.withLock({ $0 }) else { throw CancellationError() }
        return try await loader.read(id, at: offset, count: count)
    }

    func readStored(at offset: Int64, count: Int) async throws -> [UInt8] {
        try Task.checkCancellation()
        // Past the planning: a look aside must not move the read-ahead.
        guard !isClosed.withLock({ $0 }), isStored(offset..<offset + 1) else { return [] }
        return try await loader.store.read(at: offset, count: count)
    }

    func isStored(_ range: ByteRange) -> Bool { loader.guarded.withLock { $0.state.stored.covers(range) } }

    func allowReadAhead(bytesPerSecond: Double) {
        loader.step { $0.readAheadAllowed(id, bytesPerSecond: bytesPerSecond) }
    }

    func setPatience(_ isPatient: Bool) { loader.step { $0.patienceSet(id, isPatient) } }

    func prefetch(_ range: ByteRange) { loader.step { $0.prefetchRequested(id, range) } }

    func fill() { loader.step { $0.fillRequested(id) } }

    func reject() async { await loader.reject() }

    func keepSeekTable(_ table: [UInt8]) {
        loader.guarded.withLock { $0.state.keep(seekTable: table) }
        loader.keepDescription()
    }

    func keepTags(title: SafeText?, artist: SafeText?, duration: Duration?) {
        loader.guarded.withLock { $0.state.keep(title: title, artist: artist, duration: duration) }
        loader.keepDescription()
    }

    func close() async {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { await loader.close(id) }
    }
}
