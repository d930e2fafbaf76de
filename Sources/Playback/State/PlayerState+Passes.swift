import Media

// Tracks and the passes of the decoder: their beginning, order and end.
extension PlayerState {
    /// After a longer pause, a live stream is reconnected, since its buffered sound is no longer live.
    static let longestLivePause = Duration.seconds(5)

    // MARK: Beginning and leaving tracks

    /// Leaves the current track, if any, for the one at `place`.
    mutating func begin(_ place: Int, at start: Duration) -> [PlayerEffect] {
        let track = queue.tracks[place]
        // If this track was prepared as the next one, its pass is used.
        let prepared = lane.prepared.flatMap {
            $0.track.id == track.id && $0.stage != .failed && start == .zero ? $0 : nil
        }
        let effects = leave(.skipped) + lane.cancelAll(except: prepared?.id) + silence()
        queue.select(place)
        phase = .active
        if let prepared {
            lane.begin(prepared)
            return effects + announce(prepared) + (prepared.stage == .ready ? grantCurrent() : [])
        }
        let pass = lane.begin(track, at: start == .zero ? memory?.resumePoint(of: track) ?? .zero : start)
        return effects + announce(pass) + [startEffect(pass)]
    }

    /// Starts the current track again at `start` with its open resource. A live stream reconnects and
    /// continues at the live position.
    mutating func restart(
        at start: Duration,
        answersSeek: Bool,
        refresh: Bool = false,
        reopens: Bool = false,
        requestDelay: Duration = .zero
    ) -> [PlayerEffect] {
        guard let old = lane.current else { return [] }
        let reused = !refresh && !reopens && !old.isLive ? old.id : nil
        let pass = lane.successor(of: old, at: start, answersSeek: answersSeek)
        let effects = lane.cancelAll(reusing: reused) + silence()
        lane.begin(pass)
        var begun = PassStart(id: pass.id, track: pass.track, position: pass.start)
        begun.reusing = reused
        begun.refresh = refresh
        begun.requestDelay = requestDelay
        return effects + [.startPass(begun)]
    }

    /// Starts a pass that opens its track.
    private func startEffect(_ pass: Pass) -> PlayerEffect {
        var start = PassStart(id: pass.id, track: pass.track, position: pass.start)
        start.isLowPriority = pass.id == lane.lowPriority
        return .startPass(start)
    }

    /// Reports the end of the current track; the caller then cancels its pass.
    func leave(_ reason: PlayerEvent.EndReport.Reason, error: MediaError? = nil) -> [PlayerEffect] {
        guard let pass = lane.current else { return [] }
        return [endEffect(pass, reason, frames: lane.heardFrames, error)]
    }

    private func endEffect(
        _ pass: Pass,
        _ reason: PlayerEvent.EndReport.Reason,
        frames: FrameCount,
        _ error: MediaError?
    ) -> PlayerEffect {
        .endTrack(pass.id, pass.ended(at: index(of: pass), reason, frames: frames, error, isQuit: isQuit))
    }

    /// Empties the sink, so that a new pass can begin. Call it only after the passes were cancelled.
    mutating func silence() -> [PlayerEffect] {
        lane.streamDropped()
        return output.silence()
    }

    mutating func endOfQueue() -> [PlayerEffect] {
        phase = .ended
        currentPause = nil
        // Tracks that are still being read will play, and `obeyHeld` decides again after the last command
        // that is due.
        return exitsAtEnd && !awaitsTracks && !heldCommands.hasDue ? finish(fatal: nil) : []
    }

    // MARK: The next track

    /// The place of the track after the last pass that was allowed to write; `nil` if no track follows.
    private func placeAhead() -> Int? {
        guard consecutiveFailures < max(1, queue.tracks.count) else { return nil }
        if let last = lane.passes.last, last.isBrokenOff { return nil }
        guard let last = lane.lastGranted else { return nil }
        // If that track was removed, use the current one, the nearest that is still in the queue.
        guard let place = queue.place(of: last.track.id) else { return queue.next(after: queue.current) }
        return last.failure == nil ? queue.nextAfterEnd(of: place) : queue.next(after: place)
    }

