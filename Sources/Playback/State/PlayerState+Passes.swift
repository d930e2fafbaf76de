import Media

// What the passes of the decoder report.
extension PlayerState {
    mutating func passReady(
        _ id: PassID,
        _ info: StreamInfo,
        _ landing: SeekLanding,
        isSeekable: Bool
    ) -> [PlayerEffect] {
        guard let place = passes.firstIndex(where: { $0.id == id }) else { return [] }
        let wasKnown = passes[place].info == info
        passes[place].stage = .ready
        passes[place].info = info
        passes[place].landing = landing
        passes[place].isSeekable = isSeekable
        learn(from: passes[place])
        let gain = gainMode == .off ? [] : gainEffects(of: passes[place])
        guard place == 0 else { return gain + [.prefetchHead(id)] + followUp() }
        let pass = passes[0]
        var effects = gain + (wasKnown ? [] : announce(pass))
        if pass.answersSeek {
            effects.append(
                .emit(.seeked(index: index(of: pass), position: position, isExact: landing.isExact))
            )
        }
        return effects + turn()
    }

    /// Lets the current pass write into an empty stream.
    mutating func turn() -> [PlayerEffect] {
        guard let pass = passes.first, let format = pass.info?.format else { return [] }
        if output.isLost { return isPaused ? [] : reconnect(atOnce: false) }
        passes[0].stage = .writing
        var effects: [PlayerEffect] = []
        if output.format != format || (opensEachTrack && output.playing != pass.playing) {
            effects.append(.openOutput(format))
            output.format = format
            output.playing = pass.playing
        }
        return effects + [.grant(pass.id, holds: true)]
    }

    mutating func passGranted(_ id: PassID, at start: FrameCount) -> [PlayerEffect] {
        guard let pass = passes.first(where: { $0.id == id }), let format = pass.info?.format else {
            return []
        }
        timeline.append(
            Timeline.Segment(
                pass: id,
                start: start,
                landing: pass.landing.frame,
                format: format,
                isExact: pass.landing.isExact
            )
        )
        return []
    }

    mutating func infoChanged(_ id: PassID, _ info: StreamInfo) -> [PlayerEffect] {
        guard let place = passes.firstIndex(where: { $0.id == id }) else { return [] }
        let before = passes[place].info
        passes[place].info = info
        learn(from: passes[place])
        let isLouder = gainMode != .off && before?.loudness != info.loudness
        let gain = isLouder ? gainEffects(of: passes[place]) : []
        guard place == 0, before?.tags != info.tags || before?.duration != info.duration else { return gain }
        return gain + announce(passes[0])
    }

    /// What was shown with `~` is exact from now on, which is told at once.
    mutating func landingCorrected(_ id: PassID, by shift: FrameCount) -> [PlayerEffect] {
        guard let place = passes.firstIndex(where: { $0.id == id }) else { return [] }
        passes[place].landing.frame += shift
        passes[place].landing.isExact = true
        timeline.correct(id, by: shift)
        guard place == 0 else { return [] }
        lastPositionEvent = now
        return [positionEvent(passes[0])]
    }

    mutating func passPrimed(_ id: PassID) -> [PlayerEffect] {
        guard lastGranted?.id == id, !output.isRunning else { return [] }
        isPrimed = true
        return isPaused ? [] : [.startOutput]
    }

    /// The music goes on in another format: what is written is heard to its end, then the sink reopens.
    mutating func formatChanged(_ id: PassID, _ info: StreamInfo, after frames: FrameCount) -> [PlayerEffect]
    {
        guard let place = passes.firstIndex(where: { $0.id == id }) else { return [] }
        passes[place].info = info
        passes[place].stage = .changing
        passes[place].writtenFrames = frames
        return finishStream()
    }

    mutating func passWritten(_ id: PassID, _ frames: FrameCount) -> [PlayerEffect] {
        guard let place = passes.firstIndex(where: { $0.id == id }) else { return [] }
        passes[place].writtenFrames = frames
        passes[place].stage = .written
        return followUp()
    }

    mutating func passFailed(_ id: PassID, _ error: MediaError, after frames: FrameCount) -> [PlayerEffect] {
        guard let place = passes.firstIndex(where: { $0.id == id }) else { return [] }
        let pass = passes[place]
        let isChanged = error.code == .resourceChanged && !pass.isAfterChange
        if place == 0, isChanged {
            return restart(at: position, answersSeek: false, isAfterChange: true)
        }
        if isChanged { return prepareAnew(place, after: frames) }
        if pass.stage == .writing, frames > 0 {
            consecutiveFailures += 1
            // What came before the failure is heard first.
            passes[place].failure = error
            passes[place].writtenFrames = frames
            passes[place].stage = .written
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
            passes[place].failure = error
            passes[place].stage = .failed
            return rejection + followUp()
        }
        consecutiveFailures += 1
        record(error, of: pass)
        let report = PlayerEffect.endTrack(
            id,
            index: index(of: pass),
            .failed,
            frames: pass.framesBefore,
            stalls: pass.stalls,
            error
        )
        let end = rejection + [report, .cancelPass(id, keepsResource: false)]
        passes.remove(at: place)
        // A prepared one goes too: what follows is decided anew.
        let cancelled = cancelPasses()
        let next = queue.place(of: pass.track.id).flatMap { queue.next(after: $0) }
        guard let next, consecutiveFailures < queue.tracks.count else {
            return end + cancelled + silence() + endOfQueue()
        }
        return end + cancelled + begin(next, at: .zero)
    }

    mutating func record(_ error: MediaError, of pass: Pass) {
        failures[pass.track.id] = error.safeText
        note(error.safeText)
    }
}
