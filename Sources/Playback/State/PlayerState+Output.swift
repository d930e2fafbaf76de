import Media

// The sink, and the failure, loss and return of the audio server.
extension PlayerState {
    mutating func outputStarted() -> [PlayerEffect] {
        output.started()
        guard let pass = lane.current else { return [] }
        announcer.forgetFailure(of: pass.track.id)
        announcer.positionReported()
        var effects: [PlayerEffect] = [
            .emit(.playing(index: index(of: pass), position: position, isExact: isExact)),
            .allowReadAhead(pass.id),
        ]
        if let writing = lane.lastGranted { effects.append(.release(writing.id)) }
        if output.isFinishing { effects.append(.drain) }
        return effects
    }

    mutating func outputReported(_ event: OutputEvent) -> [PlayerEffect] {
        switch event {
        case .underrun: return underrun()
        case .lost(let error):
            guard error.code == .audioLost else {
                return leave(.failed, error: error) + lane.cancelAll() + finish(fatal: error)
            }
            return outputLost(error)
        case .pauseRequested:
            guard phase == .active, !isPaused else { return [] }
            let effects = obey(.pause)
            isPausedByServer = true
            return effects
        case .resumeRequested: return isPaused && isPausedByServer ? obey(.play) : []
        case .volumeChanged(let percent, let isMuted):
            volume = percent
            self.isMuted = isMuted
            return []
        }
    }

    /// The sink had an underrun. It pauses until the ring holds enough PCM.
    private mutating func underrun() -> [PlayerEffect] {
        guard phase == .active, output.isRunning, !output.isFinishing, let writing = lane.lastGranted,
            let pass = lane.current
        else { return [] }
        lane.update(pass.id) { $0.stalls += 1 }
        var effects = output.ranDry()
        effects.append(.emit(.buffering(index: index(of: pass), position: position)))
        // Between two tracks no pass writes; the next one gets the request when its turn comes.
        if writing.stage == .writing { effects.append(.requestPrime(writing.id)) }
        return effects
    }

    mutating func outputFailed(_ error: MediaError) -> [PlayerEffect] {
        if error.code == .audioLost { return outputLost(error) }
        // The server is back but has no sink yet, or is failing again: keep waiting.
        if output.isRecovering, lane.current != nil { return waitForOutput(because: error) }
        output.failed()
        guard let pass = lane.current, error.code == .sinkFormat else {
            return leave(.failed, error: error) + lane.cancelAll() + finish(fatal: error)
        }
        // Only this track's format does not fit into the sink; others may.
        lane.update(pass.id) { $0.stage = .ready }
        return passFailed(pass.id, error, after: 0)
    }

    /// The audio server was lost. Playback stops at the heard position and continues there when the server is
    /// back.
    private mutating func outputLost(_ error: MediaError) -> [PlayerEffect] {
        // Both an event and a failing call report the loss.
        output.isLost ? [] : waitForOutput(because: error)
    }

    private mutating func waitForOutput(because error: MediaError) -> [PlayerEffect] {
        let start = position
        let notices = output.lost(because: error) ? announcer.notice(error) : []
        guard phase == .active, let pass = lane.current else { return notices + [.forgetOutput] }
        let effects = notices + [.forgetOutput] + restart(at: start, answersSeek: false)
        guard !isPaused else { return effects }
        let buffering = PlayerEffect.emit(.buffering(index: index(of: pass), position: start))
        return effects + [buffering] + output.reconnect(atOnce: false)
    }

    mutating func outputReached(_ attempt: Int) -> [PlayerEffect] {
        guard output.reached(by: attempt), phase == .active, lane.current?.stage == .ready else { return [] }
        return grantCurrent()
    }

    mutating func outputUnreachable(_ attempt: Int) -> [PlayerEffect] {
        guard output.unreachable(by: attempt) else { return [] }
        // While paused or stopped, the player does not search again before the next command.
        return phase == .active && !isPaused ? output.reconnect(atOnce: false) : []
    }
}
