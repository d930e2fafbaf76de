import Media
import System

// What a reader gets, and what it waits for.
extension ResourceLoader {
    func read(_ id: ResourceLoadState.ReaderID, at offset: Int64, count: Int) async throws -> [UInt8] {
        precondition(offset >= 0 && count > 0, "a read asks for bytes at an offset of the resource")
        while true {
            try Task.checkCancellation()
            switch guarded.withLock({ $0.state.outlook(at: offset) }) {
            case .end: return []
            case .live:
                guard let live = guarded.withLock({ $0.live }) else { throw CancellationError() }
                return try await live.read(at: offset, count: count)
            case .missing, .failed: try await waitForBytes(id, at: offset)
            case .stored:
                let bytes = try await store.read(at: offset, count: count)
                let left = bytes.isEmpty ? store.stored : ByteRangeSet()
                if left.contains(offset) {
                    // Looking again would find the same for ever.
                    throw MediaError(
                        .damaged,
                        url.safeText,
                        "what is kept of it cannot be read; play it again"
                    )
                }
                let actions = decide { guarded in
                    guard !bytes.isEmpty else {
                        // An extent failed its check, or was evicted: plan with what is left.
                        return guarded.state.bytesLost(nowStored: left)
                    }
                    guarded.counters.read(offset..<offset + Int64(bytes.count))
                    return guarded.state.readRequested(id, at: offset + Int64(bytes.count) - 1)
                }
                perform(actions)
                if !bytes.isEmpty { return bytes }
            }
        }
    }

    private func waitForBytes(_ id: ResourceLoadState.ReaderID, at offset: Int64) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, any Error>) in
                let (result, actions) = decide {
                    guarded -> (Result<Void, any Error>?, [ResourceLoadState.Action]) in
                    // The handler below may have run before there was a waiter to find.
                    if Task.isCancelled || guarded.isClosed || !guarded.state.hasReader(id) {
                        return (.failure(CancellationError()), [])
                    }
                    let actions = guarded.state.readRequested(id, at: offset)
                    switch guarded.state.outlook(at: offset) {
                    case .stored, .end, .live: return (.success(()), actions)
                    case .failed(let error): return (.failure(error), actions)
                    case .missing:
                        guard let wait = guarded.state.wait(of: id) else {
                            preconditionFailure("a read that misses its bytes waits for them")
                        }
                        guarded.waits[id] = wait
                        guarded.waiters[wait] = waiter
                        return (nil, actions)
                    }
                }
                if let result { waiter.resume(with: result) }
                perform(actions)
            }
        } onCancel: {
            let waiter = decide { guarded in
                guarded.state.readCancelled(id)
                return guarded.takeWaiter(of: id)
            }
            waiter?.resume(throwing: CancellationError())
        }
    }
}
