import Synchronization

/// Holds answers at a chosen place until it is released, so that tests control the order of events.
///
/// A response is held when it reaches the place. A released gate holds nothing any more.
package final class OriginGate: Sendable {
    package enum Place: Sendable, Equatable {
        /// Requests are read and logged, and not a byte is sent.
        case beforeHead
        /// Every response sends this many bytes of its head, and nothing more.
        case afterHeadBytesOfEach(Int64)
        /// Every response sends its head and this many bytes of its body.
        case afterBytesOfEach(Int64)
        /// All responses together send this many bytes of body, counted from when the gate was made.
        case afterBytesTogether(Int64)
    }

    /// A part of a response.
    enum Part {
        case head
        case body
    }

    private struct State {
        var isReleased = false
        /// Bytes that `letPass` permits beyond the place.
        var extra: Int64 = 0
        var sentTogether: Int64 = 0
        var sentByRequest: [Int: Int64] = [:]
        var held: [Int: CheckedContinuation<Void, Never>] = [:]
        var heldCount = 0
    }

    /// The path whose requests are held; `nil` for all.
    package let path: String?
    package let place: Place

    private let state = Mutex(State())

    init(path: String?, place: Place) {
        self.path = path
        self.place = place
    }

    /// The number of responses held now.
    package var heldCount: Int { state.withLock { $0.held.count } }

    /// `true` if any response has been held here.
    package var isReached: Bool { state.withLock { $0.heldCount > 0 } }

    /// `true` after `release`.
    package var isReleased: Bool { state.withLock { $0.isReleased } }

    /// Lets held and later responses pass.
    package func release() {
        let held = state.withLock { state in
            state.isReleased = true
            defer { state.held = [:] }
            return Array(state.held.values)
        }
        for continuation in held { continuation.resume() }
    }

    /// Lets `count` more bytes pass, per response or in total as `place` says, and then holds again.
    package func letPass(_ count: Int64) {
        let held = state.withLock { state in
            state.extra += count
            defer { state.held = [:] }
            return Array(state.held.values)
        }
        // A response that may still not continue waits again.
        for continuation in held { continuation.resume() }
    }

    /// Permits up to `count` bytes of `part` for `request`; 0 if it must wait.
    func take(upTo count: Int, of part: Part, for request: Int) -> Int {
        state.withLock { state in
            guard governs(part) else { return count }
            let allowed = Int(min(Int64(count), max(0, left(for: request, state))))
            let granted = state.isReleased ? count : allowed
            state.sentTogether += Int64(granted)
            state.sentByRequest[request, default: 0] += Int64(granted)
            return granted
        }
    }

    /// Returns permission that was not used.
    func giveBack(_ count: Int, of part: Part, for request: Int) {
        state.withLock { state in
            guard governs(part) else { return }
            state.sentTogether -= Int64(count)
            state.sentByRequest[request, default: 0] -= Int64(count)
        }
    }

    /// Returns when the gate is released or permits bytes of `part`, or when the task is cancelled.
    func passage(for request: Int, of part: Part? = nil) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    // An earlier cancellation is seen here; a later one finds the continuation in `held`.
                    if state.isReleased || Task.isCancelled { return true }
                    // `letPass` may have been called since the caller was refused.
                    if let part, governs(part), left(for: request, state) > 0 { return true }
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

    private func governs(_ part: Part) -> Bool {
        switch place {
        case .beforeHead: false
        case .afterHeadBytesOfEach: part == .head
        case .afterBytesOfEach, .afterBytesTogether: part == .body
        }
    }

    /// The number of bytes that `request` may still send of the part that this gate governs.
    private func left(for request: Int, _ state: borrowing State) -> Int64 {
        switch place {
        case .beforeHead: 0
        case .afterHeadBytesOfEach(let limit), .afterBytesOfEach(let limit):
            limit + state.extra - state.sentByRequest[request, default: 0]
        case .afterBytesTogether(let limit): limit + state.extra - state.sentTogether
        }
    }
}
