import Media

/// How a fetch went: pure.
struct FetchTally: Sendable, Equatable {
    private(set) var keptCount = 0
    private(set) var failedCount = 0
    private(set) var fetchedBytes: Int64 = 0

    mutating func count(_ outcome: TrackFetch.Outcome) {
        switch outcome {
        case .kept(_, let fetched):
            keptCount += 1
            fetchedBytes += fetched
        case .local: keptCount += 1
        case .failed: failedCount += 1
        }
    }

    /// What was counted as kept is not kept any more.
    mutating func countLoss() {
        keptCount -= 1
        failedCount += 1
    }

    /// A source or an entry of a list that gave no piece at all.
    mutating func countProblem() { failedCount += 1 }

    /// What was marked, or unmarked, and is not fetched.
    mutating func countMark() { keptCount += 1 }

    var exitCode: ExitCode {
        if failedCount == 0 { return .success }
        return keptCount > 0 ? .someFailed : .nothingPlayed
    }

    /// `3 of 4 pieces are available offline, 12 MB fetched`.
    var text: String {
        let all = keptCount + failedCount
        return "\(keptCount) of \(CountText.of(all, "piece", "pieces")) "
            + "\(keptCount == 1 || all == 1 ? "is" : "are") available offline, \(ByteSize.text(fetchedBytes)) fetched"
    }
}
