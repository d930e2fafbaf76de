import Synchronization

/// What was asked of an origin and what it sent, exact at any instant and from any thread.
package final class RequestLog: Sendable {
    private struct State {
        var requests: [LoggedRequest] = []
        var nextNumber = 1
        var connectionCount = 0
        var events = 0

        /// The place of a request, or nil for one that `reset` has forgotten.
        func index(of number: Int) -> Int? {
            let index = number - (nextNumber - requests.count)
            return index >= 0 ? index : nil
        }
    }

    /// What came of handing bytes to the network.
    enum Sending: Equatable {
        case sent(Int)
        case wouldBlock
        case clientLeft
    }

    private let state = Mutex(State())
    private let onEnd: @Sendable (LoggedRequest) -> Void

    /// `onEnd` is called with every request that has ended, after its end, on the task that served it.
    init(onEnd: @escaping @Sendable (LoggedRequest) -> Void = { _ in }) { self.onEnd = onEnd }

    /// Every request since the start or the last `reset`, in order of arrival.
    package var requests: [LoggedRequest] { state.withLock { $0.requests } }

    /// How many connections were made since the start.
    package var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// The bytes of all bodies together.
    package var bytesSent: Int64 { requests.reduce(0) { $0 + $1.bodyBytesSent } }

    /// The requests for one decoded path.
    package func requests(for path: String) -> [LoggedRequest] { requests.filter { $0.path == path } }

    /// The bytes of all bodies of one path, pages of errors included.
    package func bytesSent(for path: String) -> Int64 {
        requests(for: path).reduce(0) { $0 + $1.bodyBytesSent }
    }

    /// Which bytes of a resource were sent, once or more often.
    package func sentRanges(for path: String) -> RangeSet<Int64> {
        RangeSet(requests(for: path).map(\.sent).filter { !$0.isEmpty })
    }

    /// Forgets all requests, those under way too; numbers go on.
    package func reset() { state.withLock { $0.requests = [] } }

    func connected() -> Int {
        state.withLock { state in
            state.connectionCount += 1
            return state.connectionCount
        }
    }

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

    /// Hands bytes of body to the network by `send`, and counts what it took.
    ///
    /// `send` must not block. It runs under the lock: nobody can have received a byte that the log does
    /// not show yet.
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
