import Glibc
import Media
import Testing

@testable import Reprise

@Suite
struct SessionEndTests {
    @Test(
        arguments: [
            (played: 2, failed: 0, unresolved: 0, isQuit: false, isSignalled: false, code: .success),
            (played: 0, failed: 0, unresolved: 0, isQuit: false, isSignalled: false, code: .success),
            (played: 0, failed: 2, unresolved: 0, isQuit: false, isSignalled: false, code: .nothingPlayed),
            (played: 0, failed: 0, unresolved: 1, isQuit: false, isSignalled: false, code: .nothingPlayed),
            (played: 1, failed: 2, unresolved: 0, isQuit: false, isSignalled: false, code: .someFailed),
            (played: 1, failed: 0, unresolved: 1, isQuit: false, isSignalled: false, code: .someFailed),
            (played: 0, failed: 2, unresolved: 0, isQuit: true, isSignalled: false, code: .success),
            (played: 2, failed: 0, unresolved: 0, isQuit: true, isSignalled: true, code: .signal),
        ]
            as [(
                played: Int, failed: Int, unresolved: Int, isQuit: Bool, isSignalled: Bool,
                code: Reprise.ExitCode
            )]
    )
    func `the exit code tells how the session went`(
        played: Int,
        failed: Int,
        unresolved: Int,
        isQuit: Bool,
        isSignalled: Bool,
        code: Reprise.ExitCode
    ) {
        var summary = PlayerEvent.SummaryReport()
        summary.played = played
        summary.failed = failed
        #expect(
            ExitCode.afterSession(
                summary,
                unresolvedSources: unresolved,
                isQuit: isQuit,
                isSignalled: isSignalled
            ) == code
        )
    }

    @Test func `the numbers of the exit codes are the contract`() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 64])
    }

    @Test func `the first signal ends in order and only a second interrupt ends at once`() {
        var state = SignalState()
        #expect(state.received(SIGTERM) == .end(signal: SIGTERM))
        #expect(state.received(SIGTERM) == .none)
        #expect(state.received(SIGHUP) == .none)
        #expect(state.received(SIGINT) == .endAtOnce)
        var interrupted = SignalState()
        #expect(interrupted.received(SIGINT) == .end(signal: SIGINT))
        #expect(interrupted.received(SIGINT) == .endAtOnce)
    }

    @Test func `the last line tells what came from where`() {
        var summary = PlayerEvent.SummaryReport()
        summary.played = 8
        summary.fetchedBytes = 1_900_000
        summary.requestCount = 12
        #expect(
            SessionSummary.text(summary)
                == "played 8 tracks; 1.9 MB from the network, 0 B from the cache, 12 requests"
        )
        summary.played = 1
        summary.failed = 2
        summary.requestCount = 1
        #expect(SessionSummary.text(summary).hasPrefix("played 1 track, 2 failed; "))
        #expect(SessionSummary.text(summary).hasSuffix(" 1 request"))
    }
}
