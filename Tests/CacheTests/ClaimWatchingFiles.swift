import Media
import System

@testable import Cache

/// The real file layer, which also compares the claims of the index with the bytes on the disk at that time.
///
/// For one entry only: offsets are not distinguished by file.
final class ClaimWatchingFiles: FileLayer {
    private struct State {
        var written = ByteRangeSet()
        var flushed = ByteRangeSet()
        var claimedTooEarly = ByteRangeSet()
        var recordCount = 0
    }

    private let system = SystemFiles()
    private let index: String
    private let state = Locked(State())

    /// Watches the index at this path.
    init(index: String) { self.index = index }

    var claimedTooEarly: ByteRangeSet { state.withLock { $0.claimedTooEarly } }
    var recordCount: Int { state.withLock { $0.recordCount } }

    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        try system.write(bytes, to: descriptor, at: offset)
        state.withLock { $0.written.insert(contentsOf: offset..<offset + Int64(bytes.count)) }
    }

    func flush(_ descriptor: CInt) throws {
        let before = state.withLock { $0.written }
        try system.flush(descriptor)
        state.withLock { $0.flushed.formUnion(before) }
    }

    func record(_ transaction: () throws -> Void) throws {
        try system.record(transaction)
        let connection = try SQLiteConnection(path: index)
        var claims: [ByteRange] = []
        try connection.statement("SELECT start, stop FROM extents").forEach { row in
            claims.append(row.integer(0)..<row.integer(1))
            return true
        }
        state.withLock { state in
            state.recordCount += 1
            state.claimedTooEarly.formUnion(ByteRangeSet(claims).subtracting(state.flushed))
        }
    }
}
