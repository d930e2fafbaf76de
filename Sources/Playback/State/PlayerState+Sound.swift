import Media

// What the sink reports, and what is heard as time passes.
extension PlayerState {
    mutating func outputStarted() -> [PlayerEffect] {
        output.isRunning = true
        output.isLost = false
        isBuffering = false
        isPrimed = false
        guard let run = runs.first else { return [] }
        failures[run.track.id] = nil
        var effects: [PlayerEffect] = [playingEvent(run), .allowReadAhead(run.id)]
        if let writing = lastGranted { effects.append(.release(writing.id)) }
        lastPositionEvent = now
        if output.isFinishing { effects.append(.drain) }
        return effects
    }

    mutating func outputFailed(_ error: MediaError) -> [PlayerEffect] {
        if error.code == .audioLost { return outputLost(error) }
        if output.isLost, !runs.isEmpty {
            // Still no server. The listener can ask again.
            let start = position
            output = Output(isLost: true)
            isPaused = true
            // The pass may have written for the sink that did not start, so it cannot write from its start.
            return notice(error) + [.forgetOutput] + restart(at: start, answersSeek: false)
        }
        output = Output()
        guard let run = runs.first, error.code == .sinkFormat else {
            return leave(.failed, error: error) + cancelRuns() + finish(fatal: error)
        }
        // This track's format does not fit into the sink; others may.
        runs[0].stage = .ready
        return runFailed(run.id, error, after: 0)
    }

    mutating func outputReported(_ event: OutputEvent) -> [PlayerEffect] {
        switch event {
        case .underrun: return underrun()
        case .lost(let error):
            guard error.code == .audioLost else {
                return leave(.failed, error: error) + cancelRuns() + finish(fatal: error)
            }
            return outputLost(error)
        case .pauseRequested: return obey(.pause)
        case .resumeRequested: return isPaused ? obey(.play) : []
        case .volumeChanged(let percent, let isMuted):
            volume = percent
            self.isMuted = isMuted
            return []
        }
    }

    /// The audio server is gone. The music stands at the position heard, and looks for a server when the
    /// listener wants to go on.
    private mutating func outputLost(_ error: MediaError) -> [PlayerEffect] {
        // Told by the event and by the call that failed.
        guard !(output.isLost && isPaused) else { return [] }
        let told = notice(error)
        output = Output()
        guard phase == .active, let run = runs.first else { return told + [.forgetOutput] }
        output.isLost = true
        isPaused = true
        pausedSince = now
        let paused = PlayerEffect.emit(.paused(index: index(of: run), position: position, isExact: isExact))
        return told + [.forgetOutput, paused] + restart(at: position, answersSeek: false)
    }

    /// The sink has run dry. It stands still until there is enough to go on for a while.
    private mutating func underrun() -> [PlayerEffect] {
        guard phase == .active, output.isRunning, !output.isFinishing, let writing = lastGranted else {
            return []
        }
        output.isRunning = false
        isBuffering = true
        runs[0].stalls += 1
        var effects: [PlayerEffect] = [
            .pauseOutput, .emit(.buffering(index: index(of: runs[0]), position: position)),
        ]
        // Between two tracks nobody writes; the next pass is asked when its turn comes.
        if writing.stage == .writing { effects.append(.requestPrime(writing.id)) }
        return effects
    }

    /// Everything that was written has been heard.
    mutating func drained() -> [PlayerEffect] {
        guard phase == .active, output.isFinishing else { return [] }
        output.isRunning = false
        var ahead = prepared == nil ? placeAhead() : nil
        let before = runs.first?.id
        var effects = endHeardRuns()
        if runs.first?.isBrokenOff == true {
            return effects + restart(at: position, answersSeek: false, isAfterChange: true)
        }
        effects += silence()
        if let failed = runs.first, failed.stage == .failed {
            effects += endFailed(failed)
            ahead = queue.next(after: queue.current)
        }
        guard let next = runs.first else {
            guard let ahead, consecutiveFailures < queue.tracks.count else { return effects + endOfQueue() }
            return effects + begin(ahead, at: .zero)
        }
        if next.id != before {
            if let place = queue.place(of: next.track.id) { queue.select(place) }
            effects += announce(next)
        }
        return effects + (next.stage == .ready || next.stage == .changing ? turn() : [])
    }

