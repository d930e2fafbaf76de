/// When the music fades out and pauses, so that the listener can sleep.
package enum SleepGoal: Sendable, Hashable {
    /// Once music has played for this time, more than 0.
    case time(Duration)
    case after(PlayPoint)

    /// Parses a time as `90`, `1:30`, `30m` or `2h`, or `end` or `album`; `nil` for anything else.
    package init?(_ word: String) {
        switch word {
        case "end": self = .after(.track)
        case "album": self = .after(.album)
        default:
            guard let time = Duration(clockTime: word), time > .zero else { return nil }
            self = .time(time)
        }
    }
}

/// The rest of the music before the sleep timer pauses it.
package struct SleepReport: Sendable, Equatable {
    /// The time for which music still plays; `nil` if a length is unknown.
    package var left: Duration?
    /// The moment at which it pauses; `nil` if that is a matter of time alone.
    package var point: PlayPoint?

    package init(left: Duration?, point: PlayPoint? = nil) {
        self.left = left
        self.point = point
    }
}
