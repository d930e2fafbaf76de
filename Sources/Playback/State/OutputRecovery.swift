import Media

/// The way back to an audio server that went away: when it is looked for. Pure.
struct OutputRecovery: Sendable, Equatable {
    /// A server that is restarted needs about as long.
    static let shortestDelay = Duration.milliseconds(500)
    /// Nobody notices more wake-ups than these; a listener who restarts a server waits as long at most.
    static let longestDelay = Duration.seconds(5)

    private enum Stage: Sendable, Equatable {
        case idle
        /// An attempt waits for its time, or for an answer.
        case trying
        /// The server answers; nothing sounds yet.
        case reached
    }

    private var stage = Stage.idle
    /// Of the newest attempt. Answers to older ones, on their way when it began, are void.
    private(set) var number = 0
    /// Attempts since music sounded last.
    private var attempts = 0
    private var toldError: MediaError?

    var isReached: Bool { stage == .reached }

    /// Whether `error` was not told since music sounded last; true once for each.
    mutating func isNews(_ error: MediaError) -> Bool {
        defer { toldError = error }
        return toldError != error
    }

    /// The server is gone, or gone again.
    mutating func lost() { stage = .idle }

    /// Begins an attempt and returns how long it waits first; nil while one is under way, which `atOnce` replaces.
    mutating func attempt(atOnce: Bool) -> Duration? {
        switch stage {
        case .reached: return nil
        case .trying:
            guard atOnce else { return nil }
            number += 1
            return .zero
        case .idle:
            stage = .trying
            number += 1
            let doublings = min(attempts, 8)
            attempts += 1
            return atOnce ? .zero : min(Self.shortestDelay * (1 << doublings), Self.longestDelay)
        }
    }

    /// The server answers that attempt; false when nobody was looking for it, or no longer by that one.
    mutating func reached(_ attempt: Int) -> Bool {
        guard stage == .trying, attempt == number else { return false }
        stage = .reached
        return true
    }

    /// That attempt came to nothing; false when another has taken its place.
    mutating func failed(_ attempt: Int) -> Bool {
        guard stage == .trying, attempt == number else { return false }
        stage = .idle
        return true
    }
}
