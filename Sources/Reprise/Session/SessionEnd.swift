import Media

/// The exit codes of the process; the numbers are part of the contract.
enum ExitCode: Int32, Sendable, CaseIterable {
    /// Everything was played, or the user quit.
    case success = 0
    /// The session could not start: no audio server, no sink, or the cache cannot be used.
    case couldNotStart = 1
    case nothingPlayed = 2
    case someFailed = 3
    case signal = 4
    /// EX_USAGE of sysexits.h.
    case usage = 64

    /// The code of a session that started. `isHeard` is `true` if any frame reached the output: a track that
    /// broke off in the middle counts as a failure, although something was played.
    ///
    /// A signal takes precedence, then quitting by the user: in both cases a script has nothing to act on.
    static func afterSession(
        _ summary: PlayerEvent.SummaryReport,
        isHeard: Bool,
        isQuit: Bool,
        isSignalled: Bool
    ) -> ExitCode {
        if isSignalled { return .signal }
        if isQuit || summary.failed == 0 { return .success }
        return summary.played > 0 || isHeard ? .someFailed : .nothingPlayed
    }

    /// The code of a session that a failure of its output ended. `isHeard` is `true` if any frame reached the
    /// output before: a disk that fills up is a failure of a track, a sink that never opened a failure of the
    /// session.
    static func afterFatal(_ summary: PlayerEvent.SummaryReport, isHeard: Bool) -> ExitCode {
        if summary.played > 0 { return .someFailed }
        return isHeard ? .nothingPlayed : .couldNotStart
    }
}

/// The last line of a session that does not write JSON.
enum SessionSummary {
    /// `played 8 tracks; 1.9 MB from the network, 0 B from the cache, 12 requests`, with the numbers of
    /// skipped and failed tracks and of sources that were unreadable.
    static func text(_ report: PlayerEvent.SummaryReport) -> String {
        let failed = report.failed - report.lostSources
        let lost = report.lostSources
        let others = [
            report.skipped > 0 ? ", skipped \(report.skipped)" : "", failed > 0 ? ", \(failed) failed" : "",
            lost > 0 ? ", \(CountText.of(lost, "source")) unreadable" : "",
        ]
        return "played \(CountText.of(report.played - report.skipped, "track"))\(others.joined()); "
            + "\(SizeText.text(report.fetchedBytes)) from the network, "
            + "\(SizeText.text(report.cachedBytes)) from the cache, "
            + CountText.of(report.requestCount, "request")
    }
}
