import Synchronization

/// Records each request to an origin and the bytes sent for it. Exact at any instant, from any thread.
package final class RequestLog: Sendable {
    private struct State {
        var requests: [LoggedRequest] = []
        var nextNumber = 1
        var connectionCount = 0
        var openCount = 0
        var events = 0

        /// The index of a request; `nil` if `reset` has removed it.
        func index(of number: Int) -> Int? {
            let index = number - (nextNumber - requests.count)
            return index >= 0 ? index : nil
        }
    }

    /// The result of handing bytes to the socket.
    enum Sending: Equatable {
        case sent(Int)
        case wouldBlock
        case clientLeft
    }

    private let state = Mutex(State())
    private let onEnd: @Sendable (LoggedRequest) -> Void

    /// Calls `onEnd` with every request after it has ended, on the task that served it.
    init(onEnd: @escaping @Sendable (LoggedRequest) -> Void = { _ in }) { self.onEnd = onEnd }

    /// Every request since the start or the last `reset`, in order of arrival.
    package var requests: [LoggedRequest] { state.withLock { $0.requests } }

    /// The number of connections accepted since the start.
    package var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// The number of connections that are open.
    package var openCount: Int { state.withLock { $0.openCount } }

    /// The total number of body bytes sent.
    package var bytesSent: Int64 { requests.reduce(0) { $0 + $1.bodyBytesSent } }

    /// The requests for one decoded path.
    package func requests(for path: String) -> [LoggedRequest] { requests.filter { $0.path == path } }

    /// The number of body bytes sent for one path, error pages included.
    package func bytesSent(for path: String) -> Int64 {
        requests(for: path).reduce(0) { $0 + $1.bodyBytesSent }
    }

    /// The byte ranges of a resource that were sent at least once.
    package func sentRanges(for path: String) -> RangeSet<Int64> {
        RangeSet(requests(for: path).map(\.sent).filter { !$0.isEmpty })
    }

    /// Removes all requests, also unfinished ones; their numbering continues.
    package func reset() { state.withLock { $0.requests = [] } }

    func connected() -> Int {
        state.withLock { state in
            state.connectionCount += 1
            state.openCount += 1
            return state.connectionCount
        }
    }

    func disconnected() { state.withLock { $0.openCount -= 1 } }

    func received(_ head: RequestHead, on connection: Int) -> Int {
        state.withLock { state in
            state.events += 1
            let number = state.nextNumber
            state.nextNumber += 1
            state.requests.append(
                LoggedRequest(
                    number: number,
                    connection: connection,
                    method: head.method,
                    target: head.target,
                    path: head.path,
                    fields: head.fields,
                    begun: state.events
                )
            )
            return number
        }
    }

    func answering(_ number: Int, with answer: Answer) {
        update(number) { request in
            request.status = answer.status
            switch answer.body {
            case .resource(let range), .pattern(_, let range):
                request.sent = range.lowerBound..<range.lowerBound
            case .none, .page: break
            }
        }
    }

    /// Sends body bytes with `send` and counts the bytes that it accepted.
    ///
    /// `send` must not block. It runs under the lock, so a client can never have received a byte that the log
    /// does not show yet.
    func sending(_ number: Int, countsForResource: Bool, by send: () -> Sending) -> Sending {
        state.withLock { state in
            let sending = send()
            if case .sent(let count) = sending, let index = state.index(of: number) {
                state.requests[index].bodyBytesSent += Int64(count)
                if countsForResource {
                    let sent = state.requests[index].sent
                    state.requests[index].sent = sent.lowerBound..<sent.upperBound + Int64(count)
                }
            }
            return sending
        }
    }

    func held(_ number: Int, _ isHeld: Bool) {
        update(number) { $0.isHeld = isHeld }
    }

    func ended(_ number: Int, _ outcome: LoggedRequest.Outcome) {
        let request = state.withLock { state -> LoggedRequest? in
            state.events += 1
            guard let index = state.index(of: number) else { return nil }
            state.requests[index].outcome = outcome
            state.requests[index].ended = state.events
            return state.requests[index]
        }
        if let request { onEnd(request) }
    }

    private func update(_ number: Int, _ change: (inout LoggedRequest) -> Void) {
        state.withLock { state in
            if let index = state.index(of: number) { change(&state.requests[index]) }
        }
    }
}

/// One request and its result.
package struct LoggedRequest: Sendable, Equatable {
    package enum Outcome: String, Sendable {
        case underWay
        /// The whole answer was sent.
        case finished
        /// The client left before the end.
        case aborted
        /// The origin ended it, because of a fault or `stop`.
        case cut
    }

    /// Counts all requests from 1, also across `reset`.
    package var number: Int
    /// Counts all connections from 1.
    package var connection: Int
    package var method: String
    /// As sent, with the query.
    package var target: String
    /// Decoded, without the query.
    package var path: String
    package var fields: [HTTPField]
    /// `nil` until the answer is planned.
    package var status: Int?
    /// The body bytes handed to the socket, without chunk framing.
    package var bodyBytesSent: Int64 = 0
    /// The range of the resource that these bytes were; empty for the origin's own pages.
    package var sent: Range<Int64> = 0..<0
    package var outcome = Outcome.underWay
    /// `true` if a gate, a stall or silence holds the answer now.
    package var isHeld = false
    /// The ordinals of its arrival and its end among all events of this origin.
    package var begun: Int
    package var ended: Int?

    /// The `Range` header as sent.
    package var range: String? { fields["Range"] }
    /// The `If-Range` header as sent.
    package var ifRange: String? { fields["If-Range"] }
}

extension LoggedRequest: CustomStringConvertible {
    /// One line, as `reprise-origin --log` writes it.
    package var description: String {
        var line = "\(number) connection=\(connection) \(method) \(target)"
        if let range { line += " range=\(range)" }
        if let ifRange { line += " if-range=\(ifRange)" }
        line += " status=\(status.map(String.init) ?? "-") sent=\(bodyBytesSent)"
        if !sent.isEmpty { line += " from=\(sent.lowerBound)" }
        return line + " \(outcome.rawValue)"
    }
}
