import Media
import System

/// A server whose every answer a closure decides, for what no honest server does.
final class FaultyTransport: RangeTransport {
    /// What becomes of one request.
    enum Reply: Sendable {
        case fail(MediaError.Code)
        /// The body is `bytes`, and ends as it should, or with a cut.
        case answer(RangeAnswer, bytes: [UInt8], isCut: Bool = false)
    }

    private struct State {
        var requests: [RangeRequest] = []
        var sentBytes: Int64 = 0
    }

    private let state = Locked(State())
    private let reply: @Sendable (RangeRequest, Int) -> Reply

    /// `reply` gets the request and its number, from 1.
    init(_ reply: @escaping @Sendable (RangeRequest, Int) -> Reply) { self.reply = reply }

    var requests: [RangeRequest] { state.withLock { $0.requests } }
    /// Body bytes sent, those sent twice counted twice.
    var sentBytes: Int64 { state.withLock { $0.sentBytes } }

    func send(_ request: RangeRequest) async throws -> RangeResponse {
        let number = state.withLock { state in
            state.requests.append(request)
            return state.requests.count
        }
        try Task.checkCancellation()
        switch reply(request, number) {
        case .fail(let code): throw MediaError(code, request.url.safeText, "it went wrong")
        case .answer(let answer, let bytes, let isCut):
            return RangeResponse(answer: answer, body: Body(transport: self, bytes: bytes, isCut: isCut))
        }
    }

    private func count(_ count: Int) { state.withLock { $0.sentBytes += Int64(count) } }

    private final class Body: ResponseBody {
        private let transport: FaultyTransport
        private let left: Locked<ArraySlice<UInt8>>
        private let isCut: Bool

        init(transport: FaultyTransport, bytes: [UInt8], isCut: Bool) {
            self.transport = transport
            left = Locked(bytes[...])
            self.isCut = isCut
        }

        func next() async throws -> [UInt8]? {
            try Task.checkCancellation()
            let chunk = left.withLock { left in
                let chunk = left.prefix(16_384)
                left = left.dropFirst(16_384)
                return Array(chunk)
            }
            transport.count(chunk.count)
            if !chunk.isEmpty { return chunk }
            if isCut { throw MediaError(.cut, "the test's server", "the connection ended early") }
            return nil
        }

        func cancel() {}
    }
}

extension FaultyTransport {
    /// The honest answer to `request` for `content`.
    static func honest(_ request: RangeRequest, _ content: [UInt8], etag: String? = "\"1\"") -> Reply {
        let total = Int64(content.count)
        let validators = Validators(etag: etag)
        if let known = request.unlessMatches, known == validators, etag != nil {
            return .answer(RangeAnswer(kind: .notModified, validators: validators), bytes: [])
        }
        guard let asked = request.range, request.ifRange == nil || request.ifRange == etag else {
            return .answer(RangeAnswer(kind: .whole(length: total), validators: validators), bytes: content)
        }
        guard asked.lowerBound < total else {
            return .answer(RangeAnswer(kind: .unsatisfiable(total: total), validators: validators), bytes: [])
        }
        let range = asked.lowerBound..<min(asked.upperBound, total)
        return .answer(
            RangeAnswer(kind: .part(range: range, total: total), validators: validators),
            bytes: Array(content[Int(range.lowerBound)..<Int(range.upperBound)])
        )
    }
}

/// Collects the records of a journal.
final class SavedJournal: RequestJournal {
    private let all = Locked<[JournalRecord]>([])

    var requests: [RequestRecord] {
        all.withLock { $0.compactMap { if case .request(let record) = $0.event { record } else { nil } } }
    }
    var decisions: [JournalRecord.Decision] {
        all.withLock {
            $0.compactMap { if case .decision(let decision, _) = $0.event { decision } else { nil } }
        }
    }

    func record(_ record: JournalRecord) { all.withLock { $0.append(record) } }
}
