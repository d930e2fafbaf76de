import Glibc

/// What each terminating signal means after the ones before it.
struct SignalState: Sendable {
    enum Action: Sendable, Equatable {
        case end(signal: Int32)
        case endAtOnce
        case none
    }

    private var isEnding = false

    init() {}

    mutating func received(_ signal: Int32) -> Action {
        guard isEnding else {
            isEnding = true
            return .end(signal: signal)
        }
        return signal == SIGINT ? .endAtOnce : .none
    }
}
