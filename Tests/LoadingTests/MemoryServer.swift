import Media
import System

/// A server in memory: a closure decides each answer. It remembers its requests, and can hold bodies back.
final class MemoryServer: RangeTransport {
    typealias Answering = @Sendable (_ request: RangeRequest, _ number: Int) -> Reply

    enum Reply: Sendable {
        case fail(MediaError.Code)
        /// The server rules itself out.
        case dead(MediaError.Code)
        /// The body is `bytes`, and ends as it should, or with a cut.
        case answer(RangeAnswer, bytes: [UInt8], isCut: Bool = false)
    }

    /// A file and how it is served: as it should be, unless a field says something else.
    struct File: Sendable {
        var content: [UInt8]
        var etag: String? = "\"1\""
        var hasRanges = true
        var status: Int?
        var forbidsStoring = false
        var contentType: String?
        /// Bodies end with an error after so many bytes.
        var cutAfter = Int.max

        func reply(to request: RangeRequest) -> Reply {
            let total = Int64(content.count)
            var answer = RangeAnswer(
                kind: .whole(length: total),
                validators: Validators(etag: etag),
                contentType: contentType
            )
            answer.forbidsStoring = forbidsStoring
            var range = 0..<total
            if let status {
                answer.kind = .refused(status: status)
                range = 0..<0
            } else if etag != nil, request.unlessMatches == answer.validators {
                answer.kind = .notModified
                range = 0..<0
            } else if let asked = request.range, hasRanges, request.ifRange == nil || request.ifRange == etag
            {
                range = min(asked.lowerBound, total)..<min(asked.upperBound, total)
                answer.kind = range.isEmpty ? .unsatisfiable(total: total) : .part(range: range, total: total)
            }
            let bytes = content[Int(range.lowerBound)..<Int(range.upperBound)].prefix(cutAfter)
            return .answer(answer, bytes: Array(bytes), isCut: bytes.count < range.count)
        }
    }

    private struct State {
        var answering: Answering
        var requests: [RangeRequest] = []
        var sentBytes: Int64 = 0
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    init(_ answering: @escaping Answering) { state = Locked(State(answering: answering)) }

    /// Serves `file`.
    convenience init(_ file: File) { self.init { request, _ in file.reply(to: request) } }

    /// Serves `content` as it should be served.
    convenience init(_ content: [UInt8]) { self.init(File(content: content)) }

    var requests: [RangeRequest] { state.withLock { $0.requests } }
    /// Body bytes sent, those sent twice counted twice.
    var sentBytes: Int64 { state.withLock { $0.sentBytes } }
    var heldBodies: Int { state.withLock { $0.held.count } }

    /// From now on serves `file`.
    func serve(_ file: File) { state.withLock { $0.answering = { request, _ in file.reply(to: request) } } }

    /// From now on every request fails.
    func fail(_ code: MediaError.Code) { state.withLock { $0.answering = { _, _ in .fail(code) } } }

    /// From now on every body stops before its second chunk, until `release`.
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
        let (answering, number) = state.withLock { state in
            state.requests.append(request)
            return (state.answering, state.requests.count)
        }
        try Task.checkCancellation()
        switch answering(request, number) {
        case .fail(let code):
            var error = MediaError(code, request.url.safeText, "it went wrong")
            error.isUnsent = code == .offline
            throw error
        case .dead(let code):
            var error = MediaError(code, request.url.safeText, "it went wrong")
            error.deadOrigin = request.url.origin
            throw error
        case .answer(let answer, let bytes, let isCut):
            return RangeResponse(answer: answer, body: Body(server: self, bytes: bytes, isCut: isCut))
        }
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

    private func count(_ count: Int) { state.withLock { $0.sentBytes += Int64(count) } }

    private final class Body: ResponseBody {
        private let server: MemoryServer
        private let bytes: [UInt8]
        private let isCut: Bool
        private let offset = Locked(0)

        init(server: MemoryServer, bytes: [UInt8], isCut: Bool) {
            self.server = server
            self.bytes = bytes
            self.isCut = isCut
        }

        func next() async throws -> [UInt8]? {
            try Task.checkCancellation()
            if offset.withLock({ $0 }) > 0 || bytes.isEmpty { await server.passGate() }
            try Task.checkCancellation()
            let chunk = offset.withLock { offset in
                defer { offset += 16_384 }
                return Array(bytes.dropFirst(offset).prefix(16_384))
            }
            server.count(chunk.count)
            if !chunk.isEmpty { return chunk }
            if isCut { throw MediaError(.cut, "the test's server", "the connection ended early") }
            return nil
        }

        func cancel() {}
    }
}
