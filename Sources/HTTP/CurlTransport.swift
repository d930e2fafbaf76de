package import Media
import System

/// Sends requests over HTTP with libcurl.
///
/// One thread, `http`, carries all transfers on persistent connections. libcurl is opened for the first
/// request, or by `warmUp`; without it every request fails with `.missingLibrary`. The body of a response has
/// one reader; releasing the body ends its transfer, and releasing the transport ends all of them.
package final class CurlTransport: RangeTransport {
    private let configuration: HTTPConfiguration
    let loop: CurlLoop
    // No other code is called while the lock is held.
    private let routes = Locked(RouteMemory())
    private let cookies = Locked(StreamCookies())

    /// The longest redirect body that is read to its end, which keeps the connection open for the next
    /// request. Reading a longer one costs more than a new connection.
    private static let longestRedirectBody: Int64 = 16 * 1024

    /// Starts nothing: the thread starts with the first request or `warmUp`.
    package convenience init(configuration: HTTPConfiguration = HTTPConfiguration()) {
        self.init(configuration: configuration, loop: CurlLoop(configuration: configuration))
    }

    init(configuration: HTTPConfiguration, loop: CurlLoop) {
        self.configuration = configuration
        self.loop = loop
    }

    deinit { loop.stop() }

    /// Opens libcurl and starts the thread, so that the first request need not wait for them. Returns at
    /// once.
    package func warmUp() { loop.warmUp() }

    /// Cancels every transfer and returns when the thread has ended. Requests sent after it fail with
    /// `CancellationError`.
    package func shutdown() async {
        loop.stop()
        await loop.waitUntilStopped()
    }

    /// Sends `request` and follows redirects, each of which is counted in `requestCount`.
    ///
    /// If an earlier request for the same URL was redirected, the request is sent to the target at once. If
    /// the target fails, or responds as if it had expired, the request is sent to the original URL within the
    /// same call.
    ///
    /// Throws `.tooManyRedirects`, `.tlsFailed` (wrong certificate, or a redirect from https to http),
    /// `.unknownHost`, `.connectionRefused`, `.networkUnreachable`, `.connectionFailed` (no connection in
    /// time), `.timedOut` (connected, but no response), `.badAnswer`, `.cut` (no response), `.unreadable`
    /// (the netrc file) or `.missingLibrary`, with the URL without its secrets as subject;
    /// `CancellationError` if the task is cancelled. The body throws `.decodingFailed` if its content coding
    /// cannot be decoded.
    package func send(_ request: RangeRequest) async throws -> RangeResponse {
        var earlierRequests = 0
        // Only the original URL can tell if the resource has changed.
        let now = configuration.clock.now
        if request.unlessMatches == nil, let route = routes.withLock({ $0.route(of: request.url, now: now) })
        {
            do {
                try checkHost(of: route.target, for: request)
                // A refusal may only mean that the route has expired, so it asks for no log-in.
                var unasking = request
                unasking.mayAskUser = false
                let response = try await send(unasking, over: route, after: 0)
                guard [401, 403, 404, 410].contains(response.answer.wire.status) else { return response }
                earlierRequests = response.answer.requestCount
                response.body.cancel()
            } catch is MediaError {
                // If the original fails too, its error is the one to report.
                earlierRequests = 1
            }
            routes.withLock { $0.forget(request.url) }
            try Task.checkCancellation()
        }
        return try await send(request, over: Route(target: request.url), after: earlierRequests)
    }

    /// Sends the request over `route`, and follows redirects from there. `earlier` requests were made before.
    private func send(
        _ request: RangeRequest,
        over route: Route,
        after earlier: Int
    ) async throws -> RangeResponse {
        var route = route
        var requestCount = earlier
        var redirects = RedirectState(original: request.url, first: route.target)
        var corrections = 0
        while true {
            let jar = request.stream.map { stream in cookies.withLock { $0.jar(of: stream) } }
            let wire = WireRequest(request, over: route, cookies: jar, configuration: configuration)
            let transfer = Transfer(request: wire, configuration: configuration, loop: loop)
            transfer.start()
            let head = try await transfer.head()
            // A digest login takes two requests.
            requestCount += wire.quirks.contains(.wantsDigest) ? 2 : 1
            let fields = head.values("set-cookie")
            let host = route.target.host
            // A resource may turn out to be the list of a stream.
            let stream = request.stream ?? request.url
            var hasNewCookies = cookies.withLock { $0.receive(fields, from: host, of: stream) }
            guard let location = head.redirect else {
                route.quirks = head.quirks(after: wire.quirks, hasLogin: wire.hasLogin)
                // A server whose answers contradict each other gets no third request.
                guard route.quirks == wire.quirks || corrections == 2 else {
                    corrections += 1
                    try await finish(transfer, of: head)
                    continue
                }
                var step = LoginState.Step.giveUp
                if let logins = configuration.logins,
                    let refusal = LoginRefusal(request, over: route, sent: wire, head, configuration)
                {
                    step = logins.refused(refusal)
                    if try await isAnswered(step, by: logins, transfer, of: head, for: request) { continue }
                }
                if let interval = head.titleInterval { transfer.separateTitles(every: interval) }
                var answered = response(
                    to: request.url,
                    over: route,
                    head,
                    transfer,
                    requestCount: requestCount
                )
                answered.answer.mayAskLater = step == .askLater
                return answered
            }
            if request.stream == nil { hasNewCookies = route.cookies.receive(fields, from: host) }
            route.target = try redirects.redirected(to: location, newCookies: hasNewCookies)
            try await finish(transfer, of: head)
            try checkHost(of: route.target, for: request)
        }
    }

    /// `true` if there is a log-in with which to send `request` again, which the user may just have entered.
    private func isAnswered(
        _ step: LoginState.Step,
        by logins: Logins,
        _ refused: Transfer,
        of head: ResponseHead,
        for request: RangeRequest
    ) async throws -> Bool {
        switch step {
        case .giveUp, .askLater: return false
        case .retry:
            try await finish(refused, of: head)
            return true
        case .ask(let number):
            try await finish(refused, of: head)
            let isAnswered = await logins.waitForAnswer(to: number, from: request.url)
            try Task.checkCancellation()
            return isAnswered
        }
    }

    private func checkHost(of target: WebURL, for request: RangeRequest) throws(MediaError) {
        guard request.staysOnHost, target.host != request.url.host else { return }
        throw MediaError(.badAnswer, request.url.safeText, "it is redirected to another host")
    }

    /// The final response to a request for `original`, over `route`.
    private func response(
        to original: WebURL,
        over route: Route,
        _ head: ResponseHead,
        _ body: Transfer,
        requestCount: Int
    ) -> RangeResponse {
        let now = configuration.clock.now
        let target = route.target
        routes.withLock { routes in
            if head.status < 400 || head.status == 416 {
                routes.answered(original, over: route, now: now)
            } else {
                routes.forget(original)
            }
        }
        var answer = head.answer(
            requestCount: requestCount,
            redirectedHost: target.host == original.host ? nil : target.host,
            wallTime: configuration.wallTime()
        )
        answer.redirectedTo = target.requestString == original.requestString ? nil : target
        answer.withholdsUserInfo = configuration.withholdsUserInfo(of: original)
        answer.redirectedOrigin = target.origin == original.origin ? nil : target.origin
        return RangeResponse(answer: answer, body: body)
    }

    /// Reads the body of a redirect if that is cheap, and ends the transfer otherwise.
    private func finish(_ body: Transfer, of head: ResponseHead) async throws {
        if let length = head.contentLength, length <= Self.longestRedirectBody {
            // A body that trickles in would reset the idle time-out for ever.
            let limit = Task { [clock = configuration.clock, timeouts = configuration.timeouts] in
                try await clock.sleep(until: clock.now + timeouts.redirectBody)
                body.cancel()
            }
            defer { limit.cancel() }
            // The bytes are not needed. If the connection fails, the next request reports it.
            while (try? await body.next()) != nil {}
        }
        body.cancel()
        try Task.checkCancellation()
    }
}
