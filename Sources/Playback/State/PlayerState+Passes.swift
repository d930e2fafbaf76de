import Media

// Tracks and the passes of the decoder: their beginning, order and end.
extension PlayerState {
    /// After a longer pause, a live stream is reconnected, since its buffered sound is no longer live.
    static let longestLivePause = Duration.seconds(5)

    // MARK: Beginning and leaving tracks

    /// Leaves the current track, if any, for the one at `place`. The playing that it continues has heard the
    /// parts `heard`; `nil` if the memory knows them.
    mutating func begin(_ place: Int, at start: Duration, heard: HeardSpans? = nil) -> [PlayerEffect] {
        let track = queue.tracks[place]
        // If this track was prepared as the next one, its pass is used.
        let prepared = lane.prepared.flatMap {
            $0.track.id == track.id && $0.stage != .failed && start == .zero ? $0 : nil
        }
        let effects = leave(except: prepared?.id) + silence()
        queue.select(place)
        phase = .active
        if let prepared {
            lane.begin(prepared)
            return effects + announce(prepared) + (prepared.stage == .ready ? grantCurrent() : [])
        }
        let first = start == .zero ? queue.memory?.resumePoint(of: track) ?? .zero : start
        let pass = lane.begin(track, at: first, heard: heard ?? heardBefore(track, at: first))
        return effects + announce(pass) + [startEffect(pass)]
    }

    /// Leaves the current track, if any, for the one at `place`. The queue ends if there is none, and if all
    /// tracks have failed, because repeating them would fail for ever.
    mutating func goOn(to place: Int?) -> [PlayerEffect] {
        if let place, consecutiveFailures < queue.tracks.count { return begin(place, at: .zero) }
        return leave() + silence() + endOfQueue()
    }

