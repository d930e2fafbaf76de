import Media

/// One request on its way into the journal.
struct RequestLog: Sendable {
    private(set) var record: RequestRecord
    private let resource: SafeText

    init(_ request: RangeRequest, why: FetchReason, number: Int, at now: Duration) {
        record = RequestRecord(number: number, why: why, asked: request.range, startedAt: now)
        resource = request.url.safeText
    }

    mutating func answered(_ answer: RangeAnswer, at now: Duration) {
        record.firstByte = now - record.startedAt
        record.wire = answer.wire
        switch answer.kind {
        case .part(let range, _): (record.status, record.answered) = (206, range)
        case .whole(let length): (record.status, record.answered) = (200, length.map { 0..<$0 })
        case .unsatisfiable: record.status = 416
        case .notModified: record.status = 304
        case .refused(let status): record.status = status
        }
    }

    /// What is known of the request while it is under way.
    func soFar(at now: Duration) -> JournalRecord {
        var record = record
        record.duration = now - record.startedAt
        return JournalRecord(time: now, resource: resource, event: .request(record))
    }

    mutating func received(_ count: Int) { record.bytes += Int64(count) }

    /// The request is over: `complete`, `cancelled`, or what went wrong.
    mutating func ended(_ end: String, at now: Duration) -> JournalRecord {
        record.end = end
        record.duration = now - record.startedAt
        return JournalRecord(time: now, resource: resource, event: .request(record))
    }
}
