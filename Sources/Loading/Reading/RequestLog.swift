import Media
import System

internal import Synchronization

/// Collects the journal's record of one request, and reports it to the journal after each change.
struct RequestLog: Sendable {
    /// Numbers the requests of the process in the order in which they are sent.
    private static let lastNumber = Atomic(0)

    private var record: RequestRecord
    private let resource: SafeText
    private let journal: any RequestJournal
    private let clock: any MonotonicClock

    init(_ request: RangeRequest, urgency: Urgency, journal: any RequestJournal, clock: any MonotonicClock) {
        record = RequestRecord(
            number: Self.lastNumber.add(1, ordering: .relaxed).newValue,
            urgency: urgency,
            asked: request.range,
            startedAt: clock.now
        )
        resource = request.url.safeText
        self.journal = journal
        self.clock = clock
        report()
    }

    mutating func answered(_ answer: RangeAnswer) {
        record.firstByte = clock.now - record.startedAt
        record.wire = answer.wire
        switch answer.kind {
        case .part(let range, _):
            record.status = 206
            record.answered = range
        case .whole(let length):
            record.status = 200
            record.answered = length.map { 0..<$0 }
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
    func ended(_ end: String) { journal.record(soFar(end)) }

    /// The request ended with `error`, or was not sent after all.
    func failed(_ error: any Error) {
        switch error {
        case let error as MediaError where error.isUnsent: journal.withdrew(record.number)
        case let error as MediaError: ended(error.code.rawValue)
        case is CancellationError: ended("cancelled")
        default: ended(MediaError.Code.internalError.rawValue)
        }
    }

    private func report() { journal.progressed(soFar()) }

    private func soFar(_ end: String = "") -> JournalRecord {
        let now = clock.now
        var record = record
        record.end = end
        record.duration = now - record.startedAt
        return JournalRecord(time: now, resource: resource, event: .request(record))
    }
}
