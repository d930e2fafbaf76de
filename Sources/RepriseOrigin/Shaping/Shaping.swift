/// What the line between the origin and its clients costs. Without these, loopback hides it.
package struct Shaping: Sendable, Equatable {
    /// The time there and back: charged once for every new connection and once for every request,
    /// before the first byte of the answer.
    package var roundTrip: Duration
    /// Whether a new connection costs one more round trip, as a TLS handshake does.
    package var chargesTLS: Bool
    /// The rate that all bodies together may have; nil for no bound.
    package var bytesPerSecond: Int64?

    package init(roundTrip: Duration = .zero, chargesTLS: Bool = false, bytesPerSecond: Int64? = nil) {
        self.roundTrip = roundTrip
        self.chargesTLS = chargesTLS
        self.bytesPerSecond = bytesPerSecond
    }

    /// What a new connection is charged before its first request.
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
