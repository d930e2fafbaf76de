import Media
import System

/// The recent rate of a connection, and the time until a response.
///
/// Both are medians of the last few measurements, so that one short stall, or one response from a proxy's
/// cache, changes no decision.
package struct LineMeasure: Sendable, Equatable {
    /// The number of measurements to remember of each kind. Odd, so that the median is one of them.
    static let remembered = 5

    /// `true` once a request on a second connection got no response although the first one was free again.
    var servesOneConnection = false
    private var rates: [Double] = []
    private var firstBytes: [Duration] = []

    package init() {}

    /// A response came `time` after its request was sent. If a new connection was made for it, half of that
    /// time was the handshake.
    package mutating func answered(after time: Duration, onNewConnection isNew: Bool = false) {
        guard time >= .zero else { return }
        firstBytes = (firstBytes + [isNew ? time / 2 : time]).suffix(Self.remembered)
    }

    /// `count` bytes of one body arrived within `time`.
    package mutating func received(_ count: Int64, in time: Duration) {
        guard count > 0, time > .zero else { return }
        rates = (rates + [Double(count) / time.seconds]).suffix(Self.remembered)
    }

    /// `nil` until something was received.
    package var bytesPerSecond: Double? { median(rates) }

    /// The time from a request to its response; `nil` until there was one.
    package var firstByteTime: Duration? { median(firstBytes) }

    /// The bytes that arrive in the time until a new request's response; `nil` until both are known.
    package var bytesPerRequest: Int64? {
        guard let bytesPerSecond, let firstByteTime else { return nil }
        return Int64(min(bytesPerSecond * firstByteTime.seconds, 1e12))
    }

    private func median<Value: Comparable>(_ values: [Value]) -> Value? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }
}

/// Adds up one body's bytes into pieces that are long enough to measure a rate.
struct BodyWatch: Sendable {
    /// The shortest time to measure: in less, the granularity of clock and scheduler distorts the result.
    private static let leastTime = Duration.milliseconds(20)
    /// The fewest bytes to measure. A longer piece would show a change of the rate too late.
    private static let leastBytes: Int64 = 32 << 10

    typealias Piece = (bytes: Int64, time: Duration)

    private var began: Duration?
    private var received: Int64 = 0

    /// `count` bytes arrived at `now`. Returns a measurement once the piece is long enough.
    ///
    /// The first bytes only start the measurement: the time before them was spent waiting.
    mutating func received(_ count: Int64, at now: Duration) -> Piece? {
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

/// Remembers the measures of recent servers, so that the next track of a server begins with its measure.
final class LineMeasures: Sendable {
    /// The most servers to remember: more than a listener uses at a time.
    private static let mostServers = 32

    private let measures = Locked<[String: LineMeasure]>([:])

    func measure(of url: WebURL) -> LineMeasure {
        measures.withLock { $0[url.origin] ?? LineMeasure() }
    }

    func keep(_ measure: LineMeasure, of url: WebURL) {
        measures.withLock { measures in
            if measures.count >= Self.mostServers { measures.removeAll() }
            measures[url.origin] = measure
        }
    }
}
