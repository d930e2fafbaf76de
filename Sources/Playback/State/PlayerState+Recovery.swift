import Media

// The audio server that fails, goes away and comes back.
extension PlayerState {
    mutating func outputFailed(_ error: MediaError) -> [PlayerEffect] {
        if error.code == .audioLost { return outputLost(error) }
        // Back already, but without the sink, or not for long: it is waited for all the same.
        if output.recovery != nil, !passes.isEmpty { return waitForOutput(because: error) }
        output = Output()
        guard let pass = passes.first, error.code == .sinkFormat else {
            return leave(.failed, error: error) + cancelPasses() + finish(fatal: error)
        }
        // This track's format does not fit into the sink; others may.
        passes[0].stage = .ready
        return passFailed(pass.id, error, after: 0)
    }

    /// The audio server is gone. The music waits at the position heard, and goes on there when it is back.
    mutating func outputLost(_ error: MediaError) -> [PlayerEffect] {
        // Told by the event and by the call that failed.
        output.isLost ? [] : waitForOutput(because: error)
    }

    private mutating func waitForOutput(because error: MediaError) -> [PlayerEffect] {
        let start = position
        var recovery = output.recovery ?? OutputRecovery()
        let told = recovery.isNews(error) ? notice(error) : []
        recovery.lost()
        output = Output()
        output.recovery = recovery
        guard phase == .active, let pass = passes.first else { return told + [.forgetOutput] }
        let effects = told + [.forgetOutput] + restart(at: start, answersSeek: false)
        guard !isPaused else { return effects }
        return effects + [.emit(.buffering(index: index(of: pass), position: start))]
            + reconnect(atOnce: false)
    }

    /// Looks for the server, unless that is under way already; with `atOnce` without further waiting.
    mutating func reconnect(atOnce: Bool) -> [PlayerEffect] {
        guard let delay = output.recovery?.attempt(atOnce: atOnce), let attempt = output.recovery?.number
        else {
            return []
        }
        return [.reconnectOutput(after: delay, attempt: attempt)]
    }

    mutating func outputReached(_ attempt: Int) -> [PlayerEffect] {
        guard output.recovery?.reached(attempt) == true, phase == .active, passes.first?.stage == .ready
        else {
            return []
        }
        return turn()
    }

    mutating func outputUnreachable(_ attempt: Int) -> [PlayerEffect] {
        guard output.recovery?.failed(attempt) == true else { return [] }
        // Who pauses, or has stopped, does not wait for it: the next wish looks again.
        guard phase == .active, !isPaused else { return [] }
        return reconnect(atOnce: false)
    }

    /// A policy of the server wants silence, for a call: its own word may end that, unless the listener pauses too.
    mutating func pausedByServer() -> [PlayerEffect] {
        guard phase == .active, !isPaused else { return [] }
        defer { isPausedByServer = true }
        return obey(.pause)
    }
}
