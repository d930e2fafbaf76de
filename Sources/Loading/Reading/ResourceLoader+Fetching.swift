import Media
import System

// One fetch, from its request to its last byte.
extension ResourceLoader {
    /// Carries out `plan`. Cancelling the task ends the transfer; what came until then is kept.
    func run(_ plan: FetchPlan) async {
        let wasAway = parts.connectivity?.report.isOffline ?? false
        do {
            try await fetch(plan)
            finish(plan.id, error: nil)
        } catch is CancellationError {
            commitWhatCame()
            finish(plan.id, error: nil)
        } catch {
            finish(plan.id, error: mediaError(error), wasAway: wasAway)
        }
    }

    private func fetch(_ plan: FetchPlan) async throws {
        let known = await store.refresh(plan.wanted ?? 0..<Int64.max)
        let (isNeeded, actions) = decide { $0.state.storeLooked(plan.id, nowStored: known) }
        perform(actions)
        guard isNeeded else { return }
        let overlap = try await store.bytes(in: plan.overlap)
        let request = RangeRequest(
            url: url,
            range: plan.asked,
            ifRange: plan.ifRange,
            wantsTitles: plan.wantsTitles
        )
        var log = RequestLog(request, why: plan.why, number: parts.numbers.next(), at: parts.clock.now)
        parts.tellProgress(of: log)
        do {
            let response = try await send(request)
            log.answered(response.answer, at: parts.clock.now)
            parts.tellProgress(of: log)
            let end = try await take(response, for: plan, expecting: overlap, log: &log)
            if let end { tell(log.ended(end, at: parts.clock.now)) }
        } catch let error as MediaError where error.code == .offline {
            parts.withdraw(log)
            throw error
        } catch {
            let end = error is CancellationError ? "cancelled" : mediaError(error).code.rawValue
            tell(log.ended(end, at: parts.clock.now))
            throw error
        }
    }

    /// A request counts from when it is sent, whatever becomes of it; offline none is sent.
    private func send(_ request: RangeRequest) async throws -> RangeResponse {
        guarded.withLock { $0.counters.requestCount += 1 }
        let sentAt = parts.clock.now
        do {
            let response = try await parts.transport.send(request)
            let time = parts.clock.now - sentAt
            guarded.withLock { guarded in
                // The request itself was counted when it was sent; redirects are told by the answer.
                guarded.counters.requestCount += response.answer.requestCount - 1
                guard response.answer.requestCount == 1 else { return }
                let isNew = response.answer.wire.reusedConnection == false
                guarded.state.measured { $0.answered(after: time, onNewConnection: isNew) }
            }
            return response
        } catch let error as MediaError where error.code == .offline {
            guarded.withLock { $0.counters.requestCount -= 1 }
            throw error
        }
    }

    /// Does with an answer what it means; returns how the request ended, nil where a live stream goes on with it.
    private func take(
        _ response: RangeResponse,
        for plan: FetchPlan,
        expecting overlap: [UInt8],
        log: inout RequestLog
    ) async throws -> String? {
        var isHandedOver = false
        defer { if !isHandedOver { response.body.cancel() } }
        let outcome = decide { $0.state.fetchAnswered(plan.id, response.answer) }
        if outcome.forbidsKeeping { await store.discard() }
        switch outcome.use {
        case .discard:
            await performAll(outcome.actions)
            return discarded(response.answer)
        case .live:
            perform(outcome.actions)
            isHandedOver = await handOver(response, at: 0, by: plan.id, log)
            return isHandedOver ? nil : "cancelled"
        case .store(let start, let end):
            keepDescription()
            perform(outcome.actions)
            var sink = BodySink(
                place: start..<end,
                overlap: OverlapCheck(expected: overlap, at: plan.overlap.lowerBound)
            )
            if outcome.comparesStored { sink.compared = store.stored }
            let ending = try await receive(response.body, into: &sink, for: plan, log: &log)
            keepDescription()
            guard case .live = ending else { return ending.rawValue }
            isHandedOver = await handOver(response, at: sink.offset, by: plan.id, log)
            return isHandedOver ? nil : "cancelled"
        }
    }

