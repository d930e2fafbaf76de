import Media
import TestSupport
import Testing

@testable import Loading

/// A download, or the reading of tags, beside the music: two resources that tell each other what they need.
@Suite struct NeverDelaysTests {
    private struct Line {
        var music = LoadStateStage(length: LoadStateStage.long)
        /// The same music without a download.
        var alone = LoadStateStage(length: LoadStateStage.long)
        var download = LoadStateStage()
        /// The requests in progress, the oldest first.
        var musicPlans: [FetchPlan] = []
        var downloadPlans: [FetchPlan] = []

        /// Lets the same happen to both kinds of music; the download learns what the music needs then.
        mutating func hear(_ event: (inout LoadStateStage) -> [LoadAction]) {
            let actions = event(&music)
            #expect(event(&alone) == actions, "the download changes nothing for the music")
            musicPlans.removeAll { actions.cancelled.contains($0.id) }
            musicPlans += actions.plans
            downloaded(download.othersNeed(music.need))
            #expect(music.othersNeed(download.need).plans.isEmpty)
        }

        mutating func downloaded(_ actions: [LoadAction]) {
            let need = music.need
            #expect(actions.plans.isEmpty || need == nil || need == .prefetch || need == .fill)
            downloadPlans.removeAll { actions.cancelled.contains($0.id) }
            downloadPlans += actions.plans
        }
    }

    @Test func `tags are read once nothing else wants the line, not even a download`() {
        for need in [Urgency.demand, .readAhead, .prefetch, .fill] {
            var head = LoadStateStage()
            head.ask(.tags)
            head.othersNeed(need)
            #expect(head.read(0).plans.isEmpty && head.need == .tags)
            #expect(head.othersNeed(.tags).plans.map(\.urgency) == [.tags])
        }
    }

    @Test(arguments: TestCount.seeds(200, full: 2_000))
    func `no download begins while the music needs the line, and none changes a request of the music`(
        seed: UInt64
    ) throws {
        listen(seed) { $0.ask(.fill) }
    }

    @Test(arguments: TestCount.seeds(200, full: 2_000))
    func `no tags are read while the music needs the line, nor do they change a request of the music`(
        seed: UInt64
    ) throws {
        var next: Int64 = 0
        listen(seed) { stage in
            next += 1 << 16
            return stage.read(next)
        }
    }

    /// Plays, seeks and reads ahead in the music, beside a resource of low priority for which `ask` asks,
    /// and asks again once it has what it asked for.
    private func listen(_ seed: UInt64, _ ask: (inout LoadStateStage) -> [LoadAction]) {
        var random = SeededGenerator(seed: seed)
        var line = Line()
        line.download.ask(.lowPriority(true))
        line.downloaded(ask(&line.download))
        for _ in 0..<80 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                let offset = Int64.random(in: 0..<LoadStateStage.long, using: &random)
                line.hear { $0.read(offset) }
            case 1:
                let rate = Double.random(in: 10_000...200_000, using: &random)
                line.hear { $0.readAhead(rate) }
            case 2, 3:
                guard let plan = line.musicPlans.first else { continue }
                line.musicPlans.removeFirst()
                line.hear { $0.complete(plan) }
            default:
                guard let plan = line.downloadPlans.first else { continue }
                line.downloadPlans.removeFirst()
                line.downloaded(line.download.complete(plan, of: LoadStateStage.long))
                line.downloaded(ask(&line.download))
            }
        }
        line.hear { $0.close($0.reader) }
        #expect(!line.downloadPlans.isEmpty, "without the music, the download goes on")
    }
}
