import Media
import TestSupport
import Testing

@testable import Loading

@Suite struct ResourceLoadStateTests {
    private let reader = ResourceLoadState.ReaderID(1)

    private func state(
        length: Int64? = nil,
        stored: [ByteRange] = [],
        validators: Validators = Validators(etag: "\"1\""),
        settings: LoadSettings = LoadSettings()
    ) -> StagedLoad {
        var description = EntryDescription()
        description.length = length
        description.validators = validators
        var set = ByteRangeSet()
        for range in stored { set.insert(contentsOf: range) }
        var state = StagedLoad(description, stored: set, settings: settings)
        state.readerOpened(reader)
        return state
    }

    private func fetches(_ actions: [LoadAction]) -> [ByteRange] {
        actions.compactMap { if case .startFetch(let plan) = $0 { plan.asked } else { nil } }
    }

    private func plans(_ actions: [LoadAction]) -> [FetchPlan] {
        actions.compactMap { if case .startFetch(let plan) = $0 { plan } else { nil } }
    }

    private func part(_ range: ByteRange, of total: Int64, etag: String? = "\"1\"") -> RangeAnswer {
        RangeAnswer(kind: .part(range: range, total: total), validators: Validators(etag: etag))
    }

    @Test func `a cold read asks for one window and nothing more`() {
        var state = state()
        #expect(fetches(state.readRequested(reader, at: 0)) == [0..<65_536])
        let answered = state.fetchAnswered(FetchPlan.ID(value: 1), part(0..<65_536, of: 1_000_000))
        #expect(answered.use == .store(from: 0, upTo: 65_536))
        #expect(fetches(answered.actions).isEmpty)
        #expect(fetches(state.bytesStored(0..<65_536, by: FetchPlan.ID(value: 1))).isEmpty)
        #expect(fetches(state.fetchEnded(FetchPlan.ID(value: 1), error: nil)).isEmpty)
    }

    @Test func `read-ahead begins when it is allowed and ends after its time of music`() {
        var state = state(length: 100 << 20, stored: [0..<65_536])
        _ = state.readRequested(reader, at: 0)
        var next = plans(state.readAheadAllowed(reader, bytesPerSecond: 40_000))
        var end: Int64 = 0
        var rounds = 0
        while let plan = next.first, rounds < 1_000 {
            rounds += 1
            let wanted = plan.asked ?? 0..<0
            end = max(end, wanted.upperBound)
            _ = state.fetchAnswered(plan.id, part(wanted, of: 100 << 20))
            next = plans(state.bytesStored(wanted, by: plan.id))
            next += plans(state.fetchEnded(plan.id, error: nil))
        }
        // At most one window beyond, so that there are never less.
        #expect(end >= 60 * 40_000 && end <= 60 * 40_000 + LoadSettings().largestWindow)
    }

    @Test func `a read inside a window under way waits for it`() {
        var state = state(length: 1 << 20)
        _ = state.readRequested(reader, at: 0)
        #expect(state.readRequested(reader, at: 30_000).isEmpty)
    }

    @Test func `a seek starts the new fetch in the step that ends the old one`() {
        var state = state(length: 10 << 20, stored: [0..<65_536])
        _ = state.readRequested(reader, at: 0)
        let ahead = plans(state.readAheadAllowed(reader, bytesPerSecond: 40_000))
        #expect(ahead.count == 1)
        _ = state.fetchAnswered(ahead[0].id, part(ahead[0].asked ?? 0..<0, of: 10 << 20))
        state.readCancelled(reader)
        let actions = state.readRequested(reader, at: 8 << 20)
        #expect(actions.contains(.cancelFetch(ahead[0].id)))
        #expect(fetches(actions).first?.lowerBound == 8 << 20)
        #expect(fetches(actions).first?.count == 65_536)
    }

    @Test func `a window that is nearly there ends by itself after a seek`() {
        var state = state(length: 10 << 20)
        _ = state.readRequested(reader, at: 0)
        let id = FetchPlan.ID(value: 1)
        _ = state.fetchAnswered(id, part(0..<65_536, of: 10 << 20))
        _ = state.bytesStored(0..<60_000, by: id)
        let actions = state.readRequested(reader, at: 5 << 20)
        #expect(!actions.contains(.cancelFetch(id)))
    }

    @Test func `closing the last reader ends every fetch`() {
        var state = state(length: 10 << 20)
        _ = state.readRequested(reader, at: 0)
        #expect(state.readerClosed(reader) == [.cancelFetch(FetchPlan.ID(value: 1))])
    }

    @Test func `a body that cannot be resumed is read on wherever the reader goes`() {
        var state = state()
        _ = state.readRequested(reader, at: 0)
        let id = FetchPlan.ID(value: 1)
        let outcome = state.fetchAnswered(id, RangeAnswer(kind: .whole(length: 5 << 20)))
        #expect(outcome.use == .store(from: 0, upTo: 5 << 20))
        #expect(state.readRequested(reader, at: 4 << 20).isEmpty)
        #expect(state.description.acceptsRanges == false)
    }

