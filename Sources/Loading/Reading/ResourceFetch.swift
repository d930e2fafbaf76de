import Media
import System

/// One fetch, from its request to the last byte in the store.
struct ResourceFetch: Sendable {
    let plan: FetchPlan
    let loader: ResourceLoader

    private var parts: LoaderParts { loader.parts }
    private var store: any ByteStore { loader.store }

    /// Carries out the plan. Cancelling the task ends the transfer; the bytes that have arrived stay stored.
    func run() async {
        let wasAway = parts.connectivity?.report.isOffline ?? false
        do {
            try await fetch()
            loader.finish(plan.id, error: nil)
        } catch is CancellationError {
            loader.finish(plan.id, error: nil)
        } catch {
            loader.finish(plan.id, error: mediaError(error), wasAway: wasAway)
        }
    }

    private func fetch() async throws {
        _ = await store.refresh(plan.wanted ?? 0..<Int64.max)
        let (isNeeded, actions) = loader.decide { $0.state.storeLooked(plan.id, $1) }
        loader.perform(actions)
        guard isNeeded else { return }
        let overlap = try await store.bytes(in: plan.overlap)
        let request = RangeRequest(
            url: loader.url,
            range: plan.asked,
            ifRange: plan.ifRange,
            wantsTitles: plan.wantsTitles
        )
        var log = parts.journal.map { RequestLog(request, why: plan.why, journal: $0, clock: parts.clock) }
        do {
            let response = try await send(request)
            log?.answered(response.answer)
            if let end = try await take(response, expecting: overlap, &log) { log?.ended(end) }
        } catch let error as MediaError where error.code == .offline {
            log?.withdraw()
            throw error
        } catch {
            log?.ended(error is CancellationError ? "cancelled" : mediaError(error).code.rawValue)
            throw error
        }
    }

    /// A request is counted when it is sent, whatever its outcome; while offline none is sent.
    private func send(_ request: RangeRequest) async throws -> RangeResponse {
        loader.note { $0.requestCount += 1 }
        let sentAt = parts.clock.now
        do {
            let response = try await parts.transport.send(request)
            let time = parts.clock.now - sentAt
            let answer = response.answer
            loader.note { guarded in
                // The first request was counted when it was sent; the response states how many redirects
                // followed.
                guarded.requestCount += answer.requestCount - 1
                guard answer.requestCount == 1 else { return }
                let isNew = answer.wire.reusedConnection == false
                guarded.state.measured { $0.answered(after: time, onNewConnection: isNew) }
            }
            return response
        } catch let error as MediaError where error.code == .offline {
            loader.note { $0.requestCount -= 1 }
            throw error
        }
    }

    /// Acts on a response according to its meaning. Returns how the request ended; `nil` if a live stream
    /// continues it.
    private func take(
        _ response: RangeResponse,
        expecting overlap: [UInt8],
        _ log: inout RequestLog?
    ) async throws -> String? {
        var isHandedOver = false
        defer { if !isHandedOver { response.body.cancel() } }
        let outcome = loader.decide { $0.state.fetchAnswered(plan.id, response.answer, $1) }
        if outcome.forbidsStoring { await store.discard() }
        switch outcome.use {
        case .discard:
            await loader.performAll(outcome.actions)
            return discarded(response.answer)
        case .live:
            loader.perform(outcome.actions)
            isHandedOver = await handOver(response, at: 0, log)
            return isHandedOver ? nil : "cancelled"
        case .store(let start, let end):
            loader.storeDescription()
            loader.perform(outcome.actions)
            var sink = BodySink(
                place: start..<end,
                overlap: OverlapCheck(expected: overlap, at: plan.overlap.lowerBound)
            )
            if outcome.comparesStored { sink.compared = store.stored }
            let ending = try await receive(response.body, into: &sink, &log)
            loader.storeDescription()
            guard case .live = ending else { return ending.rawValue }
            isHandedOver = await handOver(response, at: sink.offset, log)
            return isHandedOver ? nil : "cancelled"
        }
    }

    /// The journal's text for the end of a request whose body was discarded.
    private func discarded(_ answer: RangeAnswer) -> String {
        switch answer.kind {
        case .part, .whole, .notModified: "discarded"
        case .unsatisfiable, .refused: MediaError.Code.httpStatus.rawValue
        }
    }