    /// Ends every pass that has written all; one that only changed its format stays.
    private mutating func endHeardRuns() -> [PlayerEffect] {
        // The sink's count may lag behind its own word that all was heard.
        if let last = timeline.segments.last, let run = runs.first(where: { $0.id == last.run }) {
            heard = max(heard, last.start + run.writtenFrames)
        }
        var effects = advance()
        // Behind the last frame that was heard come passes without a frame.
        while let run = runs.first, run.stage == .written, !run.isBrokenOff {
            effects += end(run, frames: run.writtenFrames)
            runs.removeFirst()
            if let next = runs.first, next.stage == .written { effects += becomeCurrent(next) }
        }
        if let run = runs.first, run.stage == .changing, timeline.segments.last?.run == run.id {
            runs[0].framesBefore += run.writtenFrames
            runs[0].landing.frame += run.writtenFrames
            runs[0].writtenFrames = 0
        }
        return effects
    }

    /// The turn of a pass has come that failed while it was prepared.
    private mutating func endFailed(_ run: Run) -> [PlayerEffect] {
        consecutiveFailures += 1
        let shown = becomeCurrent(run)
        let ended = end(run, frames: 0)
        runs.removeFirst()
        return shown + ended
    }

    /// The end of a pass that was heard to its last frame.
    private mutating func end(_ run: Run, frames: FrameCount) -> [PlayerEffect] {
        if let failure = run.failure {
            record(failure, of: run)
        } else if run.framesBefore + frames > 0 {
            consecutiveFailures = 0
        } else {
            consecutiveFailures += 1
        }
        return [
            .endTrack(
                run.id,
                index: index(of: run),
                run.failure == nil ? .finished : .failed,
                frames: run.framesBefore + frames,
                stalls: run.stalls,
                run.failure
            ),
            .cancelRun(run.id, keepsResource: false),
        ]
    }

    // MARK: Time

    /// Moves the current track on when its last frame was heard in mid-stream.
    mutating func advance() -> [PlayerEffect] {
        var effects: [PlayerEffect] = []
        for passed in timeline.advance(to: heard) {
            guard let run = runs.first, run.id == passed.run else { continue }
            effects += end(run, frames: passed.frames)
            runs.removeFirst()
            guard let next = runs.first else { continue }
            effects += becomeCurrent(next)
            // It begins where its first frame is, however far the sink has run on by now.
            effects += [
                .emit(.playing(index: index(of: next), position: next.start, isExact: next.landing.isExact)),
                .allowReadAhead(next.id),
            ]
            lastPositionEvent = now
        }
        return effects + showHeardTitle()
    }

    private mutating func becomeCurrent(_ run: Run) -> [PlayerEffect] {
        if let place = queue.place(of: run.track.id) { queue.select(place) }
        failures[run.track.id] = nil
        return announce(run)
    }

    mutating func ticked() -> [PlayerEffect] {
        guard phase == .active, output.isRunning, let run = runs.first else { return [] }
        var effects: [PlayerEffect] = []
        if let duration, duration - position < .seconds(20), lastGranted?.id == run.id {
            effects += prepareNext()
        }
        if now - lastPositionEvent >= .seconds(1) {
            lastPositionEvent = now
            effects.append(positionEvent(run))
        }
        return effects
    }

    private func playingEvent(_ run: Run) -> PlayerEffect {
        .emit(.playing(index: index(of: run), position: position, isExact: isExact))
    }

    /// The seconds buffered are the shell's to fill in, who knows the ring and the store.
    func positionEvent(_ run: Run) -> PlayerEffect {
        .emit(
            .position(
                index: index(of: run),
                position: position,
                duration: duration,
                isExact: isExact,
                buffered: .zero
            )
        )
    }
}
