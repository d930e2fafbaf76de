import Media
import System

/// A player that records its commands and shows the snapshots of the test.
final class FakePlayer: PlayerControl {
    private struct State {
        var snapshot: PlayerSnapshot
        var commands: [PlayerCommand] = []
        var snapshotReads = 0
        var isSoundWatched = false
        var pictureReads = 0
    }

    private let state: Locked<State>
    private let changes = Observers<Void>()
    private let events = Observers<PlayerEvent>()
    private let isOverAfterQuit: Bool

    init(_ snapshot: PlayerSnapshot, isOverAfterQuit: Bool = true) {
        state = Locked(State(snapshot: snapshot))
        self.isOverAfterQuit = isOverAfterQuit
    }

    var commands: [PlayerCommand] { state.withLock { $0.commands } }
    var snapshotReads: Int { state.withLock { $0.snapshotReads } }

    func send(_ command: PlayerCommand) {
        state.withLock { $0.commands.append(command) }
        if command == .quit, isOverAfterQuit { publish { $0.isOver = true } }
    }

    func sendInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer) { send(command) }

    func offerInTurn(_ command: PlayerCommand, answer: @escaping CommandAnswer) -> Bool {
        send(command)
        return true
    }

    var snapshot: PlayerSnapshot {
        state.withLock {
            $0.snapshotReads += 1
            return $0.snapshot
        }
    }

    var isSoundWatched: Bool { state.withLock { $0.isSoundWatched } }
    var pictureReads: Int { state.withLock { $0.pictureReads } }

    func watchSound(_ isWatched: Bool) { state.withLock { $0.isSoundWatched = isWatched } }

    /// A different picture at each call: one band after the other is full.
    var soundPicture: SoundPicture? {
        let number = state.withLock { state in
            state.pictureReads += 1
            return state.pictureReads
        }
        let bands = (0..<24).map { $0 == number % 24 ? 1 : 0 as Float }
        return SoundPicture(bands: bands, levels: [SoundPicture.Level(peak: 1, rms: 0.5)])
    }

    func observe(_ observer: @escaping @Sendable () -> Void) -> Observation {
        changes.add { observer() }
    }

    func observeEvents(_ observer: @escaping @Sendable (PlayerEvent) -> Void) -> Observation {
        events.add(observer)
    }

    func publish(_ change: (inout PlayerSnapshot) -> Void) {
        state.withLock { change(&$0.snapshot) }
        changes.send(())
    }
}
