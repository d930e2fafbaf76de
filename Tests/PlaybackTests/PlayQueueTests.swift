import Media
import TestSupport
import Testing

@testable import Playback

@Suite struct PlayQueueTests {
    private func queue(_ count: Int, current: Int?, _ mode: RepeatMode = .off) -> PlayQueue {
        var random = SeededGenerator(seed: 1)
        var queue = PlayQueue()
        queue.append(numbered(0..<count), using: &random)
        queue.repeatMode = mode
        if let current { queue.select(current) }
        return queue
    }

    @Test(
        arguments: [
            (RepeatMode.off, 0, 1, 1), (.off, 2, nil, nil), (.one, 1, 1, 2), (.one, 2, 2, nil),
            (.all, 2, 0, 0),
        ] as [(RepeatMode, Int, Int?, Int?)]
    )
    func `what follows depends on the mode, and on whether the track ended or was skipped`(
        mode: RepeatMode,
        place: Int,
        afterEnd: Int?,
        afterSkip: Int?
    ) {
        let queue = queue(3, current: place, mode)
        #expect(queue.nextAfterEnd(of: place) == afterEnd)
        #expect(queue.next(after: place) == afterSkip)
    }

    @Test(arguments: [(RepeatMode.off, nil), (.all, 0)] as [(RepeatMode, Int?)])
    func `the last track, removed, is succeeded by the first only when all repeats`(
        mode: RepeatMode,
        next: Int?
    ) {
        var queue = queue(3, current: 2, mode)
        queue.remove(RangeSet(2..<3))
        #expect(queue.current == next)
        var single = self.queue(1, current: 0, mode)
        single.remove(RangeSet(0..<1))
        #expect(single.current == nil)
    }

    @Test func `a track that is chosen in a shuffled queue passes over none`() {
        var random = SeededGenerator(seed: 5)
        var queue = queue(20, current: 3)
        queue.toggleShuffle(using: &random)
        queue.bringForward(11)
        queue.select(11)
        var heard = [3, 11]
        while let next = queue.next(after: queue.current) {
            queue.select(next)
            heard.append(next)
        }
        #expect(heard.sorted() == Array(0..<20))
    }
}
