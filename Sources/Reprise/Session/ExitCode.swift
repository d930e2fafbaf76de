import Media

/// How a process ends; the numbers are the contract.
enum ExitCode: Int32, Sendable, CaseIterable {
    /// All was played, or the listener quit.
    case success = 0
    /// Nothing was heard: no audio server, no sink.
    case couldNotStart = 1
    case nothingPlayed = 2
    case someFailed = 3
    case signal = 4
    /// EX_USAGE of sysexits.h.
    case usage = 64

    /// The code of a session that started.
    ///
    /// A signal counts before all, then the listener's own wish to end: with it nothing is wrong that
    /// a script could act on. `unresolvedSources` are arguments that gave no track at all. `isHeard` tells whether
    /// any frame reached the output: of a track that broke off in the middle something could be played.
    static func afterSession(
        _ summary: PlayerEvent.SummaryReport,
        unresolvedSources: Int = 0,
        isHeard: Bool = false,
        isQuit: Bool,
        isSignalled: Bool
    ) -> ExitCode {
        if isSignalled { return .signal }
        if isQuit { return .success }
        guard summary.failed > 0 || unresolvedSources > 0 else { return .success }
        return summary.played > 0 || isHeard ? .someFailed : .nothingPlayed
    }

    /// The code of a session that a failure of its output ended.
    ///
    /// `isHeard` tells whether any frame reached the output before: a disk that is full in mid-play is a
    /// failed track, a sink that could never be opened is a session that never was.
    static func afterFatal(_ summary: PlayerEvent.SummaryReport, isHeard: Bool) -> ExitCode {
        if summary.played > 0 { return .someFailed }
        return isHeard ? .nothingPlayed : .couldNotStart
    }
}
