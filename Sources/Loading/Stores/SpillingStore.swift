import Media
import System

/// A store that goes on in a volatile one when the kept one takes no more.
///
/// What is kept already stays readable from where it is, so nothing is fetched twice for it.
final class SpillingStore: ByteStore {
    private let kept: any ByteStore
    private let makeVolatile: @Sendable () async throws -> any ByteStore
    private let onSpill: @Sendable (MediaError) -> Void
    private let spilled = Locked<(any ByteStore)?>(nil)

    init(
        kept: any ByteStore,
        makeVolatile: @escaping @Sendable () async throws -> any ByteStore,
        onSpill: @escaping @Sendable (MediaError) -> Void
    ) {
        self.kept = kept
        self.makeVolatile = makeVolatile
        self.onSpill = onSpill
    }

    private var volatile: (any ByteStore)? { spilled.withLock { $0 } }

    var description: EntryDescription { kept.description }
    var isPersistent: Bool { volatile == nil && kept.isPersistent }
    var stored: ByteRangeSet {
        guard let volatile else { return kept.stored }
        return kept.stored.union(volatile.stored)
    }

    func refresh(_ range: ByteRange) async -> ByteRangeSet {
        let known = await kept.refresh(range)
        return volatile.map { known.union($0.stored) } ?? known
    }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        if kept.stored.contains(offset) {
            let bytes = try await kept.read(at: offset, count: count)
            if !bytes.isEmpty { return bytes }
        }
        return try await volatile?.read(at: offset, count: count) ?? []
    }

    func write(_ bytes: [UInt8], at offset: Int64) async throws {
        if volatile == nil {
            do {
                try await kept.write(bytes, at: offset)
                return
            } catch let error as MediaError where error.code == .notKept {
                try await spill(because: error)
            }
        }
        try await volatile?.write(bytes, at: offset)
    }

    private func spill(because error: MediaError) async throws {
        let fresh = try await makeVolatile()
        let isFirst = spilled.withLock { current in
            defer { current = current ?? fresh }
            return current == nil
        }
        // Two writers can meet the full disk at once; the second store is then not used.
        if isFirst { onSpill(error) } else { await fresh.close() }
    }

    func describe(_ description: EntryDescription) { kept.describe(description) }
    func commit() async throws { try await kept.commit() }

    func discard() async {
        await kept.discard()
        await volatile?.discard()
    }

    func close() async {
        await kept.close()
        await volatile?.close()
    }
}