    private enum BodyEnding: String {
        case complete
        /// It has no end and continues as a live stream.
        case live
        case changed = "resource-changed"
    }

    private func receive(
        _ body: any ResponseBody,
        into sink: inout BodySink,
        _ log: inout RequestLog?
    ) async throws -> BodyEnding {
        while sink.offset < sink.place.upperBound, let chunk = try await body.next() {
            let now = parts.clock.now
            log?.received(chunk.count)
            let bytes = sink.clipped(chunk)
            guard try await isUnchanged(bytes, in: sink) else {
                await loader.performAll(loader.decide { $0.state.overlapDiffered(plan.id, $1) })
                return .changed
            }
            let range = sink.offset..<sink.offset + Int64(bytes.count)
            let isNew = !store.stored.covers(range)
            try await store.write(bytes, at: sink.offset)
            sink.offset = range.upperBound
            let piece = sink.watch.received(Int64(bytes.count), at: now)
            let (actions, isLive) = loader.decide { guarded, moment in
                guarded.fetchedBytes += Int64(bytes.count)
                if let piece { guarded.state.measured { $0.received(piece.bytes, in: piece.time) } }
                let actions = guarded.state.bytesStored(range, by: plan.id, isNew: isNew, moment)
                return (actions, guarded.state.isHandingOver(plan.id))
            }
            loader.perform(actions)
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

    /// Passes the rest of a body without end, from `offset` on, to a live stream. Returns `false` if the
    /// last reader has closed.
    private func handOver(_ response: RangeResponse, at offset: Int64, _ log: RequestLog?) async -> Bool {
        await store.discard()
        let live = LiveStream(url: loader.url, parts: parts)
        let isHeard = loader.note { guarded in
            if guarded.isOpen { guarded.live = live }
            return guarded.isOpen
        }
        guard isHeard else { return false }
        live.begin(response, at: offset, log: log)
        loader.step { $0.handedOver(plan.id, $1) }
        return true
    }

    private func mediaError(_ error: any Error) -> MediaError {
        error as? MediaError ?? MediaError(.internalError, loader.url.safeText, SafeText("\(error)"))
    }
}

/// The progress of one body into the store.
private struct BodySink {
    /// The offsets of the body to store; bytes beyond were not requested.
    let place: ByteRange
    let overlap: OverlapCheck
    /// All stored bytes, if a body without a confirming validator has to be compared with them; `nil` if
    /// only the overlap is compared.
    var compared: ByteRangeSet?
    /// The next byte's offset.
    var offset: Int64
    var watch = BodyWatch()

    init(place: ByteRange, overlap: OverlapCheck) {
        self.place = place
        self.overlap = overlap
        offset = place.lowerBound
    }

    /// The part of `chunk` that was requested.
    func clipped(_ chunk: [UInt8]) -> [UInt8] {
        let room = place.upperBound - offset
        return Int64(chunk.count) <= room ? chunk : Array(chunk.prefix(Int(room)))
    }
}

/// Compares bytes that a server sends again with the stored ones.
struct OverlapCheck: Sendable {
    let expected: [UInt8]
    let start: Int64

    init(expected: [UInt8], at start: Int64) {
        self.expected = expected
        self.start = start
    }

    /// `true` if `chunk`, which begins at `offset`, equals the stored bytes at the offsets that both cover.
    func passes(_ chunk: [UInt8], at offset: Int64) -> Bool {
        let shared = (start..<start + Int64(expected.count)).clamped(to: offset..<offset + Int64(chunk.count))
        guard !shared.isEmpty else { return true }
        let mine = expected[Int(shared.lowerBound - start)..<Int(shared.upperBound - start)]
        let sent = chunk[Int(shared.lowerBound - offset)..<Int(shared.upperBound - offset)]
        return mine.elementsEqual(sent)
    }
}

extension ByteStore {
    /// The bytes of `range`, as far as they are stored without a gap from its start on.
    func bytes(in range: ByteRange) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < range.count {
            let offset = range.lowerBound + Int64(bytes.count)
            let more = try await read(at: offset, count: range.count - bytes.count)
            guard !more.isEmpty else { break }
            bytes += more
        }
        return bytes
    }
}
