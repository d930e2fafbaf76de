import Media
import System

/// A server in memory: answers ranges of `content`, remembers what it sent, and can hold bodies back.
final class ScriptedTransport: RangeTransport {
    struct Script: Sendable {
        var content: [UInt8]
        var validators = Validators(etag: "\"1\"")
        var hasRanges = true
        var status: Int?
        var forbidsStoring = false
        var contentType: String?
        /// Bodies end with an error after so many bytes.
        var cutAfter: Int?
        /// The size of a chunk.
        var chunk = 16_384
    }

    private struct State {
        var script: Script
        var requests: [RangeRequest] = []
        var sent = ByteRangeSet()
        var sentBytes: Int64 = 0
        var cancelled = 0
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    init(_ script: Script) { state = Locked(State(script: script)) }

    var requests: [RangeRequest] { state.withLock { $0.requests } }
    /// Body bytes sent, those sent twice counted twice.
    var sentBytes: Int64 { state.withLock { $0.sentBytes } }
    var cancelledBodies: Int { state.withLock { $0.cancelled } }
    var heldBodies: Int { state.withLock { $0.held.count } }

    func change(_ edit: (inout Script) -> Void) { state.withLock { edit(&$0.script) } }

    /// From now on every body stops before its next chunk, until `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func send(_ request: RangeRequest) async throws -> RangeResponse {
        let script = state.withLock { state in
            state.requests.append(request)
            return state.script
        }
        let total = Int64(script.content.count)
        var answer = RangeAnswer(
            kind: .whole(length: total),
            validators: script.validators,
            contentType: script.contentType
        )
        answer.forbidsStoring = script.forbidsStoring
        var range: ByteRange = 0..<total
        if let status = script.status {
            answer.kind = .refused(status: status)
            range = 0..<0
        } else if let asked = request.range, script.hasRanges,
            request.ifRange == nil || request.ifRange == script.validators.ifRange
        {
            if asked.lowerBound >= total {
                answer.kind = .unsatisfiable(total: total)
                range = 0..<0
            } else {
                range = asked.lowerBound..<min(asked.upperBound, total)
                answer.kind = .part(range: range, total: total)
            }
        }
        return RangeResponse(answer: answer, body: Body(transport: self, script: script, range: range))
    }

    private func passGate() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if state.isHeld { state.held.append(continuation) }
                return !state.isHeld
            }
            if isOpen { continuation.resume() }
        }
    }

    private func count(_ range: ByteRange) { state.withLock { $0.sentBytes += Int64(range.count) } }
    private func countCancelled() { state.withLock { $0.cancelled += 1 } }

    final class Body: ResponseBody {
        private let transport: ScriptedTransport
        private let script: Script
        private let end: Int64
        private let start: Int64
        private let place: Locked<(next: Int64, isCancelled: Bool)>

        init(transport: ScriptedTransport, script: Script, range: ByteRange) {
            self.transport = transport
            self.script = script
            start = range.lowerBound
            end = range.upperBound
            place = Locked((range.lowerBound, false))
        }

        func next() async throws -> [UInt8]? {
            try Task.checkCancellation()
            let (next, isCancelled) = place.withLock { $0 }
            if isCancelled { throw CancellationError() }
            if next > start || end == start { await transport.passGate() }
            try Task.checkCancellation()
            guard next < end else { return nil }
            if let cut = script.cutAfter, next - start >= Int64(cut) {
                throw MediaError(.cut, "the test's server", "the connection ended early")
            }
            let limit = script.cutAfter.map { start + Int64($0) } ?? .max
            let range = next..<min(end, next + Int64(script.chunk), limit)
            place.withLock { $0.next = range.upperBound }
            transport.count(range)
            return Array(script.content[Int(range.lowerBound)..<Int(range.upperBound)])
        }

        func cancel() {
            let isFirst = place.withLock { place in
                defer { place.isCancelled = true }
                return !place.isCancelled && place.next < end
            }
            if isFirst { transport.countCancelled() }
        }
    }
}
