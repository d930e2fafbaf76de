import Media
import System

/// Requests a whole resource once, past the cache and without retries: a list of a live stream.
struct WholeFetch: Sendable {
    let url: WebURL
    let parts: LoaderParts
    /// With validators, the answer has no body if they still describe the resource.
    var validators = Validators()
    /// The most bytes.
    let most: Int

    /// Throws the errors of the transport, `.httpStatus` and `.listTooLarge`.
    func run() async throws -> FetchedBody {
        let condition = validators.isEmpty ? nil : validators
        let request = RangeRequest(url: url, range: nil, unlessMatches: condition, stream: parts.stream)
        var log = parts.log(request, .demand)
        do {
            let response = try await parts.transport.send(request)
            defer { response.body.cancel() }
            log?.answered(response.answer)
            let bytes = try await bytes(of: response, &log)
            log?.ended("complete")
            return FetchedBody(answer: response.answer, bytes: bytes)
        } catch {
            log?.failed(error)
            throw error
        }
    }

    private func bytes(of response: RangeResponse, _ log: inout RequestLog?) async throws -> [UInt8]? {
        switch response.answer.kind {
        case .whole: break
        case .notModified where !validators.isEmpty: return nil
        case .refused(let status):
            var error = MediaError(.httpStatus, url.safeText, AnswerMeaning.cause(status: status))
            error.isLasting = !RetryPolicy.isWorthWaiting(forStatus: status)
            error.status = status
            throw error
        case .part, .unsatisfiable, .notModified:
            throw MediaError(.badAnswer, url.safeText, "the server answers what was not asked for")
        }
        var bytes: [UInt8] = []
        while let more = try await response.body.next() {
            log?.received(more.count)
            bytes += more
            guard bytes.count <= most else {
                throw MediaError(.listTooLarge, url.safeText, "the list is longer than any of its kind")
            }
        }
        return bytes
    }
}
