import Media

/// What a line brought lately: its rate, and how long an answer takes.
///
/// Both are medians of the recent few, so that one hiccup, or one answer out of a proxy's memory, does not
/// turn a decision.
package struct LineMeasure: Sendable, Equatable {
    /// So many of each are looked at; odd, so that the median is one of them.
    static let remembered = 5

    private var rates: [Double] = []
    private var firstBytes: [Duration] = []

    package init() {}

    /// A request's answer came `time` after it was sent; `isNew` when a connection was made for it, of which the
    /// handshake takes about as long as the answer.
    package mutating func answered(after time: Duration, onNewConnection isNew: Bool = false) {
        guard time >= .zero else { return }
        firstBytes = (firstBytes + [isNew ? time / 2 : time]).suffix(Self.remembered)
    }

    /// `count` bytes of one body came within `time`.
    package mutating func received(_ count: Int64, in time: Duration) {
        guard count > 0, time > .zero else { return }
        rates = (rates + [Double(count) / time.seconds]).suffix(Self.remembered)
    }

    /// Nil until something was received.
    package var bytesPerSecond: Double? { median(rates) }

    /// From a request to its answer; nil until one was answered.
    package var firstByteTime: Duration? { median(firstBytes) }

    /// How many bytes pass by in the time that a new request's first byte needs; nil until both are known.
    package var bytesPerRequest: Int64? {
        guard let bytesPerSecond, let firstByteTime else { return nil }
        return Int64(min(bytesPerSecond * firstByteTime.seconds, 1e12))
    }

    private func median<Value: Comparable>(_ values: [Value]) -> Value? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }
}

/// Adds up one body's bytes into pieces long enough to tell a rate.
struct BodyWatch: Sendable {
    /// Below this the clock's and the scheduler's steps are a large part of what is measured.
    private static let leastTime = Duration.milliseconds(20)
    /// A longer piece would tell of a change too late.
    private static let leastBytes: Int64 = 32 << 10

    private var began: Duration?
    private var received: Int64 = 0

    /// `count` bytes came at `now`. Returns a piece when one is full.
    ///
    /// The first bytes only start the watch: what came before them was waiting, not rate.
    mutating func received(_ count: Int64, at now: Duration) -> (bytes: Int64, time: Duration)? {
        guard let start = began else {
            began = now
            return nil
        }
        received += count
        guard now - start >= Self.leastTime, received >= Self.leastBytes else { return nil }
        defer {
            began = now
            received = 0
        }
        return (received, now - start)
    }
}
