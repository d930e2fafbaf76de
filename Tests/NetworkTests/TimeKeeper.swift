import Media
import RepriseOrigin
import System
import TestSupport

/// Moves the test clock on when everything waits for it, and never before.
///
/// Everything waits when the loader says so (`LoadReport.wait`), or when each request that is under way is
/// held by the origin and every byte that it sent has arrived. What is seen must be the same in several
/// looks, so that nothing on its way between two threads is overtaken; where none of this can be told,
/// very many looks decide. Time goes to the next deadline and no further.
struct TimeKeeper: Sendable {
    private struct Picture: Equatable {
        var now: Duration
        var sleepers: Int
        var requests: Int
        var underWay: Int
        var held: Int
        var sent: Int64
        var received: Int64
        var asked: Int
        var waits: [Duration]
        var reads: [Int]

        /// `true` if nothing is on its way.
        var isStuck: Bool { underWay == held && requests >= asked }
        var hasAllArrived: Bool { received >= sent }
    }

    /// Looks that must agree where it is clear that all wait.
    private static let fewLooks = 4
    /// Where requests do not reach the origin at all.
    private static let someLooks = 30
    /// And where it is not clear.
    private static let manyLooks = 200

    private let chain: Chain

    init(_ chain: Chain) { self.chain = chain }

    func run() async {
        var last: Picture?
        var looks = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(2))
            let picture = picture
            looks = picture == last ? looks + 1 : 0
            last = picture
            guard looks >= Self.fewLooks else { continue }
            if let retry = picture.waits.filter({ $0 > picture.now }).min(), picture.underWay == picture.held,
                picture.requests >= picture.asked || looks >= Self.someLooks
            {
                chain.clock.advance(to: retry)
            } else if picture.underWay > 0, picture.isStuck, picture.hasAllArrived {
                advance()
            } else if looks >= Self.manyLooks {
                advance()
            } else {
                continue
            }
            looks = 0
        }
    }

    private func advance() {
        if let wake = chain.clock.nextWake { chain.clock.advance(to: wake) }
    }

    private var picture: Picture {
        let readers = chain.readers
        let reports = readers.map(\.reader.report)
        // The answer of one moment: a request that comes later changes the next look.
        let requests = chain.server.log.requests
        let underWay = requests.filter { $0.outcome == .underWay }
        return Picture(
            now: chain.clock.now,
            sleepers: chain.clock.sleeperCount,
            requests: requests.count,
            underWay: underWay.count,
            held: underWay.count { $0.isHeld },
            sent: requests.reduce(0) { $0 + Int64($1.sent.count) },
            received: reports.reduce(0) { $0 + $1.fetchedBytes },
            asked: reports.reduce(0) { $0 + $1.requestCount },
            waits: reports.compactMap(\.wait?.retryAt),
            reads: readers.map(\.waitingReads)
        )
    }
}
