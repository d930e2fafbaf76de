import Media
import System
import Testing

struct RequestHistoryTests {
    private final class CountingJournal: RequestJournal {
        let count = Locked(0)

        func record(_ record: JournalRecord) { count.withLock { $0 += 1 } }
    }

    private func record(_ number: Int) -> JournalRecord {
        JournalRecord(time: .seconds(number), resource: "x", event: .decision(.live, "on"))
    }

    @Test(arguments: [0, 1, 499, 500, 501, 1_003])
    func `the newest 500 records are kept in order, and all are passed on`(count: Int) {
        let onward = CountingJournal()
        let history = RequestHistory(onward: onward)
        for number in 0..<count { history.record(record(number)) }
        let newest = history.newest
        #expect(newest.count == count && history.recordCount == count)
        #expect(newest.records.map(\.time) == (0..<count).suffix(500).map { .seconds($0) })
        #expect(onward.count.withLock { $0 } == count)
    }

    private func request(_ number: Int, bytes: Int64 = 0) -> JournalRecord {
        var request = RequestRecord(
            number: number,
            urgency: .prefetch,
            asked: 0..<9,
            startedAt: .seconds(number)
        )
        request.bytes = bytes
        return JournalRecord(time: .seconds(number), resource: "x", event: .request(request))
    }

    @Test func `a request is under way from its start until its end is recorded, or it was not sent`() {
        let history = RequestHistory()
        for number in [7, 5, 6] { history.progressed(request(number)) }
        history.progressed(request(5, bytes: 3))
        #expect(history.underWay == [request(5, bytes: 3), request(6), request(7)])
        #expect(history.newest.count == 0)
        history.record(request(6, bytes: 9))
        history.withdrew(7)
        #expect(history.underWay == [request(5, bytes: 3)])
        #expect(history.newest.records == [request(6, bytes: 9)])
    }

    @Test func `each record and each start calls the observer until it is removed, received bytes do not`() {
        let history = RequestHistory()
        let count = Locked(0)
        history.record(record(1))
        let observation = history.observe { count.withLock { $0 += 1 } }
        history.progressed(request(1))
        for bytes in 1...9 as ClosedRange<Int64> { history.progressed(request(1, bytes: bytes)) }
        #expect(count.withLock { $0 } == 1)
        history.record(request(1, bytes: 9))
        history.record(record(2))
        #expect(count.withLock { $0 } == 3)
        observation.end()
        history.record(record(3))
        #expect(count.withLock { $0 } == 3)
    }
}
