import Media
import System

/// Controls one pass from the player's loop.
///
/// The pass waits here for its turn to write and, once the sink has enough to start, for the sink to play.
final class PassControl: Sendable {
    private struct State {
        var ring: PCMRing?
        var holds = false
        /// Frames in the ring at which the pass reports that the sink can start; `nil` if no report is
        /// needed.
        var primeTarget: Int?
        var gain = GainStage.unity
        var waiter: OneShot<Bool>?
    }

    private let state = Locked(State())

    /// Lets the pass write into `ring`, and report when it holds `primeTarget` frames.
    func grant(_ ring: PCMRing, primeTarget: Int?, holds: Bool) {
        let waiter = state.withLock { state in
            state.ring = ring
            state.primeTarget = primeTarget
            state.holds = holds
            return state.waiter.take()
        }
        waiter?.give(true)
    }

    /// Withdraws the permission at a change of format; the next `grant` passes the ring to continue with.
    func revoke() { state.withLock { $0.ring = nil } }

    /// `true` if the pass stops once the sink has enough to start, until `release`.
    var isHolding: Bool { state.withLock { $0.holds } }

    func release() {
        let waiter = state.withLock { state in
            state.holds = false
            return state.waiter.take()
        }
        waiter?.give(true)
    }

    /// The gain of the samples that the pass writes next.
    var gain: GainStage { state.withLock { $0.gain } }

    func setGain(_ gain: GainStage) { state.withLock { $0.gain = gain } }

    func requestPrime(at frames: Int) { state.withLock { $0.primeTarget = frames } }

    /// Returns `true` if the pass must report now that the sink can start: once for each request.
    func claimPriming(available: Int, isLast: Bool) -> Bool {
        state.withLock { state in
            guard let target = state.primeTarget, available >= target || isLast else { return false }
            state.primeTarget = nil
            return true
        }
    }

    /// Waits for permission to write and returns the ring.
    func turn() async throws -> PCMRing {
        while true {
            if let ring = state.withLock({ $0.ring }) { return ring }
            try await wait { $0.ring == nil }
        }
    }

    /// Waits while the pass holds (see `isHolding`).
    func goOn() async throws {
        while state.withLock({ $0.holds }) { try await wait { $0.holds } }
    }

    private func wait(while condition: @Sendable (borrowing State) -> Bool) async throws {
        let waiter = OneShot<Bool>()
        let isWaiting = state.withLock { state in
            guard condition(state) else { return false }
            state.waiter = waiter
            return true
        }
        if isWaiting, await !waiter.wait(ifCancelled: false) { throw CancellationError() }
    }
}
