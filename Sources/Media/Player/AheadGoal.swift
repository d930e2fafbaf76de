/// How much of what the queue plays next is downloaded ahead.
package enum AheadGoal: Sendable, Hashable {
    /// As many tracks after the current one as play for this time, more than 0.
    case time(Duration)
    /// This many tracks after the current one, at least 1.
    case tracks(Int)
    case all

    /// Parses a time as `90`, `1:30`, `30m` or `2h`, a number of tracks as `12t`, or `all`; `nil` for
    /// anything else.
    package init?(_ word: String) {
        if word == "all" {
            self = .all
        } else if word.last == "t", let count = Int(word.dropLast()), (1...1_000_000).contains(count) {
            self = .tracks(count)
        } else if let time = Duration(clockTime: word), time > .zero {
            self = .time(time)
        } else {
            return nil
        }
    }

    /// The goal in words: `2:00:00`, `12 tracks` or `all`.
    package var text: SafeText {
        if case .tracks(let count) = self { SafeText(CountText.of(count, "track")) } else { word }
    }

    /// The goal as `init(_:)` parses it.
    package var word: SafeText {
        switch self {
        case .time(let time): SafeText(time.clockTime)
        case .tracks(let count): SafeText("\(count)t")
        case .all: "all"
        }
    }

    /// `true` if nothing more is wanted after `count` tracks that play for `time`.
    package func isReached(by time: Duration, _ count: Int) -> Bool {
        switch self {
        case .time(let wanted): time >= wanted
        case .tracks(let wanted): count >= wanted
        case .all: false
        }
    }
}

/// How long the music goes on without the network: to the end of the last of the tracks that are whole, from
/// the current one on.
package struct OfflineTime: Sendable, Equatable {
    package var left: Duration
    /// When the music ends, on the player's clock, if it plays on.
    package var end: Duration
    /// `true` if a length is an estimate, or unknown, which counts as 0.
    package var isEstimate: Bool

    package init(left: Duration, end: Duration, isEstimate: Bool) {
        self.left = left
        self.end = end
        self.isEstimate = isEstimate
    }
}
