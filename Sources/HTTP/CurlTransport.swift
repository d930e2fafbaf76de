package import Media

/// The web behind `RangeTransport`, by libcurl.
///
/// One thread, `http`, carries all transfers on kept-alive connections. libcurl is loaded when the first
/// request is sent, or `warmUp` is called; without it every request fails with `.missingLibrary`.
/// A response's body belongs to one reader; letting go of it ends the transfer, and letting go of the
/// transport ends them all.
package final class CurlTransport: RangeTransport {
    private let configuration: HTTPConfiguration
    private let loop: CurlLoop

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
    package func warmUp() {
        loop.warmUp()
    }

    /// Cancels every transfer and returns when the thread has ended. Requests sent after it fail with
    /// `CancellationError`.
    package func shutdown() async {
        loop.stop()
        await loop.waitUntilStopped()
    }

    /// Sends `request` and follows redirects, each of which counts in `requestCount`.
    ///
    /// Throws `.tooManyRedirects`, `.tlsFailed` (wrong certificate, or a way from https to http),
    /// `.unknownHost`, `.connectionRefused`, `.connectionFailed`, `.timedOut`, `.cut` (no answer) or
    /// `.missingLibrary`, with the URL without its secrets as subject; `CancellationError` when the task
    /// is cancelled.
    package func send(_ request: RangeRequest) async throws -> RangeResponse {
        var redirects = RedirectState(original: request.url)
        while true {
            let headers = configuration.headers(for: redirects.original)
            let wire = WireRequest(request, at: redirects, headers: headers)
            let transfer = Transfer(request: wire, configuration: configuration, loop: loop)
            // Its end ends the transfer, also when this function throws.
            let body = TransferBody(transfer)
            transfer.start()
            let head = try await transfer.head()
            guard let location = ResponseAlgebra.redirect(in: head) else {
                let answer = ResponseAlgebra.answer(for: head, requestCount: redirects.requestCount)
                return RangeResponse(answer: answer, body: body)
            }
            try redirects.redirected(to: location)
            try await finish(body, of: head)
        }
    }

    /// Reads the body of a redirect where that is cheap, and ends the transfer otherwise.
    private func finish(_ body: TransferBody, of head: ResponseHead) async throws {
        let length = ResponseAlgebra.contentLength(in: head.fields)
        if let length, length <= Self.longestRedirectBody {
            do {
                while try await body.next() != nil {}
            } catch is MediaError {
                // Nobody wants these bytes; the next request tells what is wrong with the line.
            }
        }
        body.cancel()
        try Task.checkCancellation()
    }
}