    /// Starts the current track again at `start` with its open resource. A live stream reconnects and
    /// continues at the live position, unless this answers a seek.
    mutating func restart(
        at start: Duration,
        answersSeek: Bool = false,
        refresh: Bool = false,
        reopens: Bool = false,
        requestDelay: Duration = .zero
    ) -> [PlayerEffect] {
        guard let old = lane.current else { return [] }
        let reused = !refresh && !reopens && (!old.isLive || answersSeek) ? old.id : nil
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

    /// Reports the end of the current track, which failed if there is an `error`, and cancels all passes
    /// except `exempt`.
    mutating func leave(because error: MediaError? = nil, except exempt: PassID? = nil) -> [PlayerEffect] {
        guard let pass = lane.current else { return [] }
        let end = endEffect(pass, .skipped, frames: lane.heardFrames, error)
        return [end] + lane.cancelAll(except: exempt)
    }

    /// The end of `pass` is a failure if there is an `error`, and otherwise has this `reason`.
    private func endEffect(
        _ pass: Pass,
        _ reason: PlayerEvent.EndReport.Reason,
        frames: FrameCount,
        _ error: MediaError?
    ) -> PlayerEffect {
        let reason = error == nil ? reason : .failed
        var report = PlayerEvent.EndReport(index: index(of: pass), reason: reason)
        report.frames = frames
        report.stalls = pass.stalls
        report.error = error
        let isShort = pass.info.map { $0.format.duration(of: frames) < .seconds(5) } ?? true
        report.isBrief = reason == .skipped && !isQuit && isShort
        return .endTrack(pass.id, report)
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
        guard consecutiveFailures < queue.tracks.count, let last = lane.lastGranted, !last.isBrokenOff,
            let place = queue.place(of: last.track.id), !stops(after: place)
        else { return nil }
        return last.failure == nil ? queue.nextAfterEnd(of: place) : queue.next(after: place)
    }

    /// `true` if playing stops after the track at `place`.
    func stops(after place: Int) -> Bool {
        switch stopPoint {
        case nil: false
        case .track: true
        case .album: queue.next(after: place).map { !queue.isSameAlbum(place, $0, announcer.facts) } ?? true
        }
    }

    /// The stop that was set is reached: the next track becomes current, but does not play.
    private mutating func halt() -> [PlayerEffect] {
        stopPoint = nil
        let isAsleep = sleep.point != nil
        let next = queue.next(after: queue.current)
        let effects = leave() + silence() + (isAsleep ? wake() : [])
        guard let next else { return effects + endOfQueue() }
        queue.select(next)
        phase = .stopped
        currentPause = nil
        return effects + [
            isAsleep
                ? announcer.remark("sleep", Self.asleep)
                : announcer.remark("stop-after", "Stopped after the track")
        ]
    }

    /// Opens the next track and reads its head, without writing.
    mutating func prepareNext() -> [PlayerEffect] {
        guard lane.prepared == nil, let place = placeAhead() else { return [] }
        let track = queue.tracks[place]
        // A repeated track begins at its start.
        let start = track.id == lane.lastGranted?.track.id ? nil : queue.memory?.resumePoint(of: track)
        let first = start ?? .zero
        let pass = lane.prepare(track, at: first, heard: heardBefore(track, at: first))
        return [startEffect(pass)]
    }

    /// The parts of `track` that were heard before its playing goes on at `start`. At 0 a new playing begins.
    private func heardBefore(_ track: Track, at start: Duration) -> HeardSpans {
        (start > .zero ? queue.memory?.heardParts(of: track) : nil) ?? HeardSpans()
    }

    /// Reopens a track, because its resource has changed, or because an earlier URL may have its bytes.
    ///
    /// The frames already written are heard first; then `drained` restarts the track at that position.
    mutating func reopen(_ old: Pass, after frames: FrameCount) -> [PlayerEffect] {
        if old.stage == .writing, frames > 0 {
            lane.update(old.id) { $0.isBrokenOff = true }
            return passWritten(old.id, frames)
        }
        if lane.isCurrent(old.id) { return restart(at: position, reopens: true) }
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
        guard let last = lane.lastGranted, last.stage == .written, !output.isFinishing else { return [] }
        guard let next = lane.prepared, !last.isBrokenOff else {
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
        announcer.learn(from: pass)
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
        let text = "Downloading up to \(pass.start.clockTime): the server sends only whole files"
        return [announcer.remark("downloading", SafeText(text))]
    }

    mutating func passGranted(_ id: PassID, at start: FrameCount) -> [PlayerEffect] {
        lane.granted(id, at: start)
        return []
    }

    mutating func infoChanged(_ id: PassID, _ info: StreamInfo) -> [PlayerEffect] {
        let before = lane[id]?.info
        guard let pass = lane.update(id, { $0.info = info }) else { return [] }
        announcer.learn(from: pass)
        let hasNewLoudness = gainMode != .off && before?.loudness != info.loudness
        let gain = hasNewLoudness ? gainEffects(of: pass) : []
        let isNew =
            before?.tags != info.tags || before?.duration != info.duration
            || before?.chapters.count != info.chapters.count
        return gain + (lane.isCurrent(id) && isNew ? announce(pass) : [])
    }

    /// An estimated position (`~`) has become exact, which is reported at once.
    mutating func landingCorrected(_ id: PassID, by shift: FrameCount) -> [PlayerEffect] {
        guard lane.landingCorrected(id, by: shift), lane.isCurrent(id), let pass = lane.current else {
            return []
        }
        announcer.positionReported()
        return [.emitPosition(index: index(of: pass))]
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
        guard let pass = lane.current, pass.id == id, output.isRunning else { return [] }
        return [playingEvent(pass, at: position)]
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
        let mayReopen = error.code == .resourceChanged || (error.mayAskLater && lane.isCurrent(id))
        if mayReopen, lane.mayReopen(pass) { return reopen(pass, after: frames) }
        if pass.stage == .writing, frames > 0 { return failedAfterWriting(pass, error, frames) }
        let isNoMusic = error.code == .notAudio || error.code == .emptyResource
        let rejection: [PlayerEffect] = isNoMusic ? [.reject(id)] : []
        lane.update(id) { pass in
            pass.failure = error
            pass.stage = .failed
            pass.placement = nil
        }
        guard lane.isCurrent(id) else { return rejection + followUp() }
        // A prepared pass is cancelled too: the next track is chosen again.
        let ended = rejection + endFailed() + lane.cancelAll()
        return ended + goOn(to: queue.place(of: pass.track.id).flatMap { queue.nextAfterFailure(of: $0) })
    }

    /// The frames written before the failure are heard first.
    private mutating func failedAfterWriting(
        _ pass: Pass,
        _ error: MediaError,
        _ frames: FrameCount
    ) -> [PlayerEffect] {
        consecutiveFailures += 1
        lane.update(pass.id) { $0.failure = error }
        let next = passWritten(pass.id, frames)
        // The end of the stream starts the sink itself.
        guard !output.isRunning, !output.isFinishing else { return next }
        output.primed()
        return (isPaused ? [] : [.startOutput]) + next
    }

    // MARK: What was heard

    /// Makes the next track current once its first frames are heard.
    mutating func advance() -> [PlayerEffect] {
        var effects: [PlayerEffect] = []
        while let frames = lane.framesOfPassed {
            effects += endCurrent(frames: frames)
            guard let next = lane.current else { continue }
            // The event has the position of the track's first frame, even if the sink has already played
            // more.
            effects += becomeCurrent(next) + soundBegins(next, at: next.start)
        }
        return effects + (lane.showHeardTitle() ? announceCurrent() : [])
    }

    /// Reports that the sound of `pass` begins at `position`.
    mutating func soundBegins(_ pass: Pass, at position: Duration) -> [PlayerEffect] {
        announcer.forgetFailure(of: pass.track.id)
        announcer.positionReported()
        return [playingEvent(pass, at: position), .allowReadAhead(pass.id)]
    }

    /// The sink has played everything that was written.
    mutating func drained() -> [PlayerEffect] {
        guard output.isFinishing else { return [] }
        output.drained()
        let halts = lane.lastGranted.flatMap { queue.place(of: $0.track.id) }.map { stops(after: $0) } == true
        var ahead = lane.prepared == nil ? placeAhead() : nil
        let before = lane.current?.id
        var effects = endHeardPasses()
        if lane.current?.isBrokenOff == true { return effects + restart(at: position, reopens: true) }
        if let failed = lane.current, failed.stage == .failed {
            effects += becomeCurrent(failed)
            // Opened again, it asks for the log-in, now that the user waits for it.
            if failed.failure?.mayAskLater == true, lane.mayReopen(failed) {
                return effects + restart(at: failed.start, reopens: true)
            }
            effects += endFailed()
            ahead = queue.next(after: queue.current)
        }
        guard let next = lane.current else { return effects + (halts ? halt() : goOn(to: ahead)) }
        effects += silence()
        if next.id != before { effects += becomeCurrent(next) }
        return effects + (next.stage == .ready || next.stage == .changing ? grantCurrent() : [])
    }

    /// Ends every pass that has written everything. A pass that waits for a stream in another format stays.
    private mutating func endHeardPasses() -> [PlayerEffect] {
        lane.drained()
        var effects = advance()
        // `advance` leaves the last pass that was heard, and the passes after it that wrote no frame.
        while let pass = lane.current, pass.stage == .written, !pass.isBrokenOff {
            effects += endCurrent(frames: pass.writtenFrames)
            if let next = lane.current, next.stage == .written { effects += becomeCurrent(next) }
        }
        lane.continueAfterFormatChange()
        return effects
    }

    /// Ends the current pass, which failed before it wrote a frame.
    private mutating func endFailed() -> [PlayerEffect] {
        consecutiveFailures += 1
        return endCurrent(frames: 0)
    }

    /// Ends the current pass, of which `frames` were heard: all that it wrote.
    private mutating func endCurrent(frames: FrameCount) -> [PlayerEffect] {
        let pass = lane.removeFirst()
        let allFrames = pass.framesBefore + frames
        if let failure = pass.failure {
            announcer.failed(pass.track.id, because: failure)
        } else if allFrames > 0 {
            consecutiveFailures = 0
        } else {
            consecutiveFailures += 1
        }
        let isHeard = pass.failure == nil && frames > 0 && reachesEnd(pass)
        return (isHeard ? markPlayed(pass) : []) + [
            endEffect(pass, .finished, frames: allFrames, pass.failure),
            .cancelPass(pass.id, keepsResource: false),
        ]
    }

    private mutating func becomeCurrent(_ pass: Pass) -> [PlayerEffect] {
        if let place = queue.place(of: pass.track.id) { queue.select(place) }
        return announce(pass)
    }
}
