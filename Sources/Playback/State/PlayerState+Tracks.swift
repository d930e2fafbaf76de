import Media

// Beginning tracks, leaving them, and what follows what.
extension PlayerState {
    /// Leaves the current track, if any, for the one at `place`.
    mutating func begin(_ place: Int, at start: Duration) -> [PlayerEffect] {
        let track = queue.tracks[place]
        // A track that was prepared as the next one is begun with what it has.
        let prepared = prepared.flatMap {
            $0.track.id == track.id && $0.stage != .failed && start == .zero ? $0 : nil
        }
        var effects = leave(.skipped) + cancelPasses(except: prepared?.id) + silence()
        queue.select(place)
        phase = .active
        if let prepared {
            passes = [prepared]
            effects += announce(prepared)
            return effects + (prepared.stage == .ready ? turn() : [])
        }
        let pass = newPass(track, at: start == .zero ? resumePoint(track) ?? .zero : start)
        passes = [pass]
        effects += announce(pass)
        return effects + [.startPass(pass.id, track, at: pass.start, reusing: nil, refresh: false)]
    }

    /// Begins the current track anew at `start`, with the resource it has open; a live stream from a new connection,
    /// with what is live then.
    mutating func restart(
        at start: Duration,
        answersSeek: Bool,
        refresh: Bool = false,
        isAfterChange: Bool = false
    ) -> [PlayerEffect] {
        guard let old = passes.first else { return [] }
        let isKept = !refresh && !isAfterChange && !old.isLive
        let start = old.isLive ? .zero : start
        var pass = newPass(old.track, at: start)
        pass.framesBefore = old.framesBefore + timeline.heardFrames(at: heard)
        pass.playing = old.playing
        pass.stalls = old.stalls
        // A seek that was not answered yet is answered by this pass.
        pass.answersSeek = answersSeek || (old.answersSeek && old.stage == .opening)
        pass.isAfterChange = old.isAfterChange || isAfterChange
        // Shown until the new pass knows better.
        pass.info = old.info
        pass.station = old.station
        pass.streamTitle = old.streamTitle
        let effects = cancelPasses(keepingResourceOf: isKept ? old.id : nil) + silence()
        passes = [pass]
        return effects + [
            .startPass(pass.id, pass.track, at: start, reusing: isKept ? old.id : nil, refresh: refresh)
        ]
    }

    /// Reports the end of the current track; the caller then cancels its pass.
    func leave(_ reason: PlayerEvent.EndReport.Reason, error: MediaError? = nil) -> [PlayerEffect] {
        guard let pass = passes.first else { return [] }
        let frames = pass.framesBefore + timeline.heardFrames(at: heard)
        return [
            .endTrack(pass.id, index: index(of: pass), reason, frames: frames, stalls: pass.stalls, error)
        ]
    }

    mutating func cancelPasses(except kept: PassID? = nil, keepingResourceOf open: PassID? = nil)
        -> [PlayerEffect]
    {
        let cancelled = passes.filter { $0.id != kept }
        passes = []
        return cancelled.map { .cancelPass($0.id, keepsResource: $0.id == open) }
    }

    /// Empties the sink, so that a new pass can begin. Only after the passes were cancelled.
    mutating func silence() -> [PlayerEffect] {
        timeline.removeAll()
        isBuffering = false
        isPrimed = false
        output.isFinishing = false
        guard output.format != nil else { return [] }
        output.isRunning = false
        return [.pauseOutput, .flushOutput]
    }

    mutating func endOfQueue() -> [PlayerEffect] {
        if queue.isIncomplete {
            // Only of what is known: `launched` goes on behind it.
            phase = .launching
            return []
        }
        phase = .ended
        isPaused = false
        return exitsAtEnd ? finish(fatal: nil) : []
    }

    // MARK: The next track

    /// The last pass that writes or has written.
    var lastGranted: Pass? { passes.last { !$0.stage.isBeforeWriting } }

