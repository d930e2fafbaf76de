import Media
import System
import TestSupport
import Testing

@testable import Loading

@Suite struct LineTests {
    @Test func `rate and first byte are medians of the recent five`() {
        var measure = LineMeasure()
        #expect(
            measure.bytesPerSecond == nil && measure.firstByteTime == nil && measure.bytesPerRequest == nil
        )
        for (count, milliseconds) in [(100_000, 80), (2_000_000, 1), (110_000, 90), (1, 9_000), (90_000, 70)]
        {
            measure.received(Int64(count), in: .seconds(1))
            measure.answered(after: .milliseconds(milliseconds))
        }
        #expect(measure.bytesPerSecond == 100_000)
        #expect(measure.firstByteTime == .milliseconds(80))
        #expect(measure.bytesPerRequest == 8_000)
        // The connection became faster, according to three of five measurements.
        for _ in 1...3 { measure.received(500_000, in: .seconds(1)) }
        #expect(measure.bytesPerSecond == 500_000)
    }

    @Test func `half of the time to a response on a new connection counts as handshake`() {
        var measure = LineMeasure()
        measure.answered(after: .milliseconds(100), onNewConnection: true)
        #expect(measure.firstByteTime == .milliseconds(50))
        measure.answered(after: .milliseconds(60))
        #expect(measure.firstByteTime == .milliseconds(60))
    }

    @Test(arguments: [(1, Duration.milliseconds(80)), (2, nil)])
    func `the time from a request to its response is measured, unless it was redirected`(
        requestCount: Int,
        expected: Duration?
    ) throws {
        var load = ResourceLoadState(settings: LoadSettings(), subject: "a", description: EntryDescription())
        let reader = LoadReaders.ID(1)
        load.readerOpened(reader)
        let plan = try #require(load.readRequested(reader, at: 0, LoadMoment()).plans.first)
        _ = load.storeLooked(plan.id, LoadMoment(now: .seconds(1)))
        var answer = RangeAnswer.part(0..<65_536, of: 100_000)
        answer.requestCount = requestCount
        _ = load.fetchAnswered(plan.id, answer, LoadMoment(now: .milliseconds(1_080)))
        #expect(load.measure.firstByteTime == expected)
    }

    @Test func `an impossible measurement is not counted`() {
        var measure = LineMeasure()
        measure.received(0, in: .seconds(1))
        measure.received(100, in: .zero)
        measure.answered(after: .seconds(-1))
        #expect(measure == LineMeasure())
    }

    @Test func `a body is measured from its first bytes on, in pieces of a minimum length`() {
        var watch = BodyWatch()
        #expect(watch.received(64_000, at: .seconds(5)) == nil)
        #expect(watch.received(20_000, at: .milliseconds(5_100)) == nil)
        let piece = watch.received(20_000, at: .milliseconds(5_200))
        #expect(piece?.bytes == 40_000 && piece?.time == .milliseconds(200))
        #expect(watch.received(40_000, at: .milliseconds(5_210)) == nil, "the next piece begins anew")
    }

    private final class Updates: Sendable {
        let all = Locked<[(othersNeed: FetchReason?, revision: Int)]>([])
    }

    /// A user of the line, and the updates that it received. The first one comes when it is no longer alone.
    private struct Loader {
        private let updates = Updates()
        let user: SharedLine.User

        init(_ line: SharedLine) {
            user = line.join { [updates] need, revision in
                updates.all.withLock { $0.append((need, revision)) }
            }
        }

        var needs: [FetchReason?] { updates.all.withLock { $0.map(\.othersNeed) } }
        var revisions: [Int] { updates.all.withLock { $0.map(\.revision) } }
    }

    @Test func `each loader is sent the need of the other, always with a higher revision`() {
        let line = SharedLine()
        let current = Loader(line)
        let next = Loader(line)
        line.needs(.readAhead, of: current.user, revision: 1)
        line.needs(.prefetch, of: next.user, revision: 1)
        line.needs(nil, of: current.user, revision: 2)
        #expect(next.needs == [nil, .readAhead, nil])
        #expect(current.needs == [nil, .prefetch])
        #expect(next.revisions[1] < current.revisions[1] && current.revisions[1] < next.revisions[2])
    }

    @Test func `a loader hears of the line when a second one joins, and not before`() {
        let line = SharedLine()
        let one = Loader(line)
        line.needs(.demand, of: one.user, revision: 1)
        #expect(one.needs.isEmpty)
        let other = Loader(line)
        #expect(one.needs == [nil] && other.needs == [.demand])
    }

    @Test func `a late report changes nothing`() {
        let line = SharedLine()
        let one = Loader(line)
        let other = Loader(line)
        line.needs(nil, of: one.user, revision: 5)
        line.needs(.demand, of: one.user, revision: 4)
        #expect(other.needs == [nil])
        line.needs(.demand, of: one.user, revision: 6)
        #expect(other.needs == [nil, .demand])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `the last update of each loader is the most urgent need of all others`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let line = SharedLine()
        var needs: [SharedLine.User: FetchReason] = [:]
        var open: [Loader] = []
        for step in 1...60 {
            let chosen = open.indices.randomElement(using: &random)
            switch (Int.random(in: 0..<6, using: &random), chosen) {
            case (0, _): open.append(Loader(line))
            case (1, let index?):
                let user = open.remove(at: index).user
                needs[user] = nil
                line.leave(user)
            case (_, let index?):
                let need =
                    Bool.random(using: &random) ? FetchReason.allCases.randomElement(using: &random) : nil
                needs[open[index].user] = need
                line.needs(need, of: open[index].user, revision: step)
            case (_, nil): continue
            }
            for loader in open {
                let others = needs.filter { $0.key != loader.user }.values.min()
                #expect((loader.needs.last ?? nil) == others)
            }
        }
    }
}
