import Media
import System
import TestSupport
import Testing

@testable import Playback

/// The tags of tracks that were not played yet.
@Suite struct TagWatchTests {
    private func stage(
        _ pieces: [FakeMusic],
        readsTags: Bool = true,
        cache: FakeCacheStatus? = nil
    ) -> Stage {
        Stage(
            pieces,
            sink: TestSink(allowance: 0),
            exitsAtEnd: false,
            cache: cache,
            readsTags: readsTags
        )
    }

    @Test func `local tracks are read in the background, those on the web are not`() async throws {
        let pieces = (1...40).map { FakeMusic(number: $0, frames: 9_000) }
        let web = FakeMusic(number: 41, frames: 9_000).onTheWeb()
        try await stage(pieces + [web]).play { stage in
            try await wait(for: "the tags") { stage.player.snapshot.learned.revision == 40 }
            #expect(stage.player.snapshot.learned[web.track.id] == nil)
            let facts = stage.player.snapshot.learned[pieces[39].track.id]
            #expect(facts?.duration == pieces[39].format.duration(of: 9_000))
            try await wait(for: "the files being closed") {
                stage.readers.filter { !$0.isClosed }.count <= 2
            }
        }
    }

    @Test func `cached tracks have the tags that the cache knows, without being read`() async throws {
        let cache = FakeCacheStatus()
        let pieces = (1...3).map { FakeMusic(number: $0, frames: 9_000).onTheWeb() }
        cache.set(TrackFacts(tags: TrackTags(title: "Carrier"), duration: .seconds(9)), of: pieces[2].url)
        try await stage(pieces, cache: cache).play { stage in
            let id = pieces[2].track.id
            try await wait(for: "the tags") { stage.player.snapshot.learned[id]?.tags.title == "Carrier" }
            #expect(stage.player.snapshot.learned[id]?.duration == .seconds(9))
            #expect(stage.readers.allSatisfy { $0.music.number != 3 })
        }
    }

    @Test func `a file that is no music is passed over`() async throws {
        var bad = FakeMusic(number: 2, frames: 900)
        bad.openFailure = MediaError(.notAudio, "2.mp3", "Not MP3")
        let pieces = [FakeMusic(number: 1, frames: 90_000), bad, FakeMusic(number: 3, frames: 900)]
        try await stage(pieces).play { stage in
            try await wait(for: "the tags") { stage.player.snapshot.learned[pieces[2].track.id] != nil }
            #expect(stage.player.snapshot.learned[bad.track.id] == nil)
            #expect(stage.player.snapshot.failures.isEmpty && stage.player.snapshot.messages.isEmpty)
        }
    }

    @Test func `a disk that answers no more delays neither the music nor the end`() async throws {
        let pieces = (1...3).map { FakeMusic(number: $0, frames: 900) }
        let disk = Gate()
        let reached = Locked(false)
        let stage = Stage(
            pieces,
            openFile: { _, thread in
                // As a read of a network file system whose server is gone.
                await thread.run {
                    reached.withLock { $0 = true }
                    disk.wait()
                }
                throw MediaError(.unreadable, "disk", "gone")
            }
        )
        let outcome = await stage.play()
        #expect(outcome.summary.played == 3 && outcome.summary.failed == 0)
        try await wait(for: "the first file") { reached.withLock { $0 } }
        disk.open()
    }

    @Test func `the files after the current track are read first`() async throws {
        let read = Locked<[String]>([])
        let pieces = (1...4).map { FakeMusic(number: $0, frames: 9_000) }
        let stage = Stage(
            pieces,
            sink: TestSink(allowance: 0),
            exitsAtEnd: false,
            openFile: { path, _ in
                read.withLock { $0.append(path) }
                throw MediaError(.unreadable, "disk", "gone")
            }
        )
        let running = Task { await stage.player.run(sources: ["all"], start: 3) }
        try await wait(for: "all files") { read.withLock { $0.count == 4 } }
        #expect(read.withLock { $0 } == [3, 4, 1, 2].map { "/music/\($0).mp3" })
        stage.player.send(.quit)
        _ = await running.value
    }

    @Test func `if nobody sees the queue, nothing is read`() async throws {
        let pieces = (1...3).map { FakeMusic(number: $0, frames: 90_000) }
        try await stage(pieces, readsTags: false).play { stage in
            try await wait(for: "the first track") { stage.player.snapshot.info != nil }
            #expect(stage.player.snapshot.learned[pieces[2].track.id] == nil)
        }
    }

    @Test func `the tags found when a track was opened stay`() {
        var announcer = Announcer()
        let id = Track.ID(1)
        announcer.learn([id: TrackFacts(tags: TrackTags(title: "First"))])
        announcer.learn([id: TrackFacts(tags: TrackTags(title: "Second")), Track.ID(2): TrackFacts()])
        #expect(announcer.facts[id]?.tags.title == "First" && announcer.facts.revision == 2)
    }

    // MARK: Sorting before the tags are read

    private static let titles: LearnedFacts = [
        Track.ID(1): TrackFacts(tags: TrackTags(title: "Zebra")),
        Track.ID(2): TrackFacts(tags: TrackTags(title: "Mole")),
        Track.ID(3): TrackFacts(tags: TrackTags(title: "Ant")),
    ]

    private func sortedQueue() -> PlayQueue {
        var queue = PlayQueue(seed: 1)
        queue.append([2, 1, 3].map { FakeMusic(number: $0, frames: 1).track })
        queue.sort(by: .title, facts: [:])
        return queue
    }

    @Test func `a queue sorted before its tags were read is sorted again, and one undo undoes both`() {
        var queue = sortedQueue()
        #expect(queue.tracks.map(\.id.value) == [1, 2, 3])
        let isSorted = (queue.sortAgain(facts: Self.titles), queue.sortAgain(facts: Self.titles))
        #expect(isSorted == (true, false) && queue.tracks.map(\.id.value) == [3, 2, 1])
        _ = queue.undo()
        let isSortedAfterUndo = queue.sortAgain(facts: Self.titles)
        #expect(!isSortedAfterUndo && queue.tracks.map(\.id.value) == [2, 1, 3])
    }

    @Test(
        arguments: [
            { $0.move(RangeSet(0..<1), to: 2) }, { $0.add([FakeMusic(number: 9, frames: 1).track]) },
            { $0.remove(RangeSet(0..<1)) }, { _ = $0.undo() },
        ] as [@Sendable (inout PlayQueue) -> Void]
    )
    func `a queue that was changed since it was sorted stays as it is`(
        change: @Sendable (inout PlayQueue) -> Void
    ) {
        var queue = sortedQueue()
        change(&queue)
        let order = queue.tracks
        let isSorted = queue.sortAgain(facts: Self.titles)
        #expect(!isSorted && queue.tracks == order)
    }
}
