import Media
import System

/// Collects the journal's record of one request.
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

    /// The record of the request while it is under way.
    func soFar(at now: Duration) -> JournalRecord {
        var record = record
        record.duration = now - record.startedAt
        return JournalRecord(time: now, resource: resource, event: .request(record))
    }

    mutating func received(_ count: Int) { record.bytes += Int64(count) }

    /// The record of the request after its end: `complete`, `cancelled`, or the code of the error.
    mutating func ended(_ end: String, at now: Duration) -> JournalRecord {
        record.end = end
        record.duration = now - record.startedAt
        return JournalRecord(time: now, resource: resource, event: .request(record))
    }
}

/// Numbers the requests of the process in the order in which they are sent, for the journal.
package final class RequestNumbers: Sendable {
    private let last = Locked(0)

    package init() {}

    /// The next number, from 1.
    package func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
