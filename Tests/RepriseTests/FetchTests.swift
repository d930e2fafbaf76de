@testable import Media
import Testing

@testable import Reprise

@Suite
struct FetchTests {
    private static let entry = CachedItem(url: "s", stored: ByteRangeSet(0..<5), lastPlayed: 0)

    @Test(
        arguments: [
            ([], 0, .success, "0 of 0 tracks are available offline, 0 B downloaded"),
            (
                [.cached(entry, fetched: 7_000), .local], 0, .success,
                "2 of 2 tracks are available offline, 7 kB downloaded"
            ),
            (
                [.cached(entry, fetched: 0), .failed(MediaError(.offline, "s", "c"))], 0, .someFailed,
                "1 of 2 tracks is available offline, 0 B downloaded"
            ),
            (
                [.failed(MediaError(.offline, "s", "c"))], 0, .nothingPlayed,
                "0 of 1 track is available offline, 0 B downloaded"
            ),
            ([.local], 1, .someFailed, "1 of 2 tracks is available offline, 0 B downloaded"),
            ([], 1, .nothingPlayed, "0 of 1 track is available offline, 0 B downloaded"),
        ] as [(outcomes: [FetchOutcome], problems: Int, code: Reprise.ExitCode, text: String)]
    )
    func `the exit code and the summary of a fetch count tracks and failures`(
        outcomes: [FetchOutcome],
        problems: Int,
        code: Reprise.ExitCode,
        text: String
    ) {
        var totals = FetchTotals(trackCount: outcomes.count)
        for outcome in outcomes { totals.count(outcome) }
        for _ in 0..<problems { totals.countProblem() }
        #expect(totals.exitCode == code)
        #expect(totals.summary == text)
    }

    @Test func `pinning without fetching marks each track once`() async throws {
        let cache = FixedCache()
        let supply = MusicSupply(music: ["list": ["http://h/a", "http://h/b", "http://h/a"]])
        let pin = CacheRequest.Action.pin(sources: ["list", "http://h/b"], isFetched: false)
        let pinned = try await CommandRun(pin, cache: cache, supply: supply)
        #expect(pinned.code == .success)
        #expect(pinned.output == ["pinned  a", "pinned  b"])
        #expect(cache.calls == ["pin http://h/a", "pin http://h/b"])
        let unpin = CacheRequest.Action.unpin(sources: ["http://h/b"])
        let unpinned = try await CommandRun(unpin, cache: cache, isJSON: true)
        #expect(
            unpinned.output == [
                #"{"source":"http://h/b","title":null,"size":null,"fetched":null,"pinned":false,"error":null}"#
            ]
        )
        #expect(cache.calls.last == "unpin http://h/b")
    }

    @Test func `a track that cannot be fetched is one message`() async throws {
        let run = try await CommandRun(.fetch(sources: ["http://u:secret@h/a?k=secret"]), cache: FixedCache())
        #expect(run.code == .nothingPlayed)
        #expect(run.said == ["http://h/a?…: nothing is there"])
        #expect(run.notes == ["0 of 1 track is available offline, 0 B downloaded"])
        #expect(run.output.isEmpty)
    }
}
