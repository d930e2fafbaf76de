import Media

// What the passes of the decoder report.
extension PlayerState {
    mutating func runReady(
        _ id: RunID,
        _ info: StreamInfo,
        _ landing: SeekLanding,
        isSeekable: Bool
    ) -> [PlayerEffect] {
        guard let place = runs.firstIndex(where: { $0.id == id }) else { return [] }
        let wasKnown = runs[place].info == info
        runs[place].stage = .ready
        runs[place].info = info
        runs[place].landing = landing
        runs[place].isSeekable = isSeekable
        learn(from: runs[place])
        let gain = gainMode == .off ? [] : gainEffects(of: runs[place])
        guard place == 0 else { return gain + [.prefetchHead(id)] + followUp() }
        let run = runs[0]
        var effects = gain + (wasKnown ? [] : announce(run))
        if run.answersSeek {
            effects.append(
                .emit(.seeked(index: index(of: run), position: position, isExact: landing.isExact))
            )
        }
        return effects + turn()
    }

    /// Lets the current pass write into an empty stream.
    mutating func turn() -> [PlayerEffect] {
        guard let run = runs.first, let format = run.info?.format else { return [] }
        if output.isLost { return isPaused ? [] : reconnect(atOnce: false) }
        runs[0].stage = .writing
        var effects: [PlayerEffect] = []
        if output.format != format || (opensEachTrack && output.playing != run.playing) {
            effects.append(.openOutput(format))
            output.format = format
            output.playing = run.playing
        }
        return effects + [.grant(run.id, holds: true)]
    }

    mutating func runGranted(_ id: RunID, at start: FrameCount) -> [PlayerEffect] {
        guard let run = runs.first(where: { $0.id == id }), let format = run.info?.format else { return [] }
        timeline.append(
            Timeline.Segment(
                run: id,
                start: start,
                landing: run.landing.frame,
                format: format,
                isExact: run.landing.isExact
            )
        )
        return []
    }

    mutating func infoChanged(_ id: RunID, _ info: StreamInfo) -> [PlayerEffect] {
        guard let place = runs.firstIndex(where: { $0.id == id }) else { return [] }
        let before = runs[place].info
        runs[place].info = info
        learn(from: runs[place])
        let isLouder = gainMode != .off && before?.loudness != info.loudness
        let gain = isLouder ? gainEffects(of: runs[place]) : []
        guard place == 0, before?.tags != info.tags || before?.duration != info.duration else { return gain }
        return gain + announce(runs[0])
    }

    /// What was shown with `~` is exact from now on, which is told at once.
    mutating func landingCorrected(_ id: RunID, by shift: FrameCount) -> [PlayerEffect] {
        guard let place = runs.firstIndex(where: { $0.id == id }) else { return [] }
        runs[place].landing.frame += shift
        runs[place].landing.isExact = true
        timeline.correct(id, by: shift)
        guard place == 0 else { return [] }
        lastPositionEvent = now
        return [positionEvent(runs[0])]
    }

    mutating func runPrimed(_ id: RunID) -> [PlayerEffect] {
        guard lastGranted?.id == id, !output.isRunning else { return [] }
        isPrimed = true
        return isPaused ? [] : [.startOutput]
    }

    /// The music goes on in another format: what is written is heard to its end, then the sink reopens.
    mutating func formatChanged(_ id: RunID, _ info: StreamInfo, after frames: FrameCount) -> [PlayerEffect] {
        guard let place = runs.firstIndex(where: { $0.id == id }) else { return [] }
        runs[place].info = info
        runs[place].stage = .changing
        runs[place].writtenFrames = frames
        return finishStream()
    }

    mutating func runWritten(_ id: RunID, _ frames: FrameCount) -> [PlayerEffect] {
        guard let place = runs.firstIndex(where: { $0.id == id }) else { return [] }
        runs[place].writtenFrames = frames
        runs[place].stage = .written
        return followUp()
    }

    mutating func runFailed(_ id: RunID, _ error: MediaError, after frames: FrameCount) -> [PlayerEffect] {
        guard let place = runs.firstIndex(where: { $0.id == id }) else { return [] }
        let run = runs[place]
        let isChanged = error.code == .resourceChanged && !run.isAfterChange
        if place == 0, isChanged {
            return restart(at: position, answersSeek: false, isAfterChange: true)
        }
        if isChanged { return prepareAnew(place, after: frames) }
        if run.stage == .writing, frames > 0 {
            consecutiveFailures += 1
            // What came before the failure is heard first.
            runs[place].failure = error
            runs[place].writtenFrames = frames
            runs[place].stage = .written
            guard !output.isRunning else { return followUp() }
            isPrimed = true
            let next = followUp()
            // The end of the stream starts the sink itself.
            return (isPaused || output.isFinishing ? [] : [.startOutput]) + next
        }
        timeline.remove(id)
        let rejection: [PlayerEffect] =
            error.code == .notAudio || error.code == .emptyResource ? [.reject(id)] : []
        guard place == 0 else {
            runs[place].failure = error
            runs[place].stage = .failed
            return rejection + followUp()
        }
        consecutiveFailures += 1
        record(error, of: run)
        let report = PlayerEffect.endTrack(
            id,
            index: index(of: run),
            .failed,
            frames: run.framesBefore,
            stalls: run.stalls,
            error
        )
        let end = rejection + [report, .cancelRun(id, keepsResource: false)]
        runs.remove(at: place)
        // A prepared one goes too: what follows is decided anew.
        let cancelled = cancelRuns()
        let next = queue.place(of: run.track.id).flatMap { queue.next(after: $0) }
        guard let next, consecutiveFailures < queue.tracks.count else {
            return end + cancelled + silence() + endOfQueue()
        }
        return end + cancelled + begin(next, at: .zero)
    }

    mutating func record(_ error: MediaError, of run: Run) {
        failures[run.track.id] = error.safeText
        note(error.safeText)
    }
}