    /// Opens the next track and reads its head, without writing.
    mutating func prepareNext() -> [PlayerEffect] {
        guard lane.prepared == nil, let place = placeAhead() else { return [] }
        let track = queue.tracks[place]
        // A repeated track begins at its start.
        let start = track.id == lane.lastGranted?.track.id ? nil : memory?.resumePoint(of: track)
        let pass = lane.prepare(track, at: start ?? .zero)
        return [startEffect(pass)]
    }

    /// Reopens a track, because its resource has changed.
    ///
    /// The frames already written are heard first; then `drained` restarts the track at that position.
    private mutating func reopen(_ old: Pass, after frames: FrameCount) -> [PlayerEffect] {
        if old.stage == .writing, frames > 0 {
            lane.update(old.id) { pass in
                pass.stage = .written
                pass.writtenFrames = frames
                pass.isBrokenOff = true
            }
            return followUp()
        }
        if lane.isCurrent(old.id) { return restart(at: position, answersSeek: false, reopens: true) }
        guard let pass = lane.prepareAnew(old.id) else { return [] }
        return [.cancelPass(old.id, keepsResource: false), startEffect(pass)]
    }

    /// The queue has changed: cancels the prepared pass if its track is no longer the next.
    mutating func dropStalePreparation() -> [PlayerEffect] {
        guard let stale = lane.prepared, placeAhead().map({ queue.tracks[$0].id }) != stale.track.id else {
            return []
        }
        lane.removeLast()
        return [.cancelPass(stale.id, keepsResource: false)] + followUp()
    }

    /// If the last pass has written everything: prepares the next one, or allows it to write once it is
    /// ready; ends the stream if no pass can continue in it.
    mutating func followUp() -> [PlayerEffect] {
        guard phase == .active, let last = lane.lastGranted, last.stage == .written, !output.isFinishing
        else { return [] }
        guard let next = lane.prepared else {
            return placeAhead() == nil ? output.finish(isPaused: isPaused) : prepareNext()
        }
        if next.stage == .failed { return output.finish(isPaused: isPaused) }
        guard next.stage == .ready, let format = next.info?.format else { return [] }
        guard output.canContinue(in: format) else { return output.finish(isPaused: isPaused) }
        lane.update(next.id) { $0.stage = .writing }
        return [.grant(next.id, holds: false)]
            + (output.isBuffering ? [.requestPrime(next.id, output.refill)] : [])
    }

    /// Allows the current pass to write into an empty stream.
    mutating func grantCurrent() -> [PlayerEffect] {
        guard let pass = lane.current, let format = pass.info?.format else { return [] }
        if output.isLost { return isPaused ? [] : output.reconnect(atOnce: false) }
        lane.update(pass.id) { $0.stage = .writing }
        return output.open(format, for: pass, expectsWide: queue.expectsWideSamples)
            + [.grant(pass.id, holds: true)]
    }

    // MARK: Events of passes

    mutating func passReady(_ id: PassID, _ info: StreamInfo, _ landing: SeekLanding) -> [PlayerEffect] {
        let wasKnown = lane[id]?.info == info
        let pass = lane.update(id) { pass in
            pass.stage = .ready
            pass.info = info
            pass.landing = landing
        }
        guard let pass else { return [] }
        learn(from: pass)
        let gain = gainMode == .off ? [] : gainEffects(of: pass)
        if let effects = startOver(pass) { return gain + effects }
        guard lane.isCurrent(id) else { return gain + [.prefetchHead(id)] + followUp() }
        var effects = gain + (wasKnown ? [] : announce(pass))
        if pass.answersSeek {
            effects.append(
                .emit(.seeked(index: index(of: pass), position: position, isExact: landing.isExact))
            )
        }
        return effects + grantCurrent()
    }

    /// The current pass begins as soon as the bytes before its start have arrived.
    mutating func awaitsDownload(_ id: PassID) -> [PlayerEffect] {
        guard lane.isCurrent(id), let pass = lane.current else { return [] }
        let place = SafeText(pass.start.clockTime)
        return [
            announcer.remark(
                "downloading",
                "Downloading up to " + place + ": the server sends only whole files"
            )
        ]
    }

    mutating func passGranted(_ id: PassID, at start: FrameCount) -> [PlayerEffect] {
        lane.granted(id, at: start)
        return []
    }