    @Test func `a server that had no ranges the last time is asked for the gap all the same`() {
        var description = EntryDescription()
        description.length = 1_000_000
        description.acceptsRanges = false
        description.validators = Validators(etag: "\"1\"")
        var state = StagedLoad(description, stored: ByteRangeSet(0..<500_000))
        state.readerOpened(reader)
        #expect(fetches(state.readRequested(reader, at: 500_000)).first?.lowerBound == 500_000)
    }

    @Test func `the length of a body without one is where it ends`() throws {
        var state = state()
        _ = state.readRequested(reader, at: 0)
        let id = FetchPlan.ID(value: 1)
        _ = state.fetchAnswered(id, RangeAnswer(kind: .whole(length: nil)))
        _ = state.bytesStored(0..<1_000, by: id)
        _ = state.readRequested(reader, at: 1_000)
        let wait = try #require(state.wait(of: reader))
        #expect(state.fetchEnded(id, error: nil).contains(.wakeRead(wait)))
        #expect(state.outlook(at: 1_000) == .end)
    }

    @Test func `a cut after some bytes goes on at the exact byte`() {
        var state = state()
        _ = state.readRequested(reader, at: 0)
        let id = FetchPlan.ID(value: 1)
        _ = state.fetchAnswered(id, part(0..<65_536, of: 1 << 20))
        _ = state.bytesStored(0..<10_000, by: id)
        _ = state.readRequested(reader, at: 10_000)
        let actions = state.fetchEnded(id, error: MediaError(.cut, "song", "cut"))
        #expect(fetches(actions).first?.lowerBound == 10_000)
    }

