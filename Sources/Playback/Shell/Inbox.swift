import Media
import System

/// The inputs that the player has not handled yet. May be used from any thread.
final class Inbox: Sendable {
    private let state = Monitor(InboxState())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() { (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    var count: Int { state.withLock { $0.count } }

    /// Adds an input; never waits. `quit` overtakes all others but `save`. Inputs after `close` are dropped.
    func put(_ input: PlayerInput) {
        state.withLock { $0.put(input) }
        signal.yield()
    }

    /// Adds a command of a script, which overtakes nothing. Blocks the calling thread while there is no
    /// room for a command.
    func putInTurn(_ command: PlayerCommand, _ answer: CommandAnswer? = nil) {
        state.withLock(when: \.hasRoom) { $0.append(.scripted(command, answer: answer)) }
        signal.yield()
    }

    /// Adds a command of a script, which overtakes nothing, or returns `false` if there is no room for it.
    func offerInTurn(_ command: PlayerCommand, _ answer: @escaping CommandAnswer) -> Bool {
        let hasRoom = state.withLock { state in
            guard state.hasRoom else { return false }
            state.append(.scripted(command, answer: answer))
            return true
        }
        if hasRoom { signal.yield() }
        return hasRoom
    }

    /// Waits for the next input; returns `nil` after `close`, or if the task is cancelled. Only one task at a
    /// time may call this.
    func next() async -> PlayerInput? {
        while true {
            if let input = state.withLock({ $0.take() }) { return input }
            var iterator = signals.makeAsyncIterator()
            guard await iterator.next() != nil else { return nil }
        }
    }

    /// Sets the number of commands that were taken but are not carried out yet.
    func setUnfinished(_ count: Int) { state.withLock { $0.unfinished = count } }

    /// Accepts no more inputs; returns those that were not handled.
    func close() -> [PlayerInput] {
        defer { signal.finish() }
        return state.withLock { $0.close() }
    }
}

/// A queue of inputs. Pure. Each operation costs the same however many inputs wait, on average.
///
/// Consecutive seeks are merged into one, so that a key held down does not begin a pass for each repetition.
struct InboxState: Sendable {
    /// The most commands of a script that wait or are unfinished.
    static let mostCommands = 1_000

    /// The commands that were taken but are not carried out yet.
    var unfinished = 0
    /// `nil` where an input was taken.
    private var inputs: [PlayerInput?] = []
    /// The index of the next input.
    private var first = 0
    private var commandCount = 0
    private var isClosed = false

    var count: Int { inputs.count - first }

    /// `true` if a script may add a command. After `close` it may too, since the command is dropped.
    var hasRoom: Bool { isClosed || commandCount + unfinished < Self.mostCommands }

    /// Adds an input; `quit`, unless it is a script's, before all others but `save`.
    mutating func put(_ input: PlayerInput) {
        guard case .command(.quit) = input else { return append(input) }
        let waiting = inputs[first...]
        let isQuitting = waiting.contains { if case .command(.quit)? = $0 { true } else { false } }
        guard !isClosed, !isQuitting else { return }
        let isSave = { (input: PlayerInput?) in if case .save? = input?.command { true } else { false } }
        inputs = waiting.filter(isSave) + [input] + waiting.filter { !isSave($0) }
        first = 0
        commandCount += 1
    }

    /// Adds an input after all others.
    mutating func append(_ input: PlayerInput) {
        guard !isClosed else { return }
        // Two seeks that are both answered stay two.
        if case .seek(let later)? = input.command, input.asker == nil, first < inputs.count,
            let last = inputs[inputs.count - 1], last.asker == nil, case .seek(let earlier)? = last.command,
            let both = earlier.merged(with: later)
        {
            inputs[inputs.count - 1] = .command(.seek(both))
            return
        }
        if input.command != nil { commandCount += 1 }
        inputs.append(input)
    }

    /// Removes and returns the next input; `nil` if none waits.
    mutating func take() -> PlayerInput? {
        guard first < inputs.count else { return nil }
        let input = exchange(&inputs[first], with: nil)
        first += 1
        // Moves the rest only once it is the smaller half, so that no input is moved more than once on
        // average.
        if first * 2 >= inputs.count {
            inputs.removeFirst(first)
            first = 0
        }
        if input?.command != nil { commandCount -= 1 }
        return input
    }

    /// Accepts no more inputs; returns those that wait.
    mutating func close() -> [PlayerInput] {
        isClosed = true
        defer {
            inputs = []
            first = 0
            commandCount = 0
        }
        return inputs[first...].compactMap { $0 }
    }
}

extension SeekTarget {
    /// A single target with the same result as this one followed by `later`; `nil` if there is none.
    ///
    /// Relative seeks in the same direction can be added: stopping at the start or the end of the track gives
    /// the same result. Relative seeks in opposite directions cannot.
    func merged(with later: SeekTarget) -> SeekTarget? {
        switch (self, later) {
        case (_, .to): later
        case (.by(let first), .by(let second)) where (first < .zero) == (second < .zero): .by(first + second)
        case (.percent, .percent): later
        default: nil
        }
    }
}
