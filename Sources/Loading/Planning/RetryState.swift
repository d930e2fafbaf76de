package import Media

/// Counts the attempts that brought nothing, and says when the next one is due: failures and times in, waits out.
///
/// Holds no clock; every time is on the caller's.
package struct RetryState: Sendable {
    private let policy: RetryPolicy
    private var random: JitterGenerator
    /// Attempts in a row without a byte.
    package private(set) var attempts = 0
    /// Set while the next attempt is awaited or under way; nil again by progress, and when it was given up.
    package private(set) var wait: LoadWait?
    /// Why it was given up; nil until it was, and again by progress.
    package private(set) var surrender: MediaError?
    private var lastFailureAt: Duration?
    /// The server itself said when it wants to be asked again.
    private var isOrdered = false

    /// `seed` decides the jitter, so that a test knows it.
    package init(policy: RetryPolicy = RetryPolicy(), seed: UInt64) {
        self.policy = policy
        random = JitterGenerator(seed: seed)
    }

    /// An attempt brought no byte at `now`. Returns what is waited for, or nil when it was the last attempt:
    /// then the reads fail with `surrender`.
    package mutating func failed(_ error: MediaError, retryAfter: Duration?, now: Duration) -> LoadWait? {
        lastFailureAt = now
        attempts += 1
        guard attempts < policy.mostAttempts else {
            wait = nil
            surrender = givenUp(error)
            return nil
        }
        let delay = policy.delay(after: attempts, jitter: random.next())
        let ordered = retryAfter.map { min($0, policy.longestRetryAfter) } ?? .zero
        isOrdered = ordered > delay
        wait = LoadWait(
            error: error,
            attempt: attempts,
            mostAttempts: policy.mostAttempts,
            retryAt: now + max(delay, ordered)
        )
        return wait
    }

    /// Nothing was learned of the server, for the network is away: it is tried again at `time`, and the attempts
    /// stay as many as they were. Returns what is waited for.
    package mutating func postponed(_ error: MediaError, until time: Duration) -> LoadWait {
        let wait = LoadWait(
            error: error,
            attempt: max(1, attempts),
            mostAttempts: nil,
            retryAt: time
        )
        self.wait = wait
        isOrdered = false
        return wait
    }

    /// An attempt out of turn failed: the one that is due stays due.
    package mutating func failedEarly(now: Duration) { lastFailureAt = now }

    /// New bytes came, or an answer that is final: the server lives, and the next failure is the first.
    package mutating func progressed() {
        attempts = 0
        wait = nil
        surrender = nil
        lastFailureAt = nil
        isOrdered = false
    }

    /// Whether the next attempt is not due yet at `now`.
    package func isWaiting(at now: Duration) -> Bool { wait.map { now < $0.retryAt } ?? false }

    /// Whether a read that comes newly may try at once at `now` all the same.
    package func mayTryEarly(at now: Duration) -> Bool {
        if isOrdered, isWaiting(at: now) { return false }
        return lastFailureAt.map { now - $0 >= policy.leastPause } ?? true
    }

    /// `error` as it is told when nothing is tried any more.
    package func givenUp(_ error: MediaError) -> MediaError {
        var error = error
        error.cause = error.cause + SafeText(" (given up after \(attempts) attempts)")
        return error
    }
}

/// Evenly spread numbers from a seed (SplitMix64, Steele, Lea and Flood 2014).
private struct JitterGenerator: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The next number, 0..<1.
    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) / Double(UInt64(1) << 53)
    }
}
