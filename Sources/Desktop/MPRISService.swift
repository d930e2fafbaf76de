package import Media
package import System

/// Puts the player on the session's bus as MPRIS describes it, so that media keys, desktops, status bars and
/// scripts see and control it. Without a bus, or without libsystemd, it does nothing.
///
/// It begins only when the start of the music, which it must not delay, is over. Its thread then waits for
/// calls and for changes of the player, and for nothing else: while the music is paused, it sleeps.
package final class MPRISService: Sendable {
    private struct State {
        var moment: MPRISState.Moment
        var signals = MPRISState()
        var hasBegun = false
        var isOver = false
    }

    private let player: any PlayerControl
    private let clock: any MonotonicClock
    private let pipe: WakePipe
    private let state: Locked<State>

    /// Follows `player`, whose positions belong to `clock`, until it is over. Returns at once.
    package static func start(_ player: any PlayerControl, clock: any MonotonicClock) {
        guard let pipe = WakePipe() else { return }
        let service = MPRISService(player, clock, pipe)
        player.observe { service.playerChanged() }
    }

    private init(_ player: any PlayerControl, _ clock: any MonotonicClock, _ pipe: WakePipe) {
        self.player = player
        self.clock = clock
        self.pipe = pipe
        state = Locked(State(moment: MPRISState.Moment(player.snapshot, at: clock.now)))
    }

    /// Called on the player's task at each new snapshot.
    private func playerChanged() {
        let snapshot = player.snapshot
        let moment = MPRISState.Moment(snapshot, at: clock.now)
        let (begins, wakes) = state.withLock { state in
            state.moment = moment
            state.isOver = snapshot.isOver
            let begins = !state.hasBegun && !snapshot.isOver && !snapshot.awaitsMusic
            if begins { state.hasBegun = true }
            return (begins, state.isOver || state.signals.needsSignals(for: moment))
        }
        if wakes { pipe.wake() }
        guard begins else { return }
        BusThread(name: "mpris", clock: clock, pipe: pipe) { self.isOver }.start { self.serve() }
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// Serves the bus until it is lost or the player is over. Returns `false` at once if no bus is found.
    private func serve() -> Bool {
        guard let bus = BusConnection(to: .session),
            bus.publish(answer: { [self] call throws(BusError) in try answer(call) })
        else { return false }
        state.withLock { $0.signals.appeared(with: $0.moment) }
        defer { state.withLock { $0.signals.disappeared() } }
        while !isOver {
            for signal in state.withLock({ $0.signals.signals(for: $0.moment) }) { bus.send(signal) }
            guard bus.process(), bus.wait(orReading: pipe.readEnd) else { break }
            _ = pipe.drain()
        }
        return true
    }

    private func answer(_ call: BusCall) throws(BusError) -> [BusValue] {
        let moment = state.withLock { $0.moment }
        let answer = try MPRISCalls(moment: moment, now: clock.now).answer(call)
        if let command = answer.command { player.send(command) }
        return answer.values
    }
}
