import Media
import System

/// A store in memory whose close can be held.
final class MemoryStore: ByteStore {
    private struct State {
        var description = EntryDescription()
        var stored = ByteRangeSet()
        var bytes: [UInt8] = []
        var isDiscarded = false
        var isClosed = false
        var refreshes: [Bool] = []
    }

    private let state = Locked(State())
    /// Closes wait here while `holds` is set.
    private let closing = Locked<(holds: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))
    /// Called in each write, once its bytes can be read.
    let onWrite = Locked<@Sendable () -> Void>({})
    let isPersistent: Bool

    init(isPersistent: Bool = true) { self.isPersistent = isPersistent }

    var description: EntryDescription { state.withLock { $0.description } }
    var stored: ByteRangeSet { state.withLock { $0.stored } }
    var isDiscarded: Bool { state.withLock { $0.isDiscarded } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        state.withLock { state in
            guard let run = state.stored.run(from: offset) else { return [] }
            let end = min(run.upperBound, offset + Int64(count))
            return Array(state.bytes[Int(offset)..<Int(end)])
        }
    }

    func write(_ bytes: [UInt8], at offset: Int64) async throws {
        state.withLock { state in
            let end = Int(offset) + bytes.count
            if state.bytes.count < end { state.bytes += Array(repeating: 0, count: end - state.bytes.count) }
            for gap in state.stored.gaps(in: offset..<Int64(end)) {
                let piece = bytes[Int(gap.lowerBound - offset)..<Int(gap.upperBound - offset)]
                state.bytes.replaceSubrange(Int(gap.lowerBound)..<Int(gap.upperBound), with: piece)
            }
            state.stored.insert(contentsOf: offset..<Int64(end))
        }
        onWrite.withLock { $0 }()
    }

    /// Stores pieces as an earlier session would have.
    func preload(_ content: [UInt8], _ ranges: [ByteRange], etag: String? = "\"1\"") {
        state.withLock { state in
            state.bytes = content
            for range in ranges { state.stored.insert(contentsOf: range) }
            state.description.length = Int64(content.count)
            state.description.validators = Validators(etag: etag)
            state.description.acceptsRanges = true
        }
    }

    /// Removes bytes, as a store does with damaged ones.
    func lose(_ range: ByteRange) { state.withLock { $0.stored.remove(contentsOf: range) } }

    func refresh(_ range: ByteRange, isUrgent: Bool) async -> ByteRangeSet {
        state.withLock { state in
            state.refreshes.append(isUrgent)
            return state.stored
        }
    }

    /// For each call of `refresh`, `true` if it was urgent.
    var refreshes: [Bool] { state.withLock { $0.refreshes } }

    func describe(_ description: EntryDescription) { state.withLock { $0.description = description } }

    func commit() async throws {}

    func discard() async { state.withLock { $0.isDiscarded = true } }

    var isClosing: Bool { closing.withLock { !$0.waiting.isEmpty } }
    func holdClose() { closing.withLock { $0.holds = true } }

    func releaseClose() {
        let waiting = closing.withLock { closing in
            defer { closing = (false, []) }
            return closing.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func close() async {
        await withCheckedContinuation { continuation in
            let isHeld = closing.withLock { closing in
                if closing.holds { closing.waiting.append(continuation) }
                return closing.holds
            }
            if !isHeld { continuation.resume() }
        }
        state.withLock { $0.isClosed = true }
    }
}

/// Opens memory stores, one per URL; `replace` creates a new one.
final class MemoryStores: ByteStoreOpener {
    private let stores = Locked<[String: MemoryStore]>([:])
    private let offline = Locked<[Episode]>([])

    private let isPersistent: Bool

    init(isPersistent: Bool = true) { self.isPersistent = isPersistent }

    /// The store of the song has `pieces` of `content`.
    convenience init(_ content: [UInt8], _ pieces: [ByteRange], etag: String? = "\"1\"") {
        self.init()
        if !pieces.isEmpty { song.preload(content, pieces, etag: etag) }
    }

    /// The store of `songURL`.
    var song: MemoryStore { store(of: songURL) }

    private func store(of url: WebURL) -> MemoryStore {
        stores.withLock { stores in
            let store = stores[url.requestString] ?? MemoryStore(isPersistent: isPersistent)
            stores[url.requestString] = store
            return store
        }
    }

    /// The episodes that were opened offline.
    var openedOffline: [Episode] { offline.withLock { $0 } }

    func open(_ key: ResourceKey, isOffline: Bool) async throws -> any ByteStore {
        if isOffline, let episode = key.episode { offline.withLock { $0.append(episode) } }
        return store(of: key.url)
    }

    func replace(_ url: WebURL) async throws -> any ByteStore {
        let fresh = MemoryStore()
        stores.withLock { $0[url.requestString] = fresh }
        return fresh
    }
}
