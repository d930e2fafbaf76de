import Glibc

/// What each terminating signal means after the ones before it.
struct SignalState: Sendable {
    enum Action: Sendable, Equatable {
        case end(signal: Int32)
        case endAtOnce
        case none
    }

    /// Senders that say one wish twice do it within this: `timeout` signals the process and its group, a
    /// terminal that closes does it as the shell does.
    static let echo = Duration.seconds(1)

    private var endingSince: Duration?

    /// `endingSince` is when the session was told to end by other means.
    init(endingSince: Duration? = nil) { self.endingSince = endingSince }

    /// The first signal ends in order. Each later one says that waiting is over; only one that can be an
    /// echo of the first does not, and an interrupt, which a hand typed, never is.
    mutating func received(_ signal: Int32, at now: Duration) -> Action {
        guard let endingSince else {
            endingSince = now
            return .end(signal: signal)
        }
        return signal == SIGINT || now - endingSince >= Self.echo ? .endAtOnce : .none
    }
}
