import Glibc
import Media
import Testing

@testable import Reprise

@Suite
struct SessionEndTests {
    @Test(
        arguments: [
            (2, 0, "", .success), (0, 0, "", .success), (0, 2, "", .nothingPlayed), (1, 2, "", .someFailed),
            (0, 1, "heard", .someFailed), (0, 2, "quit", .success), (2, 0, "quit signalled", .signal),
        ] as [(Int, Int, String, Reprise.ExitCode)]
    )
    func `the exit code tells how the session went`(
        played: Int,
        failed: Int,
        end: String,
        code: Reprise.ExitCode
    ) {
        let isHeard = end == "heard"
        let isQuit = end.hasPrefix("quit")
        let isSignalled = end.hasSuffix("signalled")
        let summary = Self.summary(played: played, failed: failed)
        let actual = ExitCode.afterSession(
            summary,
            isHeard: isHeard,
            isQuit: isQuit,
            isSignalled: isSignalled
        )
        #expect(actual == code)
    }

    private static func summary(played: Int, failed: Int) -> PlayerEvent.SummaryReport {
        var summary = PlayerEvent.SummaryReport()
        summary.played = played
        summary.failed = failed
        return summary
    }

    @Test func `the exit codes have the numbers of the contract`() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 64])
    }

    @Test(
        arguments: [(2, true, .someFailed), (0, true, .nothingPlayed), (0, false, .couldNotStart)]
            as [(Int, Bool, Reprise.ExitCode)]
    )
    func `an output that fails counts by what was heard before`(played: Int, isHeard: Bool, code: ExitCode) {
        #expect(ExitCode.afterFatal(Self.summary(played: played, failed: 1), isHeard: isHeard) == code)
    }

    @Test func `the first signal ends in order, and a later one that is no echo ends at once`() {
        var state = SignalState()
        #expect(state.received(SIGTERM, at: .seconds(5)) == .end(signal: SIGTERM))
        #expect(state.received(SIGTERM, at: .seconds(5.9)) == .none)
        #expect(state.received(SIGHUP, at: .seconds(5.9)) == .none)
        #expect(state.received(SIGTERM, at: .seconds(6)) == .endAtOnce)
        var interrupted = SignalState()
        #expect(interrupted.received(SIGINT, at: .zero) == .end(signal: SIGINT))
        #expect(interrupted.received(SIGINT, at: .zero) == .endAtOnce)
    }

    @Test func `in a session that is ending the first interrupt ends at once`() {
        var state = SignalState(endingSince: .seconds(2))
        #expect(state.received(SIGHUP, at: .seconds(2)) == .none)
        #expect(state.received(SIGINT, at: .seconds(2)) == .endAtOnce)
    }

    @Test func `the last line counts tracks, requests, and bytes by their origin`() {
        var summary = Self.summary(played: 8, failed: 0)
        summary.fetchedBytes = 1_900_000
        summary.requestCount = 12
        #expect(
            SessionSummary.text(summary)
                == "played 8 tracks; 1.9 MB from the network, 0 B from the cache, 12 requests"
        )
        summary.played = 1
        summary.failed = 2
        summary.requestCount = 1
        let text = SessionSummary.text(summary)
        #expect(text.hasPrefix("played 1 track, 2 failed; ") && text.hasSuffix(" 1 request"))
        summary.played = 14
        summary.skipped = 11
        summary.failed = 7
        summary.lostSources = 6
        let mixed = "played 3 tracks, skipped 11, 1 failed, 6 sources unreadable; "
        #expect(SessionSummary.text(summary).hasPrefix(mixed))
        summary.failed = 1
        summary.lostSources = 1
        #expect(
            SessionSummary.text(summary).hasPrefix(
                "played 3 tracks, skipped 11, 1 source unreadable; "
            )
        )
    }
}
