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
        var failure: MediaError?
        do {
            try await fetch()
        } catch {
            if !(error is CancellationError) { failure = mediaError(error) }
        }
        loader.finish(plan.id, error: failure)
    }

    private func fetch() async throws {
        // An urgent request is sent without reading the index first: the first attempt for a waiting read,
        // and one that compares bytes, because it may show that the file was replaced. After a failure the
        // index is read, because another process may have cached the bytes.
        let isUrgent =
            (plan.urgency == .demand || !plan.overlap.isEmpty) && loader.note { $0.state.retry.isFirst }
        _ = await store.refresh(plan.wanted ?? 0..<Int64.max, isUrgent: isUrgent)
        let (isNeeded, actions) = loader.decide { $0.state.storeLooked(plan.id, $1) }
        loader.perform(actions)
        guard isNeeded else { return }
        var request = RangeRequest(
            url: loader.url,
            range: plan.asked,
            ifRange: plan.ifRange,
            wantsTitles: plan.wantsTitles,
            stream: parts.stream
        )
        request.staysOnHost = parts.settings.staysOnHost
        request.mayAskUser = plan.urgency == .demand
        var log = parts.log(request, plan.urgency)
        do {
            let response = try await send(request)
            log?.answered(response.answer)
            if let end = try await receive(response, &log) { log?.ended(end) }
        } catch {
            log?.failed(error)
            throw error
        }
    }

    /// A request is counted when it is sent, whatever its outcome.
    private func send(_ request: RangeRequest) async throws -> RangeResponse {
        loader.note { $0.requestCount += 1 }
        do {
            let response = try await parts.transport.send(request)
            // The first request was counted when it was sent; the response states how many redirects
            // followed.
            loader.note { guarded in
                guarded.requestCount += response.answer.requestCount - 1
                guarded.answeredAt = parts.clock.now
            }
            return response
        } catch let error as MediaError where error.isUnsent {
            loader.note { $0.requestCount -= 1 }
            throw error
        }
    }

    /// Acts on a response according to its meaning. Returns how the request ended; `nil` if a live stream
    /// continues it.
    private func receive(_ response: RangeResponse, _ log: inout RequestLog?) async throws -> String? {
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
            let compared = outcome.comparesStored ? store.stored : ByteRangeSet(plan.overlap)
            let ending = try await receive(response.body, into: start..<end, comparing: compared, &log)
            loader.storeDescription()
            switch ending {
            case .complete: return "complete"
            case .changed: return MediaError.Code.resourceChanged.rawValue
            case .live(let offset):
                isHandedOver = await handOver(response, at: offset, log)
                return isHandedOver ? nil : "cancelled"
            }
        }
    }

    /// The journal's text for the end of a request whose body was discarded.
    private func discarded(_ answer: RangeAnswer) -> String {
        switch answer.kind {
        case .part, .whole, .notModified: "discarded"
        case .unsatisfiable, .refused: MediaError.Code.httpStatus.rawValue
        }
    }

    private enum BodyEnding {
        case complete
        /// It has no end, and continues at this offset as a live stream.
        case live(at: Int64)
        /// It differs from the stored bytes.
        case changed
    }

    /// Stores the part of the body in `place`; bytes beyond were not requested. Stored bytes of `compared`
    /// that arrive again must be the same.
    private func receive(
        _ body: any ResponseBody,
        into place: ByteRange,
        comparing compared: ByteRangeSet,
        _ log: inout RequestLog?
    ) async throws -> BodyEnding {
        var offset = place.lowerBound
        while offset < place.upperBound, var bytes = try await body.next() {
            log?.received(bytes.count)
            let room = place.upperBound - offset
            if Int64(bytes.count) > room { bytes = Array(bytes.prefix(Int(room))) }
            if !compared.isEmpty, try await !agree(bytes, at: offset, compared) {
                await loader.performAll(loader.decide { $0.state.overlapDiffered(plan.id, $1) })
                return .changed
            }
            let range = offset..<offset + Int64(bytes.count)
            let isNew = !store.stored.covers(range)
            // Counted first: a report never shows bytes as stored that it does not count as fetched.
            loader.count(requests: 0, bytes: Int64(range.count))
            try await store.write(bytes, at: offset)
            offset = range.upperBound
            let (actions, isLive) = loader.decide { guarded, moment in
                let actions = guarded.state.bytesStored(range, by: plan.id, isNew: isNew, moment)
                return (actions, guarded.state.isHandingOver(plan.id))
            }
            loader.perform(actions)
            if isLive { return .live(at: offset) }
        }
        return .complete
    }

    /// `true` if `bytes`, which begin at `offset`, equal the stored ones in `compared`. Throws `.cut` if
    /// bytes of the overlap can no longer be read, since then nothing shows that the file is the stored one;
    /// the request is planned again.
    private func agree(_ bytes: [UInt8], at offset: Int64, _ compared: ByteRangeSet) async throws -> Bool {
        let range = offset..<offset + Int64(bytes.count)
        for piece in compared.intersection(ByteRangeSet(range)).ranges {
            let known = try await store.bytes(in: piece)
            guard bytes[Int(piece.lowerBound - offset)...].starts(with: known) else { return false }
            if known.count < piece.count, piece.overlaps(plan.overlap) {
                throw MediaError(
                    .cut,
                    loader.url.safeText,
                    "the cached bytes to compare with are gone; asking again"
                )
            }
        }
        return true
    }

    /// Passes the rest of a body without end, from `offset` on, to a live stream. Returns `false` if the
    /// last reader has closed.
    private func handOver(_ response: RangeResponse, at offset: Int64, _ log: RequestLog?) async -> Bool {
        await store.discard()
        let live = LiveStream(url: loader.url, parts: parts, response, at: offset)
        let isHeard = loader.note { guarded in
            if guarded.isOpen { guarded.live = live }
            return guarded.isOpen
        }
        guard isHeard else { return false }
        live.begin(log)
        loader.step { $0.handedOver(plan.id, $1) }
        return true
    }

    private func mediaError(_ error: any Error) -> MediaError {
        error as? MediaError ?? MediaError(.internalError, loader.url.safeText, SafeText("\(error)"))
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
