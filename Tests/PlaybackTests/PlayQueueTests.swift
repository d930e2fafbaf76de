import Media
import TestSupport
import Testing

@testable import Playback

/// The order of playing, and the changes of the queue and their undoing.
@Suite struct PlayQueueTests {
    private func queue(_ count: Int, current: Int? = nil, _ mode: RepeatMode = .off) -> PlayQueue {
        var queue = PlayQueue(seed: 1)
        queue.append(numbered(0..<count))
        queue.repeatMode = mode
        if let current { queue.select(current) }
        return queue
    }

    private func numbers(_ queue: PlayQueue) -> [UInt64] { queue.tracks.map(\.id.value) }

    /// The same rules for a list of IDs, with a copy of every earlier list.
    private struct Model {
        var ids: [Track.ID] = []
        var current: Track.ID?
        var added: [Track.ID] = []
        /// The lists before each step, and the number of tracks appended by then.
        var history: [(ids: [Track.ID], addedCount: Int)] = []

        mutating func remember() { history.append((ids, added.count)) }

        mutating func add(_ new: [Track.ID]) {
            ids += new
            added += new
        }

        mutating func undo() {
            guard let last = history.popLast() else { return }
            // Tracks that were appended since stay at the end.
            ids = last.ids + added[last.addedCount...]
        }
    }

