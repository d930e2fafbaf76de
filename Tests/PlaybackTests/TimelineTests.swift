import Media
import Testing

@testable import Playback

@Suite struct TimelineTests {
    private func timeline(_ passes: [(pass: Int, start: FrameCount, landing: FrameCount)]) -> Timeline {
        var timeline = Timeline()
        for (pass, start, landing) in passes {
            timeline.append(
                Timeline.Segment(
                    pass: PassID(value: pass),
                    start: start,
                    landing: landing,
                    format: StreamInfo.music().format,
                    isExact: false
                )
            )
        }
        return timeline
    }

    private let short = [(1, 100, 7_000), (2, 400, 0), (3, 400, 0), (4, 401, 0)] as [(Int, Int64, Int64)]

    @Test(
        arguments: [
            (100, [], 7_000), (399, [], 7_299), (400, [], 7_300), (401, [1, 2], 1), (402, [1, 2, 3], 1),
        ] as [(FrameCount, [Int], Int)]
    )
    func `a pass is over when a frame of a later one was heard`(
        heard: FrameCount,
        passed: [Int],
        position: Int
    ) {
        var timeline = timeline(short)
        #expect(timeline.advance(to: heard).map(\.pass.value) == passed)
        #expect(timeline.position(at: heard) == .milliseconds(position))
    }

    @Test func `a pass that passed has all its frames, however late that is noticed`() {
        var timeline = timeline(short)
        #expect(timeline.advance(to: 9_000).map(\.frames) == [300, 0, 1])
    }

    @Test func `a correction moves the positions of all frames of its pass`() {
        var timeline = timeline([(1, 0, 5_000), (1, 300, 5_300), (2, 600, 0)])
        timeline.correct(1, by: -200)
        #expect(timeline.segments.map(\.landing) == [4_800, 5_100, 0])
        #expect(timeline.segments.map(\.isExact) == [true, true, false])
        #expect(timeline.position(at: 100) == .milliseconds(4_900))
    }
}