    /// The pass that was prepared and not yet let write, when it is not the current one. It may have failed: its
    /// track then stays the next, so that those behind it are not run through before their time.
    var prepared: Pass? {
        guard passes.count > 1, let last = passes.last, last.stage.isBeforeWriting else { return nil }
        return last
    }

    /// The pass whose reads may wait: the next one, as long as something of the track before it may be missing.
    var patientPass: PassID? { lastGranted?.stage == .written ? nil : prepared?.id }

    /// The place of the track that follows the last pass that writes; nil at the end of the queue.
    func placeAhead() -> Int? {
        guard consecutiveFailures < max(1, queue.tracks.count) else { return nil }
        if let last = passes.last, last.isBrokenOff { return nil }
        guard let last = lastGranted else { return nil }
        // A removed track is not the last to write; should it be, the current one is the nearest known.
        guard let place = queue.place(of: last.track.id) else { return queue.next(after: queue.current) }
        return last.failure == nil ? queue.nextAfterEnd(of: place) : queue.next(after: place)
    }

    /// Opens the next track and reads its head, without writing.
    mutating func prepareNext() -> [PlayerEffect] {
        guard prepared == nil, let place = placeAhead() else { return [] }
        let track = queue.tracks[place]
        // A track that repeats itself begins at its start.
        let start = track.id == lastGranted?.track.id ? nil : resumePoint(track)
        let pass = newPass(track, at: start ?? .zero)
        passes.append(pass)
        return [.startPass(pass.id, track, at: pass.start, reusing: nil, refresh: false)]
    }

    /// A track behind the current one is not what it was: it is opened anew.
    ///
    /// What it has written already is heard first; `drained` then begins it where that ends.
    mutating func prepareAnew(_ place: Int, after frames: FrameCount) -> [PlayerEffect] {
        let old = passes[place]
        if old.stage == .writing, frames > 0 {
            passes[place].stage = .written
            passes[place].writtenFrames = frames
            passes[place].isBrokenOff = true
            return followUp()
        }
        timeline.remove(old.id)
        var pass = newPass(old.track, at: old.start)
        pass.isAfterChange = true
        passes[place] = pass
        return [
            .cancelPass(old.id, keepsResource: false),
            .startPass(pass.id, pass.track, at: pass.start, reusing: nil, refresh: false),
        ]
    }

    /// The queue has changed: a track that was prepared may no longer be the next.
    mutating func dropStalePreparation() -> [PlayerEffect] {
        guard let stale = prepared, placeAhead().map({ queue.tracks[$0].id }) != stale.track.id else {
            return []
        }
        passes.removeLast()
        return [.cancelPass(stale.id, keepsResource: false)] + followUp()
    }

    /// Called when a pass has written its last frame: lets the next one write, or ends the stream.
    mutating func followUp() -> [PlayerEffect] {
        guard phase == .active, let last = lastGranted, last.stage == .written, !output.isFinishing else {
            return []
        }
        guard let next = prepared else {
            return placeAhead() == nil ? finishStream() : prepareNext()
        }
        if next.stage == .failed { return finishStream() }
        guard next.stage == .ready, let format = next.info?.format else { return [] }
        guard format == output.format, !opensEachTrack else { return finishStream() }
        setStage(.writing, of: next.id)
        return [.grant(next.id, holds: false)] + (isBuffering ? [.requestPrime(next.id)] : [])
    }

    /// Lets what is written be heard to its end: the queue ends here, or the next track needs another format.
    mutating func finishStream() -> [PlayerEffect] {
        output.isFinishing = true
        if output.isRunning { return [.finishRing, .drain] }
        // It stands still because it ran dry, or for a pause. Draining begins when it runs.
        isPrimed = true
        return [.finishRing] + (isPaused ? [] : [.startOutput])
    }

    mutating func setStage(_ stage: Pass.Stage, of id: PassID) {
        guard let place = passes.firstIndex(where: { $0.id == id }) else { return }
        passes[place].stage = stage
    }
}