    @Test func `what comes next follows the order of playing, and is nothing if one track repeats`() {
        #expect(queue(4, current: 1).upcomingPlaces(most: 9) == [2, 3])
        #expect(queue(4, current: 1).upcomingPlaces(most: 1) == [2])
        #expect(queue(4, current: 1, .all).upcomingPlaces(most: 9) == [2, 3, 0, 1])
        #expect(queue(4, current: 1, .one).upcomingPlaces(most: 9).isEmpty)
        #expect(
            queue(0).upcomingPlaces(most: 9).isEmpty && queue(3, current: 2).upcomingPlaces(most: 9).isEmpty
        )
        var shuffled = queue(50, current: 7)
        shuffled.setShuffle(true)
        let order = shuffled.upcomingPlaces(most: 50)
        #expect(Set(order + [7]) == Set(0..<50) && order != order.sorted())
        #expect(order.first == shuffled.next(after: 7))
    }

    private func randomPlaces(_ count: Int, using random: inout SeededGenerator) -> RangeSet<Int> {
        var places = RangeSet<Int>()
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let start = Int.random(in: 0..<count, using: &random)
            places.insert(contentsOf: start..<Int.random(in: start + 1...count, using: &random))
        }
        return places
    }

    /// The numbers in the arguments are places.
    @Test(
        arguments: [
            (count: 3, wide: 2, current: 0, mode: .off, expected: true),
            (count: 3, wide: 0, current: 0, mode: .off, expected: false),
            (count: 3, wide: 0, current: 1, mode: .off, expected: false),
            (count: 3, wide: 0, current: 1, mode: .all, expected: true),
            (count: 1, wide: 0, current: 0, mode: .all, expected: false),
            (count: 300, wide: 100, current: 0, mode: .off, expected: true),
            (count: 300, wide: 101, current: 0, mode: .off, expected: false),
        ] as [(count: Int, wide: Int, current: Int, mode: RepeatMode, expected: Bool)]
    )
    func `the names of the next 100 tracks show if samples of more than 16 bits may follow`(
        count: Int,
        wide: Int,
        current: Int,
        mode: RepeatMode,
        expected: Bool
    ) {
        for suffix in ["flac", "WAV", "aiff", "mp3", "ogg", ""] {
            var queue = PlayQueue(seed: 1)
            queue.append(
                (0..<count).map {
                    FakeMusic(number: $0, frames: 1, suffix: $0 == wide ? suffix : "mp3").track
                }
            )
            queue.repeatMode = mode
            #expect(!queue.expectsWideSamples, "nothing plays")
            queue.select(current)
            let isWide = ["flac", "WAV", "aiff"].contains(suffix)
            #expect(queue.expectsWideSamples == (expected && isWide), "\(suffix)")
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `after any changes and undos every track is in its place and the current one stays`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = PlayQueue(seed: seed)
        var model = Model()
        var next = 0
        for _ in 0..<60 {
            let count = model.ids.count
            let place = Int.random(in: 0...max(0, count - 1), using: &random)
            let step = Int.random(in: 0..<11, using: &random)
            switch step {
            case 0:
                let new = numbered(next..<next + 3)
                next += 3
                queue.append(new)
                model.add(new.map(\.id))
            case 1 where count > 0:
                let places = randomPlaces(count, using: &random)
                let wasCurrent = queue.current.map { places.contains($0) } == true
                model.remember()
                queue.remove(places)
                model.ids.removeSubranges(places)
                // The successor is tested elsewhere.
                if wasCurrent { model.current = queue.currentTrack?.id }
            case 2 where count > 0:
                let places = randomPlaces(count, using: &random)
                let before = numbers(queue)
                queue.move(places, to: place)
                var moved = model.ids
                moved.removeSubranges(places)
                moved.insert(contentsOf: places.ranges.flatMap { model.ids[$0] }, at: min(place, moved.count))
                if before != numbers(queue) { model.remember() }
                model.ids = moved
            case 3: queue.setShuffle(!queue.isShuffled)
            case 4 where count > 0:
                queue.select(place)
                model.current = model.ids[place]
            case 5 where count > 0:
                model.remember()
                if seed % 2 == 0 { queue.sort(by: .title, facts: [:]) } else { queue.shuffleNow() }
                #expect(Set(queue.tracks.map(\.id)) == Set(model.ids))
                #expect(seed % 2 == 0 || queue.current == (queue.current == nil ? nil : 0))
                model.ids = queue.tracks.map(\.id)
            case 6:
                let new = numbered(next..<next + 2)
                next += 2
                model.remember()
                queue.add(new)
                model.ids += new.map(\.id)
            case 7, 8:
                // The current track changes only if its addition or a clearing is undone.
                let isRemoved = queue.current.map { queue.history.lastAddition?.contains($0) == true } ?? true
                #expect((queue.undo() != nil) == !model.history.isEmpty)
                model.undo()
                if isRemoved { model.current = queue.currentTrack?.id }
            case 9 where count > 0:
                model.remember()
                queue.clear()
                model.ids = []
                model.current = nil
            default: if count > 0 { queue.bringForward(place) }
            }
            #expect(queue.tracks.map(\.id) == model.ids)
            if let current = model.current { #expect(queue.currentTrack?.id == current) }
            // The order contains every track once.
            var walked: [Int] = []
            var following = queue.next(after: nil)
            while let place = following, walked.count <= model.ids.count {
                walked.append(place)
                following = queue.next(after: place)
            }
            #expect(walked.sorted() == Array(model.ids.indices))
        }
    }

    @Test(arguments: [(RepeatMode.off, nil), (.all, 0)] as [(RepeatMode, UInt64?)])
    func `if the current track and all after it are removed, only repeat-all leads back to the first`(
        mode: RepeatMode,
        next: UInt64?
    ) {
        var queue = queue(5, current: 2)
        queue.repeatMode = mode
        queue.remove(RangeSet(2..<5))
        #expect(queue.currentTrack?.id.value == next)
        queue.remove(RangeSet(queue.tracks.indices))
        #expect(queue.current == nil)
    }

    @Test func `undo goes back fifty steps`() {
        var queue = queue(60)
        for _ in 0..<55 { queue.remove(RangeSet(0..<1)) }
        var count = 0
        while queue.undo() != nil { count += 1 }
        #expect(count == QueueHistory.mostSteps && queue.tracks.count == 55)
    }

    @Test(
        arguments: [
            (.title, [3, 1, 0, 2]), (.artist, [3, 0, 1, 2]), (.duration, [2, 0, 3, 1]),
            (.source, [0, 1, 2, 3]),
        ] as [(SortKey, [UInt64])]
    )
    func `a queue is sorted by the known tags and lengths`(key: SortKey, expected: [UInt64]) {
        let tags = [
            TrackTags(title: "river", artist: "Edda"), TrackTags(title: "Alone"), TrackTags(title: "Wander"),
            TrackTags(),
        ]
        let seconds: [Int?] = [200, nil, 100, nil]
        let tracks = tags.indices.map { index in
            Track(
                id: Track.ID(UInt64(index)),
                location: .file("/music/\(index).mp3"),
                tags: tags[index],
                duration: seconds[index].map { .seconds($0) }
            )
        }
        var queue = PlayQueue(seed: 1)
        queue.append(tracks)
        // The tags of the music take precedence over its file's name.
        let facts = TrackFacts(tags: TrackTags(title: "Ahead", artist: "alba"), duration: .seconds(300))
        queue.sort(by: key, facts: [Track.ID(3): facts])
        #expect(numbers(queue) == expected)
    }

    @Test func `the ends of the playing order are known, also of a shuffled one`() {
        for isShuffled in [false, true] {
            var queue = queue(5)
            if isShuffled { queue.setShuffle(!queue.isShuffled) }
            var place = queue.next(after: nil)
            var ends: [Bool] = []
            while let current = place {
                queue.select(current)
                ends += [queue.hasPrevious, queue.hasNext]
                place = queue.next(after: current)
            }
            #expect(ends == [false] + Array(repeating: true, count: 8) + [false])
            queue.repeatMode = .all
            #expect(queue.hasNext && queue.hasPrevious)
        }
        let empty = PlayQueue(seed: 1)
        #expect(!empty.hasNext && !empty.hasPrevious)
    }

    @Test(arguments: [SortKey.title, .artist, .source])
    func `accents and case do not change the order, and numbers count`(key: SortKey) {
        let names = ["Zoo", "École 10", "ecole 9", "Eve", "alba"]
        var queue = PlayQueue(seed: 1)
        queue.append(
            names.enumerated().map { index, name in
                let tags =
                    key == .source ? TrackTags() : TrackTags(title: SafeText(name), artist: SafeText(name))
                return Track(id: Track.ID(UInt64(index)), location: .file("/\(name).mp3"), tags: tags)
            }
        )
        queue.sort(by: key, facts: [:])
        #expect(numbers(queue) == [4, 2, 1, 3, 0])
    }

    @Test func `the revision counts every change of the tracks except additions, and nothing else`() {
        var queue = queue(5)
        var last = queue.revision
        queue.select(2)
        queue.setShuffle(!queue.isShuffled)
        queue.bringForward(4)
        queue.move(RangeSet(1..<3), to: 1)
        queue.append(numbered(7..<9))
        #expect(queue.revision == last)
        let changes: [(inout PlayQueue) -> Void] = [
            { $0.remove(RangeSet(0..<1)) }, { $0.move(RangeSet(0..<1), to: 2) },
            { $0.sort(by: .title, facts: [:]) }, { $0.shuffleNow() }, { $0.clear() },
            { _ = $0.undo() },
        ]
        for change in changes {
            change(&queue)
            #expect(queue.revision > last)
            last = queue.revision
        }
    }

    @Test(
        arguments: [
            (.off, 0, 1, 1), (.off, 2, nil, nil), (.one, 1, 1, 2), (.one, 2, 2, nil), (.all, 2, 0, 0),
        ] as [(RepeatMode, Int, Int?, Int?)]
    )
    func `the next track depends on the repeat mode, and on the end of the current one`(
        mode: RepeatMode,
        place: Int,
        afterEnd: Int?,
        afterSkip: Int?
    ) {
        let queue = queue(3, current: place, mode)
        #expect(queue.nextAfterEnd(of: place) == afterEnd)
        #expect(queue.next(after: place) == afterSkip)
    }

    @Test func `choosing a track in a shuffled queue skips no other`() {
        var queue = queue(20, current: 3)
        queue.setShuffle(!queue.isShuffled)
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
