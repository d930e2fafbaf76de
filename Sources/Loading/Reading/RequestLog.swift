import Media
import System

/// Writes requests and decisions to the journal, if there is one.
struct JournalWriter: Sendable {
    let journal: (any RequestJournal)?
    let numbers: RequestNumbers
    let clock: any MonotonicClock

    /// Begins the record of a request that is about to be sent.
    func begin(_ request: RangeRequest, why: FetchReason) -> RequestLog {
        RequestLog(request, why: why, journal: self)
    }

    func decided(_ decision: JournalRecord.Decision, _ text: SafeText, about resource: SafeText = "") {
        journal?.record(
            JournalRecord(time: clock.now, resource: resource, event: .decision(decision, text))
        )
    }
}

/// Collects the journal's record of one request, and reports it to the journal after each change.
struct RequestLog: Sendable {
    private var record: RequestRecord
    private let resource: SafeText
    private let journal: JournalWriter

    fileprivate init(_ request: RangeRequest, why: FetchReason, journal: JournalWriter) {
        let now = journal.clock.now
        record = RequestRecord(
            number: journal.numbers.next(),
            why: why,
            asked: request.range,
            startedAt: now
        )
        resource = request.url.safeText
        self.journal = journal
        report()
    }

    /// Body bytes received.
    var bytes: Int64 { record.bytes }

    mutating func answered(_ answer: RangeAnswer) {
        record.firstByte = journal.clock.now - record.startedAt
        record.wire = answer.wire
        switch answer.kind {
        case .part(let range, _): (record.status, record.answered) = (206, range)
        case .whole(let length): (record.status, record.answered) = (200, length.map { 0..<$0 })
        case .unsatisfiable: record.status = 416
        case .notModified: record.status = 304
        case .refused(let status): record.status = status
        }
        report()
    }

    mutating func received(_ count: Int) {
        record.bytes += Int64(count)
        report()
    }

    /// The request has ended; `end` is `complete`, `discarded`, `cancelled`, or the code of the error.
    func ended(_ end: String) { journal.journal?.record(soFar(end)) }

    /// The request was not sent after all: the player is offline.
    func withdraw() { journal.journal?.withdrew(record.number) }

    private func report() { journal.journal?.progressed(soFar()) }

    private func soFar(_ end: String = "") -> JournalRecord {
        let now = journal.clock.now
        var record = record
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