    @Test(
        arguments: [
            (RangeAnswer.Kind.part(range: 0..<10, total: 2_000), Validators(etag: "\"1\"")),
            (.part(range: 500..<600, total: 1_000), Validators(etag: "\"2\"")),
            (.whole(length: 1_000), Validators(etag: "\"2\"")),
            (.whole(length: 999), Validators()),
        ] as [(RangeAnswer.Kind, Validators)]
    )
    func `an answer of another file is recognised`(kind: RangeAnswer.Kind, validators: Validators) {
        var state = state(length: 1_000, stored: [0..<500])
        let plan = plans(state.readRequested(reader, at: 500))
        #expect(plan.first?.ifRange == "\"1\"")
        let outcome = state.fetchAnswered(plan[0].id, RangeAnswer(kind: kind, validators: validators))
        #expect(outcome.use == .discard)
        #expect(state.finalError?.code == .resourceChanged)
        #expect(
            outcome.actions.contains {
                if case .failRead(_, let error) = $0 { error.code == .resourceChanged } else { false }
            }
        )
    }

    @Test func `a change is declared once, however many fetches see it`() {
        var state = state(length: 10 << 20, stored: [0..<65_536])
        let other = ResourceLoadState.ReaderID(2)
        state.readerOpened(other)
        let open = plans(state.readRequested(reader, at: 1 << 20) + state.readRequested(other, at: 5 << 20))
        #expect(open.count == 2)
        var news: [LoadAction] = []
        for plan in open {
            news +=
                state.fetchAnswered(plan.id, part(plan.asked ?? 0..<0, of: 10 << 20, etag: "\"2\"")).actions
        }
        #expect(news.count { $0 == .declareChanged } == 1)
    }

    @Test func `two responses before the first stored byte must be of one file`() {
        var state = state()
        let other = ResourceLoadState.ReaderID(2)
        state.readerOpened(other)
        let open = plans(state.readRequested(reader, at: 0) + state.readRequested(other, at: 5 << 20))
        #expect(open.count == 2)
        let first = state.fetchAnswered(open[0].id, part(0..<65_536, of: 10 << 20))
        #expect(first.use == .store(from: 0, upTo: 65_536))
        let second = part(open[1].asked ?? 0..<0, of: 10 << 20, etag: "\"2\"")
        #expect(state.fetchAnswered(open[1].id, second).use == .discard)
        #expect(state.finalError?.code == .resourceChanged)
    }

    @Test func `of a part that is longer than asked only what was asked for is taken`() {
        var state = state(length: 10 << 20)
        let first = plans(state.readRequested(reader, at: 0))
        let outcome = state.fetchAnswered(first[0].id, part(0..<(10 << 20), of: 10 << 20))
        #expect(outcome.use == .store(from: 0, upTo: 65_536))
    }

    @Test func `of two whole bodies one is enough`() {
        var state = state(length: 10 << 20, stored: [0..<65_536])
        let other = ResourceLoadState.ReaderID(2)
        state.readerOpened(other)
        let open = plans(state.readRequested(reader, at: 1 << 20) + state.readRequested(other, at: 5 << 20))
        let answer = RangeAnswer(kind: .whole(length: 10 << 20), validators: Validators(etag: "\"1\""))
        #expect(state.fetchAnswered(open[0].id, answer).use == .store(from: 0, upTo: 10 << 20))
        #expect(state.fetchAnswered(open[1].id, answer).use == .discard)
    }

    @Test(arguments: [404, 200, 416, 503])
    func `only an answer that brings the music can forbid keeping it`(status: Int) {
        var state = state(length: 1 << 20, stored: [0..<500_000])
        let first = plans(state.readRequested(reader, at: 500_000))
        var answer = RangeAnswer(kind: .refused(status: status), forbidsStoring: true)
        if status == 416 { answer.kind = .unsatisfiable(total: nil) }
        if status == 200 {
            answer.kind = .whole(length: 18)
            answer.contentType = "text/html"
        }
        let outcome = state.fetchAnswered(first[0].id, answer)
        #expect(!outcome.forbidsStoring && outcome.use == .discard)
    }

    @Test func `without validators four kibibytes are asked for again and compared`() {
        var state = state(length: 1 << 20, stored: [0..<100_000], validators: Validators())
        let plan = plans(state.readRequested(reader, at: 100_000)).first
        #expect(plan?.overlap == 95_904..<100_000)
        #expect(plan?.asked?.lowerBound == 95_904)
        #expect(plan?.ifRange == nil)
        _ = state.overlapDiffered(FetchPlan.ID(value: 1))
        #expect(state.finalError?.code == .resourceChanged)
    }

    @Test func `without validators each window begins with bytes that are compared`() {
        var state = state(length: 1 << 20, stored: [0..<100_000], validators: Validators())
        let first = plans(state.readRequested(reader, at: 100_000))[0]
        let asked = 95_904..<165_536 as ByteRange
        #expect(first.asked == asked)
        let answer = RangeAnswer(kind: .part(range: asked, total: 1 << 20))
        #expect(state.fetchAnswered(first.id, answer).use == .store(from: 95_904, upTo: 165_536))
        _ = state.bytesStored(asked, by: first.id)
        _ = state.fetchEnded(first.id, error: nil)
        // The file may have changed between two windows, too.
        let second = plans(state.readRequested(reader, at: 165_536))[0]
        #expect(second.asked?.lowerBound == 161_440)
    }

    @Test(arguments: [404, 401, 410, 301])
    func `a refusal fails the read with the status`(status: Int) {
        var state = state()
        _ = state.readRequested(reader, at: 0)
        let outcome = state.fetchAnswered(FetchPlan.ID(value: 1), RangeAnswer(kind: .refused(status: status)))
        guard case .failRead(_, let error) = outcome.actions.first else {
            Issue.record("the read was not failed: \(outcome.actions)")
            return
        }
        #expect(error.code == .httpStatus && error.description.contains("\(status)"))
    }

    @Test func `an empty resource is at its end at once`() throws {
        var state = state()
        _ = state.readRequested(reader, at: 0)
        let wait = try #require(state.wait(of: reader))
        let outcome = state.fetchAnswered(FetchPlan.ID(value: 1), RangeAnswer(kind: .unsatisfiable(total: 0)))
        #expect(outcome.actions.contains(.wakeRead(wait)))
        #expect(state.outlook(at: 0) == .end)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `no stored byte and no byte under way is ever asked for`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let length = Int64.random(in: 1...2_000_000, using: &random)
        var pieces: [ByteRange] = []
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let start = Int64.random(in: 0..<length, using: &random)
            pieces.append(start..<min(length, start + Int64.random(in: 1...300_000, using: &random)))
        }
        var state = state(length: length, stored: pieces)
        var asked = state.stored
        var open: [FetchPlan] = []
        var pending = state.readAheadAllowed(reader, bytesPerSecond: 40_000)
        var steps = 0
        while !state.isComplete, steps < 3_000 {
            steps += 1
            while let plan = plans(pending).first {
                pending.removeFirst(pending.firstIndex(of: .startFetch(plan)).map { $0 + 1 } ?? 0)
                guard let range = plan.asked else { continue }
                #expect(asked.intersection(RangeSet(range)).isEmpty, "asked twice for a part of \(range)")
                asked.insert(contentsOf: range)
                pending += state.fetchAnswered(plan.id, part(range, of: length)).actions
                open.append(plan)
            }
            pending = []
            if let plan = open.popLast(), let range = plan.asked {
                pending += state.bytesStored(range, by: plan.id)
                pending += state.fetchEnded(plan.id, error: nil)
            } else {
                let missing = state.stored.gaps(in: 0..<length).first?.lowerBound ?? 0
                pending += state.readRequested(reader, at: missing)
            }
        }
        let isComplete = state.isComplete
        #expect(isComplete)
    }
}
