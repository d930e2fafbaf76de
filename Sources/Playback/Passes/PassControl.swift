import Media
import System

/// What the player lets one pass of the decoder do.
///
/// The pass waits here for its turn to write and, after the first moments of a start, for the sink to sound.
final class PassControl: Sendable {
    private struct State {
        var ring: PCMRing?
        var holds = false
        /// Frames in the ring at which the player wants to hear; nil when it does not.
        var primeTarget: Int?
        var gain = GainStage.unity
        var waiter: CheckedContinuation<Void, any Error>?
    }

    private let state = Locked(State())

    /// Lets the pass write into `ring`, and tell when `primeTarget` frames are in it.
    func grant(_ ring: PCMRing, primeTarget: Int?, holds: Bool) {
        let waiter = state.withLock { state in
            state.ring = ring
            state.primeTarget = primeTarget
            state.holds = holds
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Takes back the permission, at a change of format: the next grant brings another ring.
    func revoke() { state.withLock { $0.ring = nil } }

    /// Whether the pass will be held once the sink has enough to start.
    var isHolding: Bool { state.withLock { $0.holds } }

    func release() {
        let waiter = state.withLock { state in
            state.holds = false
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// What the pass makes of the samples it writes from now on.
    var gain: GainStage { state.withLock { $0.gain } }

    func setGain(_ gain: GainStage) { state.withLock { $0.gain = gain } }

    func requestPrime(at frames: Int) { state.withLock { $0.primeTarget = frames } }

    /// Whether the wish to hear of a full ring is now fulfilled; true once for each wish.
    func takePrime(available: Int, isLast: Bool) -> Bool {
        state.withLock { state in
            guard let target = state.primeTarget, available >= target || isLast else { return false }
            state.primeTarget = nil
            return true
        }
    }

    /// The ring, as soon as there is permission to write.
    func turn() async throws -> PCMRing {
        while true {
            if let ring = state.withLock({ $0.ring }) { return ring }
            try await wait { $0.ring == nil }
        }
    }

    /// Returns when the pass may go on.
    func goOn() async throws {
        while state.withLock({ $0.holds }) { try await wait { $0.holds } }
    }

    private func wait(while condition: @Sendable (borrowing State) -> Bool) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard condition(state) else { return .success(()) }
                    state.waiter = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume(throwing: CancellationError())
        }
    }
}
