import Media
import System

/// What the player has still to take, in order, from any thread.
///
/// Seeks that wait here one behind the other become one, so that a key held down opens no decoder for
/// each repetition.
final class Inbox: Sendable {
    private struct State {
        var waiting: [PlayerInput] = []
        var isClosed = false
    }

    private let state = Locked(State())
    private let news: AsyncStream<Void>
    private let tellNews: AsyncStream<Void>.Continuation

    init() { (news, tellNews) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Never waits. What comes after `close` is dropped.
    func put(_ input: PlayerInput) {
        state.withLock { state in
            guard !state.isClosed else { return }
            if case .command(.seek(let later)) = input,
                case .command(.seek(let earlier)) = state.waiting.last,
                let both = earlier.merged(with: later)
            {
                state.waiting[state.waiting.count - 1] = .command(.seek(both))
            } else {
                state.waiting.append(input)
            }
        }
        tellNews.yield()
    }

    /// The next input, as soon as there is one; nil when the task is cancelled. One task calls this.
    func next() async -> PlayerInput? {
        while true {
            if let input = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) {
                return input
            }
            var iterator = news.makeAsyncIterator()
            guard await iterator.next() != nil else { return nil }
        }
    }

    /// Takes nothing more. Returns what still waited.
    func close() -> [PlayerInput] {
        defer { tellNews.finish() }
        return state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

extension SeekTarget {
    /// One target that leads where this and then `later` would lead; nil when only both together do.
    ///
    /// Distances of one direction add up, also where the start or the end of the track stops them. Those of
    /// opposite directions do not.
    func merged(with later: SeekTarget) -> SeekTarget? {
        switch (self, later) {
        case (_, .to): later
        case (.by(let first), .by(let second)) where (first < .zero) == (second < .zero): .by(first + second)
        case (.percent, .percent): later
        default: nil
        }
    }
}
