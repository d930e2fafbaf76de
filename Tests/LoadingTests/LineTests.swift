import Media
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
        // The line got faster: three of five say so.
        for _ in 1...3 { measure.received(500_000, in: .seconds(1)) }
        #expect(measure.bytesPerSecond == 500_000)
    }

    @Test func `of an answer on a new connection half is the handshake's`() {
        var measure = LineMeasure()
        measure.answered(after: .milliseconds(100), onNewConnection: true)
        #expect(measure.firstByteTime == .milliseconds(50))
        measure.answered(after: .milliseconds(60))
        #expect(measure.firstByteTime == .milliseconds(60))
    }

    @Test func `what says nothing of the line is not counted`() {
        var measure = LineMeasure()
        measure.received(0, in: .seconds(1))
        measure.received(100, in: .zero)
        measure.answered(after: .seconds(-1))
        #expect(measure == LineMeasure())
    }

    @Test func `a body is measured from its first bytes on, in pieces long enough to tell`() {
        var watch = BodyWatch()
        #expect(watch.received(64_000, at: .seconds(5)) == nil)
        #expect(watch.received(20_000, at: .milliseconds(5_100)) == nil)
        let piece = watch.received(20_000, at: .milliseconds(5_200))
        #expect(piece?.bytes == 40_000 && piece?.time == .milliseconds(200))
        #expect(watch.received(40_000, at: .milliseconds(5_210)) == nil, "the next piece begins anew")
    }

    @Test func `each is sent the need of the other, always with a higher revision`() {
        var line = LinePriorities()
        let (current, _) = line.joined()
        let (next, _) = line.joined()
        let sent = [
            line.needs(.readAhead, of: current, revision: 1), line.needs(.prefetch, of: next, revision: 1),
            line.needs(nil, of: current, revision: 2),
        ].flatMap { $0 }
        #expect(sent.map(\.user) == [next, current, next])
        #expect(sent.map(\.othersNeed) == [.readAhead, .prefetch, nil])
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $0.revision < $1.revision })
    }

    @Test func `news that come late change nothing`() {
        var line = LinePriorities()
        let (one, _) = line.joined()
        let (other, _) = line.joined()
        _ = line.needs(nil, of: one, revision: 5)
        #expect(line.needs(.demand, of: one, revision: 4).isEmpty)
        #expect(line.needs(.demand, of: one, revision: 6).map(\.user) == [other])
    }

    @Test func `who comes learns what the others need, and who leaves needs nothing`() {
        var line = LinePriorities()
        let (one, _) = line.joined()
        _ = line.needs(.demand, of: one, revision: 1)
        let (other, news) = line.joined()
        #expect(news.map(\.user) == [other] && news.first?.othersNeed == .demand)
        #expect(line.left(one).map(\.othersNeed) == [nil])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `everyone's last news are the most urgent need of all others`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = LinePriorities()
        var needs: [LinePriorities.User: FetchReason?] = [:]
        var told: [LinePriorities.User: FetchReason?] = [:]
        for step in 1...60 {
            var updates: [LinePriorities.Update] = []
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let joined = line.joined()
                needs[joined.user] = .some(nil)
                told[joined.user] = .some(nil)
                updates = joined.updates
            case 1:
                guard let user = needs.keys.sorted().randomElement(using: &random) else { continue }
                needs[user] = nil
                told[user] = nil
                updates = line.left(user)
            default:
                guard let user = needs.keys.sorted().randomElement(using: &random) else { continue }
                let need =
                    Bool.random(using: &random) ? FetchReason.allCases.randomElement(using: &random) : nil
                needs[user] = .some(need)
                updates = line.needs(need, of: user, revision: step)
            }
            for item in updates { told[item.user] = .some(item.othersNeed) }
            for user in needs.keys {
                let others = needs.filter { $0.key != user }.compactMap(\.value).min()
                #expect(told[user] == .some(others))
            }
        }
    }
}
