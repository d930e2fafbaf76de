import Media
import TestSupport
import Testing

@testable import Playback

@Suite struct PlayQueueTests {
    private func tracks(_ numbers: Range<Int>) -> [Track] {
        numbers.map { FakeMusic(number: $0, frames: 1).track }
    }

    private func queue(_ count: Int, current: Int?, _ mode: RepeatMode = .off) -> PlayQueue {
        var random = SeededGenerator(seed: 1)
        var queue = PlayQueue()
        queue.append(tracks(0..<count), using: &random)
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
        queue.remove(at: 2)
        #expect(queue.current == next)
        var single = self.queue(1, current: 0, mode)
        single.remove(at: 0)
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

    /// The same rules over a list of IDs.
    private struct Model {
        var ids: [Track.ID] = []
        var current: Track.ID?
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `adding, removing, moving and shuffling keep the current track and every other`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = PlayQueue()
        var model = Model()
        var next = 0
        for _ in 0..<60 {
            let count = model.ids.count
            let place = Int.random(in: 0...max(0, count - 1), using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let new = tracks(next..<next + 3)
                next += 3
                queue.append(new, using: &random)
                model.ids += new.map(\.id)
            case 1 where count > 0:
                let wasCurrent = model.current == model.ids[place]
                queue.remove(at: place)
                model.ids.remove(at: place)
                // Which one succeeds is another rule's.
                if wasCurrent { model.current = queue.currentTrack?.id }
            case 2 where count > 0:
                let target = Int.random(in: 0..<count, using: &random)
                queue.move(from: place, to: target)
                model.ids.insert(model.ids.remove(at: place), at: target)
            case 3: queue.toggleShuffle(using: &random)
            case 4 where count > 0:
                queue.select(place)
                model.current = model.ids[place]
            default: if count > 0 { queue.bringForward(place) }
            }
            #expect(queue.tracks.map(\.id) == model.ids)
            #expect(queue.currentTrack?.id == model.current)
            // Walking on from the start of the order meets every track once.
            var walked: [Int] = []
            var step = queue.next(after: nil)
            while let place = step, walked.count <= model.ids.count {
                walked.append(place)
                step = queue.next(after: place)
            }
            #expect(walked.sorted() == Array(model.ids.indices))
        }
    }
}