    mutating func infoChanged(_ id: PassID, _ info: StreamInfo) -> [PlayerEffect] {
        let before = lane[id]?.info
        guard let pass = lane.update(id, { $0.info = info }) else { return [] }
        learn(from: pass)
        let hasNewLoudness = gainMode != .off && before?.loudness != info.loudness
        let gain = hasNewLoudness ? gainEffects(of: pass) : []
        let isNew =
            before?.tags != info.tags || before?.duration != info.duration
            || before?.chapters.count != info.chapters.count
        return gain + (lane.isCurrent(id) && isNew ? announce(pass) : [])
    }

    private mutating func learn(from pass: Pass) {
        guard queue.place(of: pass.track.id) != nil else { return }
        announcer.learn(from: pass)
    }

    /// An estimated position (`~`) has become exact, which is reported at once.
    mutating func landingCorrected(_ id: PassID, by shift: FrameCount) -> [PlayerEffect] {
        guard lane.landingCorrected(id, by: shift), lane.isCurrent(id), let pass = lane.current else {
            return []
        }
        announcer.positionReported()
        return [positionEvent(pass)]
    }

    mutating func liveFound(_ id: PassID, _ station: Station) -> [PlayerEffect] {
        let isNew = lane[id]?.station != station
        let pass = lane.update(id) { $0.station = station }
        // While the pass is opening, the announcement waits for the remaining information.
        guard let pass, isNew, lane.isCurrent(id), pass.stage != .opening else { return [] }
        return announce(pass)
    }

    /// Reports that a live stream plays on. After a stall, the start of the sink reports it.
    func reconnected(_ id: PassID) -> [PlayerEffect] {
        lane.isCurrent(id) && output.isRunning ? lane.current.map { [playingEvent($0)] } ?? [] : []
    }

    mutating func passPrimed(_ id: PassID) -> [PlayerEffect] {
        guard lane.lastGranted?.id == id, !output.isRunning else { return [] }
        output.primed()
        return isPaused ? [] : [output.awaitsBytes ? .measureLoaded : .startOutput]
    }

    /// The track continues in another format: the sink plays the frames already written, and is then opened
    /// again unless the new samples stay exact in the open stream.
    mutating func formatChanged(_ id: PassID, _ info: StreamInfo, after frames: FrameCount) -> [PlayerEffect]
    {
        let pass = lane.update(id) { pass in
            pass.info = info
            pass.stage = .changing
            pass.writtenFrames = frames
        }
        return pass == nil ? [] : output.finish(isPaused: isPaused)
    }

    mutating func passWritten(_ id: PassID, _ frames: FrameCount) -> [PlayerEffect] {
        let pass = lane.update(id) { pass in
            pass.writtenFrames = frames
            pass.stage = .written
        }
        return pass == nil ? [] : followUp()
    }

    mutating func passFailed(_ id: PassID, _ error: MediaError, after frames: FrameCount) -> [PlayerEffect] {
        guard let pass = lane[id] else { return [] }
        if error.code == .resourceChanged, lane.mayReopen(pass) {
            return reopen(pass, after: frames)
        }
        if pass.stage == .writing, frames > 0 { return failedAfterWriting(pass, error, frames) }
        lane.update(id) { $0.placement = nil }
        let rejection: [PlayerEffect] =
            error.code == .notAudio || error.code == .emptyResource ? [.reject(id)] : []
        guard lane.isCurrent(id) else {
            lane.update(id) { pass in
                pass.failure = error
                pass.stage = .failed
            }
            return rejection + followUp()
        }
        consecutiveFailures += 1
        announcer.failed(pass.track.id, because: error)
        let end =
            rejection + [
                endEffect(pass, .failed, frames: pass.framesBefore, error),
                .cancelPass(id, keepsResource: false),
            ]
        lane.removeFirst()
        // A prepared pass is cancelled too: the next track is chosen again.
        let cancelled = lane.cancelAll()
        let next = queue.place(of: pass.track.id).flatMap { queue.nextAfterFailure(of: $0) }
        guard let next, consecutiveFailures < queue.tracks.count else {
            return end + cancelled + silence() + endOfQueue()
        }
        return end + cancelled + begin(next, at: .zero)
    }

