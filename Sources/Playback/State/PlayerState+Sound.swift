import Media

// What the sink reports, and what is heard as time passes.
extension PlayerState {
    mutating func outputStarted() -> [PlayerEffect] {
        output.isRunning = true
        output.recovery = nil
        isBuffering = false
        isPrimed = false
        guard let pass = passes.first else { return [] }
        failures[pass.track.id] = nil
        var effects: [PlayerEffect] = [playingEvent(pass), .allowReadAhead(pass.id)]
        if let writing = lastGranted { effects.append(.release(writing.id)) }
        lastPositionEvent = now
        if output.isFinishing { effects.append(.drain) }
        return effects
    }

    mutating func outputReported(_ event: OutputEvent) -> [PlayerEffect] {
        switch event {
        case .underrun: return underrun()
        case .lost(let error):
            guard error.code == .audioLost else {
                return leave(.failed, error: error) + cancelPasses() + finish(fatal: error)
            }
            return outputLost(error)
        case .pauseRequested: return pausedByServer()
        case .resumeRequested: return isPaused && isPausedByServer ? obey(.play) : []
        case .volumeChanged(let percent, let isMuted):
            volume = percent
            self.isMuted = isMuted
            return []
        }
    }

    /// The sink has run dry. It stands still until there is enough to go on for a while.
    private mutating func underrun() -> [PlayerEffect] {
        guard phase == .active, output.isRunning, !output.isFinishing, let writing = lastGranted else {
            return []
        }
        output.isRunning = false
        isBuffering = true
        passes[0].stalls += 1
        var effects: [PlayerEffect] = [
            .pauseOutput, .emit(.buffering(index: index(of: passes[0]), position: position)),
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
        let before = passes.first?.id
        var effects = endHeardPasses()
        if passes.first?.isBrokenOff == true {
            return effects + restart(at: position, answersSeek: false, isAfterChange: true)
        }
        effects += silence()
        if let failed = passes.first, failed.stage == .failed {
            effects += endFailed(failed)
            ahead = queue.next(after: queue.current)
        }
        guard let next = passes.first else {
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
    private mutating func endHeardPasses() -> [PlayerEffect] {
        // The sink's count may lag behind its own word that all was heard.
        if let last = timeline.segments.last, let pass = passes.first(where: { $0.id == last.pass }) {
            heard = max(heard, last.start + pass.writtenFrames)
        }
        var effects = advance()
        // Behind the last frame that was heard come passes without a frame.
        while let pass = passes.first, pass.stage == .written, !pass.isBrokenOff {
            effects += end(pass, frames: pass.writtenFrames)
            passes.removeFirst()
            if let next = passes.first, next.stage == .written { effects += becomeCurrent(next) }
        }
        if let pass = passes.first, pass.stage == .changing, let last = timeline.segments.last,
            last.pass == pass.id,
            let format = pass.info?.format
        {
            passes[0].framesBefore += pass.writtenFrames
            // Counted in the rate that ends; the pass is already known by the one that begins.
            let end = last.format.duration(of: pass.landing.frame + pass.writtenFrames)
            passes[0].landing.frame = format.frames(in: end)
            passes[0].writtenFrames = 0
        }
        return effects
    }

    /// The turn of a pass has come that failed while it was prepared.
    private mutating func endFailed(_ pass: Pass) -> [PlayerEffect] {
        consecutiveFailures += 1
        let shown = becomeCurrent(pass)
        let ended = end(pass, frames: 0)
        passes.removeFirst()
        return shown + ended
    }

    /// The end of a pass that was heard to its last frame.
    private mutating func end(_ pass: Pass, frames: FrameCount) -> [PlayerEffect] {
        if let failure = pass.failure {
            record(failure, of: pass)
        } else if pass.framesBefore + frames > 0 {
            consecutiveFailures = 0
        } else {
            consecutiveFailures += 1
        }
        return [
            .endTrack(
                pass.id,
                index: index(of: pass),
                pass.failure == nil ? .finished : .failed,
                frames: pass.framesBefore + frames,
                stalls: pass.stalls,
                pass.failure
            ),
            .cancelPass(pass.id, keepsResource: false),
        ]
    }

    // MARK: Time

    /// Moves the current track on when its last frame was heard in mid-stream.
    mutating func advance() -> [PlayerEffect] {
        var effects: [PlayerEffect] = []
        for passed in timeline.advance(to: heard) {
            guard let pass = passes.first, pass.id == passed.pass else { continue }
            effects += end(pass, frames: passed.frames)
            passes.removeFirst()
            guard let next = passes.first else { continue }
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

    private mutating func becomeCurrent(_ pass: Pass) -> [PlayerEffect] {
        if let place = queue.place(of: pass.track.id) { queue.select(place) }
        failures[pass.track.id] = nil
        return announce(pass)
    }

    mutating func ticked() -> [PlayerEffect] {
        guard phase == .active, output.isRunning, let pass = passes.first else { return [] }
        var effects: [PlayerEffect] = []
        if let duration, duration - position < .seconds(20), lastGranted?.id == pass.id {
            effects += prepareNext()
        }
        if now - lastPositionEvent >= .seconds(1) {
            lastPositionEvent = now
            effects.append(positionEvent(pass))
        }
        return effects
    }

    /// How long until something is to be told: a position, or a track or title that begins to be heard; at most
    /// `limit`.
    package func untilDue(atMost limit: Duration) -> Duration {
        guard output.isRunning, let format = output.format else { return limit }
        var due = min(limit, lastPositionEvent + .seconds(1) - now)
        let titles = passes.first?.comingTitles.first?.frame
        let track = timeline.segments.dropFirst().first?.start
        for frame in [titles, track].compactMap({ $0 }) {
            // Heard is what lies behind it.
            due = min(due, format.duration(of: max(0, frame - heard)) + .milliseconds(5))
        }
        return max(due, .milliseconds(10))
    }

    private func playingEvent(_ pass: Pass) -> PlayerEffect {
        .emit(.playing(index: index(of: pass), position: position, isExact: isExact))
    }

    /// The seconds buffered are the shell's to fill in, who knows the ring and the store.
    func positionEvent(_ pass: Pass) -> PlayerEffect {
        .emit(
            .position(
                index: index(of: pass),
                position: position,
                duration: duration,
                isExact: isExact,
                buffered: .zero
            )
        )
    }
}
