/// A simulated line between the origin and its clients, since loopback has neither latency nor a rate.
package struct Shaping: Sendable, Equatable {
    /// The round-trip time, charged once for every new connection and once for every request,
    /// before the first byte of the answer.
    package var roundTrip: Duration
    /// `true` if a new connection costs one more round trip, as a TLS handshake does.
    package var chargesTLS: Bool
    /// The rate that all bodies share; `nil` for no limit.
    package var bytesPerSecond: Int64?

    package init(roundTrip: Duration = .zero, chargesTLS: Bool = false, bytesPerSecond: Int64? = nil) {
        self.roundTrip = roundTrip
        self.chargesTLS = chargesTLS
        self.bytesPerSecond = bytesPerSecond
    }

    /// The delay of a new connection before its first request.
    var connectionCost: Duration { roundTrip * (chargesTLS ? 2 : 1) }

    /// The most bytes that are handed to the socket at once.
    ///
    /// On a slow line one slice is about 20 ms of it, so that the line is smooth and a client that
    /// leaves is noticed soon.
    var slice: Int {
        guard let bytesPerSecond else { return 64 * 1024 }
        return Int(min(max(bytesPerSecond / 50, 512), 64 * 1024))
    }
}

/// Schedules bytes on a line of limited rate. Pure: the caller passes the time in and waits.
struct LineSchedule: Sendable {
    /// Up to this much unused time may be caught up on, so that timers that fire late
    /// do not cost throughput.
    static let credit = Duration.milliseconds(50)

    let bytesPerSecond: Int64
    private var freeAt: Duration

    /// A line that is free from `now` on.
    init(bytesPerSecond: Int64, now: Duration) {
        precondition(bytesPerSecond > 0, "a line carries at least one byte a second")
        self.bytesPerSecond = bytesPerSecond
        freeAt = now
    }

    /// Reserves the line for `count` bytes and returns the time at which they are due.
    mutating func reserve(_ count: Int, now: Duration) -> Duration {
        freeAt = max(freeAt, now - Self.credit)
        freeAt += .seconds(1) * Double(count) / Double(bytesPerSecond)
        return freeAt
    }
}
