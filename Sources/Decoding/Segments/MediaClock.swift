import Media

/// The time that a segment states for a packet, on a clock of its own.
struct MediaTime: Equatable {
    var time: Duration
    /// `true` if the time may be wrong: many stations state wrong times in ID3 tags.
    var isHint = false
}

/// Turns times of 33 bits at 90 kHz, which begin anew after 26.5 hours, into times that go on. Pure.
struct MediaClock {
    static let rate: Int64 = 90_000
    private static let span: Int64 = 1 << 33

    /// The last time; `nil` before the first.
    private var last: Int64?

    /// The first time is about `time`, if it is given.
    init(near time: Duration? = nil) {
        last = time.map { Int64(min(max($0.seconds, 0), 1e12)) * Self.rate }
    }

    /// The time for `stamp` that is nearest to the last one.
    mutating func time(of stamp: Int64) -> Duration {
        var time = stamp & (Self.span - 1)
        if let last {
            let step = (time - last) & (Self.span - 1)
            time = last + (step < Self.span / 2 ? step : step - Self.span)
        }
        last = time
        return Duration(time, per: Self.rate)
    }
}
