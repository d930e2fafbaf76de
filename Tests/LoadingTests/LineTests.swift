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

    /// A user of the line, and the number of times that it was called.
    private final class Loader: Sendable {
        private let line: SharedLine
        private let joined = Locked<SharedLine.User?>(nil)
        private let called = Locked<[Urgency?]>([])

        init(_ line: SharedLine) {
            self.line = line
            let user = line.join { [weak self] in
                guard let self else { return }
                let need = othersNeed
                called.withLock { $0.append(need) }
            }
            joined.withLock { $0 = user }
        }

        var user: SharedLine.User {
            joined.withLock { user in
                guard let user else { preconditionFailure("it has joined") }
                return user
            }
        }

        var othersNeed: Urgency? { line.othersNeed(of: user) }

        /// The need of the others at each call.
        var needs: [Urgency?] { called.withLock { $0 } }

        func need(_ need: Urgency?) {
            for listener in line.setNeed(need, of: user) { listener() }
        }
    }

    @Test func `each loader is called when the need of the others changes`() {
        let line = SharedLine()
        let current = Loader(line)
        let next = Loader(line)
        current.need(.readAhead)
        next.need(.prefetch)
        next.need(.prefetch)
        current.need(nil)
        #expect(next.needs == [.readAhead, nil])
        #expect(current.needs == [nil, .prefetch])
    }

    @Test func `a loader hears of the line when a second one joins, and not before`() {
        let line = SharedLine()
        let one = Loader(line)
        #expect(!line.isShared)
        one.need(.demand)
        #expect(one.needs.isEmpty)
        let other = Loader(line)
        #expect(one.needs == [nil] && other.othersNeed == .demand && line.isShared)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `each loader is called for every change of the most urgent need of all others`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let line = SharedLine()
        var needs: [SharedLine.User: Urgency] = [:]
        var open: [Loader] = []
        for _ in 1...60 {
            let before = open.map { ($0, $0.othersNeed, $0.needs.count) }
            let chosen = open.indices.randomElement(using: &random)
            switch (Int.random(in: 0..<6, using: &random), chosen) {
            case (0, _): open.append(Loader(line))
            case (1, let index?):
                let user = open.remove(at: index).user
                needs[user] = nil
                line.leave(user)
            case (_, let index?):
                let need =
                    Bool.random(using: &random) ? Urgency.allCases.randomElement(using: &random) : nil
                needs[open[index].user] = need
                open[index].need(need)
            case (_, nil): continue
            }
            for (loader, need, count) in before where open.contains(where: { $0 === loader }) {
                let others = needs.filter { $0.key != loader.user }.values.min()
                #expect(loader.othersNeed == others)
                #expect(need == others || (loader.needs.count > count && loader.needs.last == others))
            }
        }
    }
}
