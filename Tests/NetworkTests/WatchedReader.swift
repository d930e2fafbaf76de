import Media
import System

/// Counts the reads that wait, so that a test can detect one that is never resumed.
final class WatchedReader: ByteSource {
    let reader: any ResourceReader
    private let underWay = Locked(0)

    init(_ reader: any ResourceReader) { self.reader = reader }

    /// Reads that have begun and not ended.
    var waitingReads: Int { underWay.withLock { $0 } }

    var length: Int64? { reader.length }

    func willRead(_ range: ByteRange) { reader.willRead(range) }

    func isStored(_ range: ByteRange) -> Bool { reader.isStored(range) }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        underWay.withLock { $0 += 1 }
        defer { underWay.withLock { $0 -= 1 } }
        return try await reader.read(at: offset, count: count)
    }
}
