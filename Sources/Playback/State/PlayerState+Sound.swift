import Media

// What the sink reports, and what is heard as time passes.
extension PlayerState {
    mutating func outputStarted() -> [PlayerEffect] {
        output.isRunning = true
        output.recovery = nil
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

    mutating func outputReported(_ event: OutputEvent) -> [PlayerEffect] {
        switch event {
        case .underrun: return underrun()
        case .lost(let error):
            guard error.code == .audioLost else {
                return leave(.failed, error: error) + cancelRuns() + finish(fatal: error)
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
        if let run = runs.first, run.stage == .changing, let last = timeline.segments.last,
            last.run == run.id,
            let format = run.info?.format
        {
            runs[0].framesBefore += run.writtenFrames
            // Counted in the rate that ends; the pass is already known by the one that begins.
            let end = last.format.duration(of: run.landing.frame + run.writtenFrames)
            runs[0].landing.frame = format.frames(in: end)
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

    /// How long until something is to be told: a position, or a track or title that begins to be heard; at most
    /// `limit`.
    package func untilDue(atMost limit: Duration) -> Duration {
        guard output.isRunning, let format = output.format else { return limit }
        var due = min(limit, lastPositionEvent + .seconds(1) - now)
        let titles = runs.first?.comingTitles.first?.frame
        let track = timeline.segments.dropFirst().first?.start
        for frame in [titles, track].compactMap({ $0 }) {
            // Heard is what lies behind it.
            due = min(due, format.duration(of: max(0, frame - heard)) + .milliseconds(5))
        }
        return max(due, .milliseconds(10))
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
