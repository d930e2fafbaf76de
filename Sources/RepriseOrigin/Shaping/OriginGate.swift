import Synchronization

/// Holds answers at a chosen place until it is released, so that tests are causal.
///
/// A response is held when it wants to go on and may not. Once released a gate lets everything pass.
package final class OriginGate: Sendable {
    package enum Place: Sendable, Equatable {
        /// Requests are read and logged, and get no byte.
        case beforeHead
        /// Every response sends its head and this many bytes of its body.
        case afterBytesOfEach(Int64)
        /// All responses together send this many bytes of body, counted from when the gate was made.
        case afterBytesTogether(Int64)
    }

    private struct State {
        var isReleased = false
        var sentTogether: Int64 = 0
        var sentByRequest: [Int: Int64] = [:]
        var held: [Int: CheckedContinuation<Void, Never>] = [:]
        var heldCount = 0
    }

    /// The path whose requests are held; nil for all.
    package let path: String?
    package let place: Place

    private let state = Mutex(State())

    init(path: String?, place: Place) {
        self.path = path
        self.place = place
    }

    /// How many responses are held now.
    package var heldCount: Int { state.withLock { $0.held.count } }

    /// Whether any response was ever held here.
    package var isReached: Bool { state.withLock { $0.heldCount > 0 } }

    /// Whether `release` was called.
    package var isReleased: Bool { state.withLock { $0.isReleased } }

    /// Lets everything pass that is held now or comes later.
    package func release() {
        let held = state.withLock { state in
            state.isReleased = true
            defer { state.held = [:] }
            return Array(state.held.values)
        }
        for continuation in held { continuation.resume() }
    }

    /// Takes leave to send up to `count` bytes of the body for `request`; 0 when it must wait.
    func take(upTo count: Int, for request: Int) -> Int {
        state.withLock { state in
            let allowed: Int
            switch place {
            case .beforeHead:
                return count
            case .afterBytesOfEach(let limit):
                allowed = Self.allowed(count, limit: limit, used: state.sentByRequest[request, default: 0])
            case .afterBytesTogether(let limit):
                allowed = Self.allowed(count, limit: limit, used: state.sentTogether)
            }
            let granted = state.isReleased ? count : allowed
            state.sentTogether += Int64(granted)
            state.sentByRequest[request, default: 0] += Int64(granted)
            return granted
        }
    }

    /// Gives back leave that was taken and not used.
    func giveBack(_ count: Int, for request: Int) {
        state.withLock { state in
            state.sentTogether -= Int64(count)
            state.sentByRequest[request, default: 0] -= Int64(count)
        }
    }

    /// Returns when the gate is released, or the task is cancelled.
    func passage(for request: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    // A cancellation that came before is seen here, one that comes later finds it held.
                    if state.isReleased || Task.isCancelled { return true }
                    state.held[request] = continuation
                    state.heldCount += 1
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.held.removeValue(forKey: request) }?.resume()
        }
    }

    private static func allowed(_ count: Int, limit: Int64, used: Int64) -> Int {
        Int(min(Int64(count), max(0, limit - used)))
    }
}
