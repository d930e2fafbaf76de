import Media
import System
import TestSupport
import Testing

@testable import Playback

/// Which track is downloaded ahead next, and how long the cached music lasts.
@Suite struct AheadPlanTests {
    /// Tracks 1 to 6 of four minutes, of which the first is current.
    private func plan(
        _ goal: AheadGoal,
        settled: Set<UInt64> = [],
        whole: Set<UInt64> = [],
        lengths: [UInt64: Duration?] = [:],
        estimated: Set<UInt64> = [],
        count: Int = 6
    ) -> AheadPlan {
        let tracks = numbered(1...count)
        var facts = LearnedFacts()
        for track in tracks {
            let number = track.id.value
            let length = lengths[number] ?? .seconds(240)
            facts[track.id] = TrackFacts(duration: length, isExact: !estimated.contains(number))
        }
        return AheadPlan(
            goal,
            current: tracks[0],
            upcoming: tracks.dropFirst(),
            facts: facts,
            isSettled: { settled.contains($0.id.value) },
            isWhole: { whole.contains($0.id.value) }
        )
    }

    private func next(_ plan: AheadPlan) -> UInt64? { plan.next?.id.value }

    @Test func `the current track comes first, then the others in playing order`() {
        #expect(next(plan(.all)) == 1)
        #expect(next(plan(.all, settled: [1])) == 2)
        #expect(next(plan(.all, settled: [1, 2, 4])) == 3)
        #expect(next(plan(.all, settled: Set(1...6))) == nil)
    }

    @Test func `a goal is a time or a number of tracks after the current one`() {
        for goal in [AheadGoal.tracks(2), .time(.seconds(480)), .time(.seconds(241))] {
            #expect(next(plan(goal, settled: [1, 2])) == 3)
            #expect(next(plan(goal, settled: [1, 2, 3])) == nil)
        }
        #expect(next(plan(.time(.seconds(240)), settled: [1, 2])) == nil)
        #expect(next(plan(.tracks(9), settled: Set(1...6))) == nil)
    }

    @Test func `a track of unknown length does not count towards a time`() {
        let settled: Set<UInt64> = [1, 2]
        #expect(next(plan(.time(.seconds(240)), settled: settled, lengths: [2: nil as Duration?])) == 3)
    }

    @Test func `the music lasts to the first track that is not whole, whatever the goal`() {
        let some = plan(.tracks(1), settled: [1, 2], whole: [1, 2, 3, 5])
        #expect(some.hasCurrent && some.time == .seconds(480) && !some.isEstimate && some.next == nil)
        #expect(plan(.all, whole: [2, 3]).hasCurrent == false)
    }

    @Test func `a length that is an estimate or unknown makes the sum an estimate, if it is in it`() {
        #expect(plan(.all, whole: [1, 2, 3], estimated: [3]).isEstimate)
        #expect(plan(.all, whole: [1, 2, 3], lengths: [3: nil as Duration?], estimated: [3]).isEstimate)
        #expect(!plan(.all, whole: [1, 2, 3], estimated: [1, 4]).isEstimate)
    }

    @Test func `a long queue is looked at only so far`() {
        let far = plan(.all, settled: Set(1...10_001), count: 10_010)
        #expect(far.next == nil)
        #expect(next(plan(.all, settled: Set(1...10_000), count: 10_010)) == 10_001)
    }

    @Test(
        arguments: [
            ("2h", AheadGoal.time(.seconds(7_200))), ("30m", .time(.seconds(1_800))),
            ("90", .time(.seconds(90))),
            ("1:30:00", .time(.seconds(5_400))), ("12t", .tracks(12)), ("1t", .tracks(1)), ("all", .all),
            ("0", nil), ("0t", nil), ("t", nil), ("-1t", nil), ("1.5t", nil), ("12T", nil), ("all ", nil),
            ("", nil),
            ("off", nil), ("1000001t", nil),
        ] as [(String, AheadGoal?)]
    )
    func `goals are times, numbers of tracks, or all`(word: String, goal: AheadGoal?) {
        #expect(AheadGoal(word) == goal)
    }
}
