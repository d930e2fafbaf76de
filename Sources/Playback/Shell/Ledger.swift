import Media

/// What a session has played, lost and loaded. Pure.
struct Ledger: Sendable {
    private(set) var summary = PlayerEvent.SummaryReport()

    mutating func sourceLost() { summary.failed += 1 }

    mutating func trackEnded(_ report: PlayerEvent.EndReport) {
        switch report.reason {
        case .failed: summary.failed += 1
        case .finished: summary.played += 1
        case .skipped: if report.frames > 0 { summary.played += 1 }
        }
        summary.stalls += report.stalls
    }

    /// A resource is let go of: also one that was only prepared has cost what it has cost.
    mutating func resourceClosed(_ report: LoadReport) {
        summary.cachedBytes += report.cachedBytes
        summary.fetchedBytes += report.fetchedBytes
        summary.requestCount += report.requestCount
    }
}
