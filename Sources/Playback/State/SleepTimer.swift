import Media

/// Decides when the music fades out and pauses. It counts the time in which music plays, so while paused it
/// stands still. Pure.
struct SleepTimer: Sendable, Equatable {
    /// The length of the fade, unless less is left when the timer is set.
    static let fadeTime = Duration.seconds(5)

    enum Action: Equatable {
        case none
        /// The music becomes silent within `left`, by the last part of a fade of `length`.
        case fade(left: Duration, length: Duration)
        case pause
    }

    /// `nil` without a timer.
    private(set) var goal: SleepGoal?
    /// What is left of the time of a goal that is one.
    private(set) var left = Duration.zero
    /// The length of the fade that has begun; `nil` before it.
    private var fade: Duration?

    /// `true` if the music is fading out.
    var isFading: Bool { fade != nil }

    /// The moment at which the music pauses; `nil` if that is a matter of time alone.
    var point: PlayPoint? { if case .after(let point) = goal { point } else { nil } }

    /// Sets the timer anew, or with `nil` switches it off.
    mutating func set(_ goal: SleepGoal?) {
        self = SleepTimer()
        self.goal = goal
        if case .time(let time) = goal { left = time }
    }

    /// Music has played for `time`.
    mutating func played(_ time: Duration) { left = max(.zero, left - time) }

    /// The time until the next action is due, as far as time alone decides.
    var untilDue: Duration? {
        guard case .time = goal else { return nil }
        return isFading ? left : max(.zero, left - Self.fadeTime)
    }

    /// The action that is due. `untilPoint` is the time until the music ends by the stop that goes with the
    /// timer, if the present track is the last one before and its length is exact.
    mutating func step(untilPoint: Duration?) -> Action {
        let isTimed = point == nil
        guard goal != nil, let left = isTimed ? left : untilPoint else { return .none }
        if isTimed, left == .zero {
            set(nil)
            return .pause
        }
        guard !isFading, left <= Self.fadeTime else { return .none }
        fade = left
        return .fade(left: left, length: left)
    }

    /// The rest of the fade, for a stream that begins during it.
    func rest(untilPoint: Duration?) -> Action {
        guard let fade, let left = point == nil ? left : untilPoint else { return .none }
        return .fade(left: min(left, fade), length: fade)
    }
}
