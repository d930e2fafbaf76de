import Media
import Synchronization

// One fetch, from its request to its last byte.
extension ResourceLoader {
    /// Carries out `plan`. Cancelling the task ends the transfer; what came until then is kept.
    func run(_ plan: FetchPlan) async {
        do {
            let overlap = try await storedOverlap(of: plan)
            let request = RangeRequest(url: url, range: plan.asked, ifRange: plan.ifRange)
            let response = try await send(request)
            // The request itself was counted when it was sent; redirects are told by the answer.
            guarded.withLock { $0.counters.requestCount += response.answer.requestCount - 1 }
            defer { response.body.cancel() }
            let outcome = guarded.withLock { $0.state.fetchAnswered(plan.id, response.answer) }
            if outcome.forbidsKeeping { await store.discard() }
            switch outcome.use {
            case .discard:
                await performAll(outcome.actions)
            case .store(let start, let end):
                keepDescription()
                perform(outcome.actions)
                try await receive(response.body, in: start..<end, for: plan, expecting: overlap)
            }
            keepDescription()
            finish(plan.id, error: nil)
        } catch is CancellationError {
            finish(plan.id, error: nil)
        } catch let error as MediaError {
            finish(plan.id, error: error)
        } catch {
            finish(plan.id, error: MediaError(.internalError, url.safeText, SafeText("\(error)")))
        }
    }

    /// A request counts from when it is sent, whatever becomes of it; offline none is sent.
    private func send(_ request: RangeRequest) async throws -> RangeResponse {
        guarded.withLock { $0.counters.requestCount += 1 }
        do {
            return try await transport.send(request)
        } catch let error as MediaError where error.code == .offline {
            guarded.withLock { $0.counters.requestCount -= 1 }
            throw error
        }
    }

    /// The stored bytes that the answer must begin with; empty when validators do that work.
    private func storedOverlap(of plan: FetchPlan) async throws -> [UInt8] {
        guard !plan.overlap.isEmpty else { return [] }
        var bytes: [UInt8] = []
        while bytes.count < plan.overlap.count {
            let offset = plan.overlap.lowerBound + Int64(bytes.count)
            let more = try await store.read(at: offset, count: plan.overlap.count - bytes.count)
            guard !more.isEmpty else { break }
            bytes += more
        }
        return bytes
    }

    private func receive(
        _ body: any ResponseBody,
        in bounds: ByteRange,
        for plan: FetchPlan,
        expecting overlap: [UInt8]
    ) async throws {
        let check = OverlapCheck(expected: overlap, at: plan.overlap.lowerBound)
        var offset = bounds.lowerBound
        var began: Duration?
        var received: Int64 = 0
        while offset < bounds.upperBound, var chunk = try await body.next() {
            let now = clock.now
            if Int64(chunk.count) > bounds.upperBound - offset {
                chunk.removeLast(chunk.count - Int(bounds.upperBound - offset))
            }
            guard check.passes(chunk, at: offset) else {
                await performAll(guarded.withLock { $0.state.overlapDiffered(plan.id) })
                return
            }
            try await store.write(chunk, at: offset)
            let range = offset..<offset + Int64(chunk.count)
            offset = range.upperBound
            // The first chunk only starts the watch: what came before it was waiting, not rate.
            if let began, now > began { received += Int64(chunk.count) } else { began = began ?? now }
            let elapsed = now - (began ?? now)
            let actions = guarded.withLock { guarded in
                guarded.counters.fetchedBytes += Int64(chunk.count)
                if elapsed > .milliseconds(20) {
                    guarded.state.rateMeasured(bytesPerSecond: Double(received) / elapsed.seconds)
                }
                return guarded.state.bytesStored(range, by: plan.id)
            }
            perform(actions)
        }
    }
}

/// Compares what a server sends again with what is stored.
struct OverlapCheck {
    let expected: [UInt8]
    let start: Int64

    init(expected: [UInt8], at start: Int64) {
        self.expected = expected
        self.start = start
    }

    /// Whether `chunk`, which begins at `offset`, agrees with the stored bytes where both have any.
    func passes(_ chunk: [UInt8], at offset: Int64) -> Bool {
        let shared = (start..<start + Int64(expected.count)).intersection(
            offset..<offset + Int64(chunk.count)
        )
        guard !shared.isEmpty else { return true }
        let mine = expected[Int(shared.lowerBound - start)..<Int(shared.upperBound - start)]
        let sent = chunk[Int(shared.lowerBound - offset)..<Int(shared.upperBound - offset)]
        return mine.elementsEqual(sent)
    }
}
