import Media
import TestSupport
import Testing

@testable import Playback

@Suite struct FillTests {
    /// Tracks of the web, each half cached when it is heard.
    private func stage(_ count: Int, fills: Bool = true) -> Stage {
        let pieces = (1...count).map { FakeMusic(number: $0, frames: 9_000).onTheWeb() }
        return Stage(pieces, sink: TestSink(allowance: 0), fills: fills)
    }

    /// Plays a part of track `number`, and continues with the next.
    private func hear(_ number: Int, on stage: Stage) async throws {
        try await wait(for: "track \(number)") {
            stage.player.snapshot.state == .playing && stage.player.snapshot.currentIndex == number - 1
        }
        stage.readers[number - 1].edit { $0.stored = ByteRangeSet(0..<18_000) }
        let heard = stage.sink.heardFrames
        stage.sink.allow(frames: 10)
        try await wait(for: "the frames to be heard") { stage.sink.heardFrames >= heard + 10 }
        stage.player.send(.next)
        try await wait(for: "the next") {
            stage.player.snapshot.currentIndex == number || stage.player.snapshot.state == .ended
        }
    }

    @Test func `a track that was heard is fetched completely and then closed`() async throws {
        let stage = stage(2)
        try await stage.play { stage in
            try await hear(1, on: stage)
            try await wait(for: "the fetch") { stage.readers[0].isFilled }
            #expect(!stage.readers[0].isClosed)
            stage.readers[0].edit { $0.fetchedBytes = 18_000 }
            try await wait(for: "its end") {
                stage.clock.advance(by: .milliseconds(250))
                return stage.readers[0].isClosed
            }
        }
        #expect(!stage.readers[1].isFilled, "nothing was heard of the second")
    }

    @Test func `quitting ends every background fetch at once`() async throws {
        let stage = stage(3)
        let outcome = try await stage.play { stage in
            for number in 1...2 { try await hear(number, on: stage) }
            try await wait(for: "the fetches") {
                stage.readers.count == 3 && stage.readers.prefix(2).allSatisfy(\.isFilled)
            }
            for reader in stage.readers {
                reader.edit { ($0.requestCount, $0.stored) = (1, ByteRangeSet(0..<9)) }
            }
        }
        #expect(!stage.readers.contains { !$0.isClosed })
        #expect(outcome.summary.requestCount == 3, "their requests are counted")
    }

    @Test func `of too many background fetches the oldest ends`() async throws {
        let stage = stage(6)
        try await stage.play { stage in
            for number in 1...5 { try await hear(number, on: stage) }
            try await wait(for: "the oldest's end") { stage.readers[0].isClosed }
            #expect(stage.readers[1..<5].allSatisfy { !$0.isClosed })
        }
    }

    @Test func `quitting waits until a fetch that was displaced is closed`() async throws {
        let disk = TestClock()
        var pieces = (1...6).map { FakeMusic(number: $0, frames: 9_000).onTheWeb() }
        pieces[0].closing = disk
        let stage = Stage(pieces, sink: TestSink(allowance: 0), fills: true)
        let running = Task { await stage.play() }
        for number in 1...5 { try await hear(number, on: stage) }
        stage.player.send(.quit)
        try await wait(for: "the other fetches to end") { stage.readers[1..<5].allSatisfy(\.isClosed) }
        #expect(!stage.events.contains { if case .summary = $0 { true } else { false } })
        disk.advance(by: .seconds(1))
        _ = await running.value
        #expect(stage.readers[0].isClosed)
    }

    @Test func `playing a track again ends its background fetch`() async throws {
        let stage = stage(2)
        try await stage.play { stage in
            try await hear(1, on: stage)
            try await wait(for: "the fetch") { stage.readers[0].isFilled }
            stage.player.send(.jump(1))
            try await wait(for: "the first again") { stage.readers.count == 3 }
            #expect(stage.readers[0].isClosed, "one reader at a time counts its bytes")
        }
    }

    @Test func `without the setting no track is fetched in the background`() async throws {
        let stage = stage(2, fills: false)
        try await stage.play { stage in
            try await hear(1, on: stage)
            try await wait(for: "the end of the first") { stage.readers[0].isClosed }
        }
        #expect(!stage.readers.contains { $0.isFilled })
    }

    @Test(
        arguments: [
            (100, [], [], 0), (100, [0..<100], [], nil), (100, [0..<10, 20..<100], [], 10),
            (100, [10..<100], [], 0),
            (nil, [], [], 0), (nil, [0..<40, 50..<60], [], 40), (0, [], [], nil), (100, [], [50..<60], 50),
            (100, [0..<10, 50..<55], [50..<60], 10),
        ] as [(length: Int64?, stored: [ByteRange], inFlight: [ByteRange], offset: Int64?)]
    )
    func `a download waits for what is on its way, or else for the first missing byte`(
        length: Int64?,
        stored: [ByteRange],
        inFlight: [ByteRange],
        offset: Int64?
    ) {
        var report = LoadReport()
        report.length = length
        report.stored = ByteRangeSet(stored)
        report.inFlight = inFlight
        #expect(report.missingOffset == offset)
        report.isCached = false
        #expect(report.missingOffset == nil)
    }

    @Test func `on a metered network nothing is fetched after a track was heard`() async throws {
        let stage = stage(3)
        try await stage.play { stage in
            try await hear(1, on: stage)
            try await wait(for: "the fetch") { stage.readers[0].isFilled && !stage.readers[0].isClosed }
            stage.player.networkCost(is: .metered)
            try await wait(for: "its end") { stage.readers[0].isClosed }
            try await hear(2, on: stage)
            try await wait(for: "the end of the next") { stage.readers[1].isClosed }
            #expect(!stage.readers[1].isFilled)
        }
    }
}