    /// Why the body of `answer` was of no use.
    private func discarded(_ answer: RangeAnswer) -> String {
        switch answer.kind {
        case .part, .whole, .notModified: "discarded"
        case .unsatisfiable, .refused: MediaError.Code.httpStatus.rawValue
        }
    }

    private enum BodyEnding: String {
        case complete
        /// It goes on without end, elsewhere.
        case live
        case changed = "resource-changed"
    }

    private func receive(
        _ body: any ResponseBody,
        into sink: inout BodySink,
        for plan: FetchPlan,
        log: inout RequestLog
    ) async throws -> BodyEnding {
        while sink.offset < sink.place.upperBound, let chunk = try await body.next() {
            let now = parts.clock.now
            log.received(chunk.count)
            parts.tellProgress(of: log)
            let bytes = sink.clipped(chunk)
            guard try await isUnchanged(bytes, in: sink) else {
                await performAll(decide { $0.state.overlapDiffered(plan.id) })
                return .changed
            }
            try await store.write(bytes, at: sink.offset)
            let range = sink.offset..<sink.offset + Int64(bytes.count)
            sink.offset = range.upperBound
            let piece = sink.watch.received(Int64(bytes.count), at: now)
            let (actions, isLive) = decide { guarded in
                guarded.counters.fetchedBytes += Int64(bytes.count)
                if let piece { guarded.state.measured { $0.received(piece.bytes, in: piece.time) } }
                let actions = guarded.state.bytesStored(range, by: plan.id)
                return (actions, guarded.state.isHandingOver(plan.id))
            }
            perform(actions)
            if isLive { return .live }
        }
        return .complete
    }

    private func isUnchanged(_ bytes: [UInt8], in sink: BodySink) async throws -> Bool {
        guard sink.overlap.passes(bytes, at: sink.offset) else { return false }
        guard let compared = sink.compared else { return true }
        let range = sink.offset..<sink.offset + Int64(bytes.count)
        for piece in compared.intersection(ByteRangeSet(range)).ranges {
            let known = OverlapCheck(expected: try await store.bytes(in: piece), at: piece.lowerBound)
            guard known.passes(bytes, at: sink.offset) else { return false }
        }
        return true
    }

    /// Gives the rest of a body without end, which goes on at `offset`, to the live stream. False when nobody
    /// listens any more.
    private func handOver(
        _ response: RangeResponse,
        at offset: Int64,
        by id: FetchPlan.ID,
        _ log: RequestLog
    ) async -> Bool {
        await store.discard()
        let live = LiveStream(url: url, parts: parts)
        let isHeard = guarded.withLock { guarded in
            if !guarded.isClosed { guarded.live = live }
            return !guarded.isClosed
        }
        guard isHeard else { return false }
        live.begin(response, at: offset, log: log)
        step { $0.handedOver(id) }
        return true
    }

    private func mediaError(_ error: any Error) -> MediaError {
        error as? MediaError ?? MediaError(.internalError, url.safeText, SafeText("\(error)"))
    }
}

/// Where the bytes of one body go.
struct BodySink {
    /// What is taken of the body; what lies beyond was not asked for.
    let place: ByteRange
    let overlap: OverlapCheck
    /// What is compared besides; nil where a validator does that.
    var compared: ByteRangeSet?
    /// The next byte's offset.
    var offset: Int64
    var watch = BodyWatch()

    init(place: ByteRange, overlap: OverlapCheck) {
        self.place = place
        self.overlap = overlap
        offset = place.lowerBound
    }

    /// What of `chunk` was asked for.
    func clipped(_ chunk: [UInt8]) -> [UInt8] {
        let room = place.upperBound - offset
        return Int64(chunk.count) <= room ? chunk : Array(chunk.prefix(Int(room)))
    }
}
