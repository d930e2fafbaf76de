import Media
import Testing

struct RequestHistoryTests {
    private final class Ear: RequestJournal {
        let heard = Locked<[Duration]>([])

        func record(_ record: JournalRecord) { heard.withLock { $0.append(record.time) } }
    }

    private func record(_ number: Int) -> JournalRecord {
        JournalRecord(time: .seconds(number), resource: "x", event: .decision(.live, "on"))
    }

    @Test(arguments: [0, 1, 499, 500, 501, 1_003])
    func `the newest are kept in order, the oldest forgotten, and all are handed on`(count: Int) {
        let ear = Ear()
        let history = RequestHistory(onward: ear)
        for number in 0..<count { history.record(record(number)) }
        let newest = history.newest
        #expect(newest.count == count && history.recordCount == count)
        #expect(newest.records.map(\.time) == (0..<count).suffix(500).map { .seconds($0) })
        #expect(ear.heard.withLock { $0.count } == count)
    }

    @Test func `who observes is woken by each record, until it lets go`() {
        let history = RequestHistory()
        let count = Locked(0)
        history.record(record(1))
        history.observe { count.withLock { $0 += 1 } }
        history.record(record(2))
        history.record(record(3))
        history.observe(nil)
        history.record(record(4))
        #expect(count.withLock { $0 } == 2)
    }
}
