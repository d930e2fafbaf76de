import Media
import System
import TestSupport
import Testing

@testable import Playback

/// Downloads by the command `download`.
@Suite struct DownloadTests {
    private let cache = FakeCacheStatus()

    /// Tracks of the web, of which the first plays. The others lack bytes, which never arrive by themselves.
    private func stage(_ count: Int = 4, _ change: (inout [FakeMusic]) -> Void = { _ in }) -> Stage {
        var pieces = (1...count).map { FakeMusic(number: $0, frames: 90_000).onTheWeb() }
        for index in 1..<count { pieces[index].storedCount = 9 }
        change(&pieces)
        return Stage(pieces, sink: TestSink(allowance: 0), exitsAtEnd: false, cache: cache)
    }

    private func readers(of number: Int, _ stage: Stage) -> [FakeReader] {
        stage.readers.filter { $0.music.number == number }
    }

    private func playing(_ stage: Stage, _ body: (Stage) async throws -> Void) async throws {
        try await stage.play { stage in
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            try await body(stage)
        }
    }

    private func finish(_ reader: FakeReader) {
        reader.edit {
            $0.stored = ByteRangeSet(0..<($0.length ?? 0))
            $0.fetchedBytes = 7
            $0.requestCount = 3
        }
    }

    private func phases(_ stage: Stage) -> [DownloadReport.Phase] {
        stage.player.snapshot.downloads.map(\.phase)
    }

    private func texts(_ stage: Stage) -> [String] { stage.player.snapshot.messages.map(\.text.string) }

    @Test func `two tracks are downloaded at a time, and one message ends all`() async throws {
        try await playing(stage()) { stage in
            stage.player.send(.download(TrackNumbers(places: RangeSet(1..<4))))
            try await wait(for: "two") { phases(stage) == [.running, .running, .waiting] }
            try await wait(for: "the answer") { texts(stage).last == "Downloading 3 tracks" }
            for number in [2, 3, 4] {
                try await wait(for: "track \(number)") {
                    readers(of: number, stage).contains(where: \.isFilled)
                }
                finish(readers(of: number, stage)[0])
            }
            try await wait(for: "the message") { texts(stage).last == "3 tracks downloaded" }
            #expect(phases(stage).isEmpty)
            let ends = stage.events.compactMap { if case .download(let end) = $0 { end } else { nil } }
            #expect(ends.count == 3 && ends.allSatisfy { $0.fetchedBytes == 7 && $0.requestCount == 3 })
        }
    }

    @Test func `a paused download closes its resource, and continues with what is missing`() async throws {
        try await playing(stage(2)) { stage in
            stage.player.send(.download(2))
            try await wait(for: "the download") { readers(of: 2, stage).contains(where: \.isFilled) }
            stage.player.send(.changeDownloads(.pause, .numbers(2)))
            try await wait(for: "the pause") {
                readers(of: 2, stage).allSatisfy(\.isClosed) && phases(stage) == [.paused]
            }
            stage.player.send(.changeDownloads(.resume, .all))
            try await wait(for: "the rest") { readers(of: 2, stage).count == 2 }
            try await wait(for: "the message") { texts(stage).contains("Continued 1 download") }
        }
    }

    @Test func `a failure stays with its cause until it is cancelled, and the one message names it`()
        async throws
    {
        let error = MediaError(.httpStatus, "http://music.example/2.mp3", "HTTP 404")
        try await playing(stage(3) { $0[1].openFailure = error }) { stage in
            stage.player.send(.download(TrackNumbers(places: RangeSet(1..<3))))
            try await wait(for: "the failure") { phases(stage) == [.failed(error), .running] }
            try await wait(for: "the other") { readers(of: 3, stage).contains(where: \.isFilled) }
            finish(readers(of: 3, stage)[0])
            try await wait(for: "the message") {
                texts(stage).last == "1 track downloaded, 1 failed (2.mp3: HTTP 404)"
            }
            stage.player.send(.changeDownloads(.cancel, .at(stage.player.snapshot.tracks[1].location)))
            try await wait(for: "the end") { phases(stage).isEmpty }
        }
    }

    @Test func `a track of which nothing is missing is said to be cached already`() async throws {
        try await playing(stage(2) { $0[1].storedCount = nil }) { stage in
            stage.player.send(.download(2))
            try await wait(for: "the message") { texts(stage).last == "1 track cached already" }
        }
    }

    @Test func `without a cache, and for a local file, nothing is downloaded`() async throws {
        let music = FakeMusic(number: 1, frames: 90_000)
        for (piece, cache, text) in [
            (music, self.cache, "/music/1.mp3: can't be downloaded (a local file needs no cache)"),
            (
                music.onTheWeb(), nil,
                "music.example/1.mp3: can't be downloaded without a cache (leave out --no-cache)"
            ),
        ] as [(FakeMusic, FakeCacheStatus?, String)] {
            let stage = Stage([piece], sink: TestSink(allowance: 0), exitsAtEnd: false, cache: cache)
            try await playing(stage) { stage in
                stage.player.send(.download(nil))
                try await wait(for: "the answer") { texts(stage).last == text }
            }
        }
    }

    @Test func `commands that concern no download say so`() async throws {
        try await playing(stage(2)) { stage in
            for change in DownloadChange.allCases {
                stage.player.send(.changeDownloads(change, .all))
                try await wait(for: "the answer") {
                    texts(stage).last == "No download to \(change.rawValue)"
                }
            }
            stage.player.send(.changeDownloads(.pause, .numbers(9)))
            try await wait(for: "the answer") { texts(stage).last == "No track 9" }
        }
    }

    @Test func `the downloads of an earlier session begin only once the music plays`() async throws {
        let stage = stage(3)
        let saved = [2, 3].map { FakeMusic(number: $0, frames: 1).onTheWeb().track }
        let downloads = [
            DownloadReport(saved[0], phase: .paused),
            DownloadReport(Track(id: Track.ID(77), location: saved[1].location)),
        ]
        let running = Task { await stage.player.run(sources: ["all"], downloads: downloads) }
        try await wait(for: "the download") { readers(of: 3, stage).contains(where: \.isFilled) }
        try await wait(for: "the snapshot") { phases(stage) == [.paused, .running] }
        // The row of the queue shows the progress.
        #expect(stage.player.snapshot.downloads.map(\.track.id.value) == [2, 3])
        #expect(stage.readers.first?.music.number == 1)
        stage.player.send(.quit)
        _ = await running.value
        #expect(readers(of: 3, stage).last?.isClosed == true)
    }
}
