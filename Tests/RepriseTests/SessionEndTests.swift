import Glibc
import Media
import Testing

@testable import Reprise

@Suite
struct SessionEndTests {
    @Test(
        arguments: [
            (played: 2, failed: 0, isQuit: false, isSignalled: false, code: .success),
            (played: 0, failed: 0, isQuit: false, isSignalled: false, code: .success),
            (played: 0, failed: 2, isQuit: false, isSignalled: false, code: .nothingPlayed),
            (played: 1, failed: 2, isQuit: false, isSignalled: false, code: .someFailed),
            (played: 0, failed: 2, isQuit: true, isSignalled: false, code: .success),
            (played: 2, failed: 0, isQuit: true, isSignalled: true, code: .signal),
        ] as [(played: Int, failed: Int, isQuit: Bool, isSignalled: Bool, code: Reprise.ExitCode)]
    )
    func `the exit code tells how the session went`(
        played: Int,
        failed: Int,
        isQuit: Bool,
        isSignalled: Bool,
        code: Reprise.ExitCode
    ) {
        var summary = PlayerEvent.SummaryReport()
        (summary.played, summary.failed) = (played, failed)
        #expect(ExitCode.afterSession(summary, isQuit: isQuit, isSignalled: isSignalled) == code)
    }

    @Test func `the numbers of the exit codes are the contract`() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 64])
    }

    @Test(
        arguments: [
            (played: 2, isHeard: true, code: .someFailed), (played: 0, isHeard: true, code: .nothingPlayed),
            (played: 0, isHeard: false, code: .couldNotStart),
        ] as [(played: Int, isHeard: Bool, code: Reprise.ExitCode)]
    )
    func `an output that fails counts by what was heard before`(
        played: Int,
        isHeard: Bool,
        code: Reprise.ExitCode
    ) {
        var summary = PlayerEvent.SummaryReport()
        summary.played = played
        summary.failed = 1
        #expect(ExitCode.afterFatal(summary, isHeard: isHeard) == code)
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