    /// The frames written before the failure are heard first.
    private mutating func failedAfterWriting(
        _ pass: Pass,
        _ error: MediaError,
        _ frames: FrameCount
    ) -> [PlayerEffect] {
        consecutiveFailures += 1
        lane.update(pass.id) { pass in
            pass.failure = error
            pass.writtenFrames = frames
            pass.stage = .written
        }
        guard !output.isRunning else { return followUp() }
        output.primed()
        let next = followUp()
        // The end of the stream starts the sink itself.
        return (isPaused || output.isFinishing ? [] : [.startOutput]) + next
    }

    // MARK: What was heard

    /// Makes the next track current once its first frames are heard.
    mutating func advance() -> [PlayerEffect] {
        var effects: [PlayerEffect] = []
        while let pass = lane.current, let frames = lane.framesOfPassed {
            effects += end(pass, frames: frames)
            lane.removeFirst()
            guard let next = lane.current else { continue }
            effects += becomeCurrent(next)
            // The event has the position of the track's first frame, even if the sink has already played
            // more.
            effects += [
                .emit(.playing(index: index(of: next), position: next.start, isExact: next.landing.isExact)),
                .allowReadAhead(next.id),
            ]
            announcer.positionReported()
        }
        return effects + (lane.takeHeardTitle() ? announceCurrent() : [])
    }

    /// The sink has played everything that was written.
    mutating func drained() -> [PlayerEffect] {
        guard phase == .active, output.isFinishing else { return [] }
        output.drained()
        var ahead = lane.prepared == nil ? placeAhead() : nil
        let before = lane.current?.id
        var effects = endHeardPasses()
        if lane.current?.isBrokenOff == true {
            return effects + restart(at: position, answersSeek: false, reopens: true)
        }
        effects += silence()
        if let failed = lane.current, failed.stage == .failed {
            effects += endFailed(failed)
            ahead = queue.next(after: queue.current)
        }
        guard let next = lane.current else {
            guard let ahead, consecutiveFailures < queue.tracks.count else { return effects + endOfQueue() }
            return effects + begin(ahead, at: .zero)
        }
        if next.id != before {
            if let place = queue.place(of: next.track.id) { queue.select(place) }
            effects += announce(next)
        }
        return effects + (next.stage == .ready || next.stage == .changing ? grantCurrent() : [])
    }

    /// Ends every pass that has written everything. A pass that waits for a stream in another format stays.
    private mutating func endHeardPasses() -> [PlayerEffect] {
        lane.drained()
        var effects = advance()
        // `advance` leaves the last pass that was heard, and the passes after it that wrote no frame.
        while let pass = lane.current, pass.stage == .written, !pass.isBrokenOff {
            effects += end(pass, frames: pass.writtenFrames)
            lane.removeFirst()
            if let next = lane.current, next.stage == .written { effects += becomeCurrent(next) }
        }
        lane.continueAfterFormatChange()
        return effects
    }

    /// Ends a pass that failed while it was prepared, when its turn comes.
    private mutating func endFailed(_ pass: Pass) -> [PlayerEffect] {
        consecutiveFailures += 1
        let shown = becomeCurrent(pass)
        let ended = end(pass, frames: 0)
        lane.removeFirst()
        return shown + ended
    }

    /// Ends a pass that was heard to its last frame, or that failed before it wrote one.
    private mutating func end(_ pass: Pass, frames: FrameCount) -> [PlayerEffect] {
        let allFrames = pass.framesBefore + frames
        if let failure = pass.failure {
            announcer.failed(pass.track.id, because: failure)
        } else if allFrames > 0 {
            consecutiveFailures = 0
        } else {
            consecutiveFailures += 1
        }
        let reason = pass.failure == nil ? PlayerEvent.EndReport.Reason.finished : .failed
        let played = reason == .finished && frames > 0 && reachesEnd(pass) ? markPlayed(pass.track) : []
        return played + [
            endEffect(pass, reason, frames: allFrames, pass.failure),
            .cancelPass(pass.id, keepsResource: false),
        ]
    }

    private mutating func becomeCurrent(_ pass: Pass) -> [PlayerEffect] {
        if let place = queue.place(of: pass.track.id) { queue.select(place) }
        announcer.forgetFailure(of: pass.track.id)
        return announce(pass)
    }
}
