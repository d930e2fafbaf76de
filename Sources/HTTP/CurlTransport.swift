package import Media
import System

/// The web behind `RangeTransport`, by libcurl.
///
/// One thread, `http`, carries all transfers on kept-alive connections. libcurl is loaded when the first
/// request is sent, or `warmUp` is called; without it every request fails with `.missingLibrary`.
/// A response's body belongs to one reader; letting go of it ends the transfer, and letting go of the
/// transport ends them all.
package final class CurlTransport: RangeTransport {
    private let configuration: HTTPConfiguration
    let loop: CurlLoop
    // Guards where earlier requests were led; nothing foreign is called while it is held.
    private let redirects = Locked(RedirectMemory())

    /// A redirect's body up to this many bytes is read to its end, which keeps the connection for the
    /// next request; a longer one costs more than a new connection.
    private static let longestRedirectBody: Int64 = 16 * 1024

    /// Costs nothing; the thread starts with the first request or `warmUp`.
    package convenience init(configuration: HTTPConfiguration = HTTPConfiguration()) {
        self.init(configuration: configuration, loop: CurlLoop(configuration: configuration))
    }

    init(configuration: HTTPConfiguration, loop: CurlLoop) {
        self.configuration = configuration
        self.loop = loop
    }

    deinit { loop.stop() }

    /// Starts the thread and loads libcurl in the background, so that the first request need not wait
    /// for it. Returns at once.
    package func warmUp() { loop.warmUp() }

    /// Cancels every transfer and returns when the thread has ended. Requests sent after it fail with
    /// `CancellationError`.
    package func shutdown() async {
        loop.stop()
        await loop.waitUntilStopped()
    }

    /// Sends `request` and follows redirects, each of which counts in `requestCount`.
    ///
    /// Where an earlier request for the same URL was led elsewhere, that place is asked at once; when it
    /// fails, or answers as an expired one does, the original is asked within the same call.
    ///
    /// Throws `.tooManyRedirects`, `.tlsFailed` (wrong certificate, or a way from https to http),
    /// `.unknownHost`, `.connectionRefused`, `.networkUnreachable`, `.connectionFailed` (cannot be reached),
    /// `.timedOut` (connected, and no answer), `.badAnswer`, `.cut` (no answer),
    /// `.unreadable` (the file of user names) or `.missingLibrary`, with the URL without its secrets as
    /// subject; `CancellationError` when the task is cancelled. The body throws `.decodingFailed` when it
    /// comes in a content coding that cannot be undone.
    package func send(_ request: RangeRequest) async throws -> RangeResponse {
        var earlierRequests = 0
        if let target = rememberedTarget(for: request) {
            let start = RedirectState(original: request.url, at: target)
            let response = try await sendToTarget(request, from: start, requestCount: &earlierRequests)
            if let response { return response }
        }
        let start = RedirectState(original: request.url, earlierRequests: earlierRequests)
        return try await send(request, from: start)
    }

    /// Where to send `request` instead of to its own URL; nil for that itself. Whether something has changed
    /// is for the original to say.
    private func rememberedTarget(for request: RangeRequest) -> WebURL? {
        guard request.unlessMatches == nil else { return nil }
        let now = configuration.clock.now
        return redirects.withLock { $0.target(of: request.url, now: now) }
    }

    /// Nil when the remembered target is of no more use, and forgotten; `requestCount` then grows by the
    /// requests that this took.
    private func sendToTarget(
        _ request: RangeRequest,
        from start: RedirectState,
        requestCount: inout Int
    ) async throws -> RangeResponse? {
        do {
            let response = try await send(request, from: start)
            guard RedirectMemory.isExpired(status: response.answer.wire.status) else { return response }
            requestCount += response.answer.requestCount
            response.body.cancel()
        } catch is MediaError {
            // The original has the last word, also on what is wrong.
            requestCount += 1
        }
        redirects.withLock { $0.forget(request.url) }
        try Task.checkCancellation()
        return nil
    }

    private func send(_ request: RangeRequest, from start: RedirectState) async throws -> RangeResponse {
        var state = start
        while true {
            let wire = WireRequest(request, at: state, configuration: configuration)
            let transfer = Transfer(request: wire, configuration: configuration, loop: loop)
            // Its end ends the transfer, also when this function throws.
            let body = TransferBody(transfer)
            transfer.start()
            let head = try await transfer.head()
            guard let location = ResponseAlgebra.redirect(in: head) else {
                body.partTitles(every: ResponseAlgebra.titleInterval(in: head))
                return response(to: state, head: head, body: body)
            }
            try state.redirected(to: location)
            try await finish(body, of: head)
        }
    }

    private func response(to state: RedirectState, head: ResponseHead, body: TransferBody) -> RangeResponse {
        let now = configuration.clock.now
        redirects.withLock { redirects in
            if head.status < 400 || head.status == 416 {
                redirects.answered(state.original, by: state.current, now: now)
            } else {
                redirects.forget(state.original)
            }
        }
        var answer = ResponseAlgebra.answer(
            for: head,
            requestCount: state.requestCount,
            redirectedHost: state.redirectedHost,
            wallTime: configuration.wallTime()
        )
        answer.withholdsUserInfo = configuration.withholdsUserInfo(of: state.original)
        return RangeResponse(answer: answer, body: body)
    }

    /// Reads the body of a redirect where that is cheap, and ends the transfer otherwise.
    private func finish(_ body: TransferBody, of head: ResponseHead) async throws {
        let length = ResponseAlgebra.contentLength(in: head.fields)
        if let length, length <= Self.longestRedirectBody {
            // Bytes that drip in would renew the idle time for ever.
            let limit = Task { [clock = configuration.clock, timeouts = configuration.timeouts] in
                try await clock.sleep(until: clock.now + timeouts.redirectBody)
                body.cancel()
            }
            defer { limit.cancel() }
            // Nobody wants these bytes: whatever ends them, the next request tells what is wrong with the line.
            while (try? await body.next()) != nil {}
        }
        body.cancel()
        try Task.checkCancellation()
    }
}
