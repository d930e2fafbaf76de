import Media
import System

/// A store in memory that can be told to refuse or to lose bytes.
final class MemoryStore: ByteStore {
    struct State {
        var description = EntryDescription()
        var stored = ByteRangeSet()
        var bytes: [UInt8] = []
        var refusesWrites = false
        var isDiscarded = false
        var isClosed = false
    }

    let state = Locked(State())
    /// Closes wait here while `holds` is set.
    private let closing = Locked<(holds: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))
    let isPersistent: Bool

    init(isPersistent: Bool = true) { self.isPersistent = isPersistent }

    var description: EntryDescription { state.withLock { $0.description } }
    var stored: ByteRangeSet { state.withLock { $0.stored } }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        state.withLock { state in
            guard let run = state.stored.run(from: offset) else { return [] }
            let end = min(run.upperBound, offset + Int64(count))
            return Array(state.bytes[Int(offset)..<Int(end)])
        }
    }

    func write(_ bytes: [UInt8], at offset: Int64) async throws {
        let isRefused = state.withLock { state in
            if state.refusesWrites { return true }
            let end = Int(offset) + bytes.count
            if state.bytes.count < end { state.bytes += Array(repeating: 0, count: end - state.bytes.count) }
            for gap in state.stored.gaps(in: offset..<Int64(end)) {
                let piece = bytes[Int(gap.lowerBound - offset)..<Int(gap.upperBound - offset)]
                state.bytes.replaceSubrange(Int(gap.lowerBound)..<Int(gap.upperBound), with: piece)
            }
            state.stored.insert(contentsOf: offset..<Int64(end))
            return false
        }
        if isRefused { throw MediaError(.notCached, "the test's store", "is full") }
    }

    /// Stores pieces as an earlier session would have.
    func preload(_ content: [UInt8], _ ranges: [ByteRange], validators: Validators) {
        state.withLock { state in
            state.bytes = content
            for range in ranges { state.stored.insert(contentsOf: range) }
            state.description.length = Int64(content.count)
            state.description.validators = validators
            state.description.acceptsRanges = true
        }
    }

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
    private let isPersistent: Bool

    init(isPersistent: Bool = true) { self.isPersistent = isPersistent }

    func store(of url: WebURL) -> MemoryStore {
        stores.withLock { stores in
            if let store = stores[url.requestString] { return store }
            let store = MemoryStore(isPersistent: isPersistent)
            stores[url.requestString] = store
            return store
        }
    }

    func open(_ url: WebURL) async throws -> any ByteStore { store(of: url) }

    func replace(_ url: WebURL) async throws -> any ByteStore {
        let fresh = MemoryStore(isPersistent: isPersistent)
        stores.withLock { $0[url.requestString] = fresh }
        return fresh
    }
}
