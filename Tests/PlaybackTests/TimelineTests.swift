import Media
import Testing

@testable import Playback

@Suite struct TimelineTests {
    private func timeline() -> Timeline {
        var timeline = Timeline()
        let format = AudioFormat(sampleRate: 1_000, channelCount: 2)
        for (pass, start, landing) in [(1, 100, 7_000), (2, 400, 0), (3, 400, 0), (4, 401, 0)]
            as [(Int, Int64, Int64)]
        {
            timeline.append(
                Timeline.Segment(
                    pass: PassID(value: pass),
                    start: start,
                    landing: landing,
                    format: format,
                    isExact: true
                )
            )
        }
        return timeline
    }

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
        var timeline = timeline()
        #expect(timeline.advance(to: heard).map(\.pass.value) == passed)
        #expect(timeline.position(at: heard) == .milliseconds(position))
    }

    @Test func `a pass that passed has all its frames, however late that is noticed`() {
        var timeline = timeline()
        #expect(timeline.advance(to: 9_000).map(\.frames) == [300, 0, 1])
    }
}
