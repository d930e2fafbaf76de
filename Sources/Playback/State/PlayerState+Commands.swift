import Media

// The commands of the user.
extension PlayerState {
    /// Takes a new command. Reports it if the command is a `save` that has to wait.
    mutating func perform(_ command: PlayerCommand, isInTurn: Bool) -> [PlayerEffect] {
        if !isInTurn { isInteractive = true }
        let heldCount = heldCommands.count
        let effects = obey(command, isInTurn: isInTurn)
        guard case .save(let path) = command, heldCommands.count > heldCount else { return effects }
        return [announcer.remark("reading", SafeText("\(path) is saved once all tracks are read"))]
    }

    /// Carries out a command at once, or, if it needs tracks that are not known yet, once they are. One of a
    /// script (`isInTurn`) may also have to wait for those that already wait (`HeldCommands`).
    mutating func obey(_ command: PlayerCommand, isInTurn: Bool = false) -> [PlayerEffect] {
        // Never held: it ends the reading for which the held commands wait.
        if command == .stopReading || (phase == .launching && command == .stop) { return stopReading() }
        if command == .next, let effects = passOverSource() { return effects }
        let known: HeldCommands.Knowledge = phase == .launching ? .none : awaitsTracks ? .some : .all
        guard !heldCommands.hold(command, isInTurn: isInTurn, known) else { return [] }
        // Tracks that failed before may work now that the user tries again.
        consecutiveFailures = 0
        let wantsMusic = command.traits.contains(.wantsMusic)
        if wantsMusic { queue.wentBackFrom = command == .previous ? queue.currentTrack?.id : nil }
        let retriesNetwork = wantsMusic && !connectivity.isForced
        return (retriesNetwork ? [.retryNetwork] : []) + carryOut(command) + queueEvents()
    }

    private mutating func carryOut(_ command: PlayerCommand) -> [PlayerEffect] {
        switch command {
        case .play: play()
        case .pause: pause()
        case .toggle: phase == .active && !isPaused ? pause() : play()
        case .stop: stop()
        case .next: skip(to: queue.next(after: queue.current))
        case .previous: previous()
        case .jump(let number): jump(to: number)
        case .seek(let target): seek(target)
        case .chapter(let target): chapter(target)
        case .volume(let percent): setVolume(percent, isMuted: false)
        case .changeVolume(let change): setVolume(volume + change, isMuted: false)
        case .mute: setVolume(volume, isMuted: !isMuted)
        case .setShuffle(let isOn): setShuffle(isOn ?? !queue.isShuffled)
        case .setRepeat(let mode): setRepeat(mode)
        case .setGain(let mode): setGain(mode ?? gainMode.next)
        case .add(let source): add(source)
        case .stopReading: stopReading()
        case .remove(let numbers): remove(numbers)
        case .move(let numbers, let target): move(numbers, to: target)
        case .sort(let key): sort(by: key)
        case .shuffleNow: shuffleNow()
        case .clear: clear()
        case .clearOthers: clearOthers()
        case .undo: undo()
        case .save(let path): [.save(path, queue.tracks, announcer.facts)]
        case .reload: reload()
        case .pin(let number): pin(number)
        case .setPinned(let numbers, let isPinned): setPinned(numbers, isPinned)
        case .setPlayed(let isPlayed, let numbers): setPlayed(isPlayed, numbers)
        case .status: status()
        case .list: [.emitList]
        case .quit: quit()
        }
    }

    // MARK: Playing

    private mutating func play() -> [PlayerEffect] {
        guard phase == .active else {
            let place = phase == .ended ? queue.next(after: nil) : queue.current ?? queue.next(after: nil)
            return place.map { begin($0, at: .zero) } ?? []
        }
        guard let pause = currentPause else { return [] }
        currentPause = nil
        if lane.current?.isLive == true, now - pause.begin >= Self.longestLivePause {
            return restart(at: .zero, answersSeek: false)
        }
        if output.isLost { return output.reconnect(atOnce: true) }
        return output.isPrimed ? [.startOutput] : []
    }

    private mutating func pause() -> [PlayerEffect] {
        // A pause by the user remains even if the audio server ends its own.
        currentPause?.isByServer = false
        guard phase == .active, !isPaused, let pass = lane.current else { return [] }
        currentPause = Pause(begin: now)
        return output.pause() + [pausedEvent(pass)]
    }

    private mutating func stop() -> [PlayerEffect] {
        guard phase == .active else { return [] }
        let effects = leave(.skipped) + lane.cancelAll() + silence()
        phase = .stopped
        currentPause = nil
        return effects
    }

    private mutating func quit() -> [PlayerEffect] {
        isQuit = true
        // The sink is paused first, so that all frames it took are counted.
        return output.pause() + leave(.skipped) + lane.cancelAll() + finish(fatal: nil)
    }

    private mutating func skip(to place: Int?) -> [PlayerEffect] {
        guard let place else {
            let effects = leave(.skipped) + lane.cancelAll() + silence()
            return effects + endOfQueue()
        }
        return begin(place, at: .zero)
    }

    /// As in other players, `previous` then first returns to the start of the track.
    private var hasPlayedForAWhile: Bool {
        phase == .active && position > .seconds(3) && lane.current?.isLive != true
    }

    /// `true` if `previous` plays the current track from its beginning.
    var previousRestarts: Bool { hasPlayedForAWhile || phase == .ended || !queue.hasPrevious }

    private mutating func previous() -> [PlayerEffect] {
        if hasPlayedForAWhile { return restart(at: .zero, answersSeek: true) }
        if phase == .ended, let last = queue.current ?? queue.last { return begin(last, at: .zero) }
        return queue.previous().map { begin($0, at: .zero) } ?? []
    }

    private mutating func jump(to number: Int) -> [PlayerEffect] {
        guard queue.tracks.indices.contains(number - 1) else { return [noTrack(number)] }
        currentPause = nil
        queue.bringForward(number - 1)
        return begin(number - 1, at: .zero)
    }

    private mutating func seek(_ target: SeekTarget) -> [PlayerEffect] {
        guard phase == .active, let pass = lane.current else { return [] }
        guard !pass.isLive else { return [announcer.remark("not-seekable", "Can't seek in a live stream")] }
        guard let start = destination(of: target) else {
            return [announcer.badCommand("Can't seek by percent: the track's length is not known yet")]
        }
        if case .to(let time) = target, let duration, let farthest = pass.farthestSeek, time > farthest {
            return [tooShort(duration)]
        }
        let isRapid = lastSeek.map { now - $0 < Self.seekPause } ?? false
        lastSeek = now
        return restart(at: start, answersSeek: true, requestDelay: isRapid ? Self.seekPause : .zero)
    }

    private mutating func chapter(_ target: ChapterTarget) -> [PlayerEffect] {
        guard phase == .active, let pass = lane.current else { return [] }
        guard let chapters = pass.info?.chapters else {
            return [announcer.badCommand("The chapters are not known yet: the track is being opened")]
        }
        guard let number = chapters.number(of: target, from: position) else {
            return [announcer.badCommand(chapters.refusal(of: target))]
        }
        let seek = seek(.to(chapters.chapters[number - 1].start))
        // A seek that fails answers for itself.
        guard lane.current?.id != pass.id else { return seek }
        return [announcer.remark("chapter", "Chapter " + chapters.name(of: number))] + seek
    }

    /// The position of `target` in the current track; `nil` if it depends on an unknown length.
    private func destination(of target: SeekTarget) -> Duration? {
        let wanted: Duration
        switch target {
        case .by(let distance): wanted = position + distance
        case .to(let time): wanted = time
        case .percent(let share):
            guard let duration else { return nil }
            wanted = duration * (share / 100)
        }
        return max(.zero, min(wanted, lane.current?.farthestSeek ?? .seconds(1_000_000)))
    }

    private mutating func reload() -> [PlayerEffect] {
        guard let pass = lane.current, phase == .active else { return [] }
        let start = pass.stage == .opening ? pass.start : position
        return restart(at: start, answersSeek: false, refresh: true)
    }

    private mutating func pin(_ number: Int?) -> [PlayerEffect] {
        guard let number else {
            return currentTrack.map { pinning([$0], nil) } ?? [announcer.badCommand("No track to pin")]
        }
        guard queue.tracks.indices.contains(number - 1) else { return [noTrack(number)] }
        return pinning([queue.tracks[number - 1]], nil)
    }

    private mutating func setPinned(_ numbers: TrackNumbers, _ isPinned: Bool) -> [PlayerEffect] {
        guard numbers.count > 0, numbers.highest <= queue.tracks.count else {
            return [noTrack(numbers.highest)]
        }
        return pinning(numbers.places.ranges.flatMap { queue.tracks[$0] }, isPinned)
    }

    /// Leaves out the live stream that plays: none of it is ever cached.
    private mutating func pinning(_ tracks: [Track], _ isPinned: Bool?) -> [PlayerEffect] {
        let live = isPinned == false ? nil : lane.current.flatMap { $0.isLive ? $0.track.id : nil }
        let cacheable = tracks.filter { $0.id != live }
        let refused = cacheable.count < tracks.count
        return (refused ? [announcer.badCommand("Can't pin a live stream (it can't be cached)")] : [])
            + (cacheable.isEmpty ? [] : [.togglePin(cacheable, isPinned)])
    }

    private func status() -> [PlayerEffect] {
        guard let pass = lane.current else {
            return [.emit(.loaded(tracks: queue.tracks.count)), .emitStatus]
        }
        let track = announcer.trackEvent(pass, index: index(of: pass), isPlayed: isPlayed(pass))
        return [track, isPaused ? pausedEvent(pass) : positionEvent(pass), .emitStatus]
    }

    var modes: PlayModes {
        PlayModes(isShuffled: queue.isShuffled, repeatMode: queue.repeatMode, gainMode: gainMode)
    }

    private func pausedEvent(_ pass: Pass) -> PlayerEffect {
        .emit(.paused(index: index(of: pass), position: position, isExact: isExact))
    }

    mutating func noTrack(_ number: Int) -> PlayerEffect {
        announcer.badCommand("No track \(number)")
    }

    // MARK: Sound

    private mutating func setVolume(_ percent: Int, isMuted: Bool) -> [PlayerEffect] {
        volume = max(0, min(100, percent))
        self.isMuted = isMuted
        return [.setVolume(volume, isMuted: isMuted)]
    }

    private mutating func setGain(_ mode: GainMode) -> [PlayerEffect] {
        gainMode = mode
        return lane.passes.flatMap { gainEffects(of: $0) }
    }

    func gainEffects(of pass: Pass) -> [PlayerEffect] {
        pass.info == nil ? [] : [.setGain(pass.id, gainStage(of: pass))]
    }

    func gainStage(of pass: Pass) -> GainStage { pass.info?.loudness?.stage(for: gainMode) ?? .unity }

    // MARK: The queue

    private mutating func setShuffle(_ isOn: Bool) -> [PlayerEffect] {
        queue.setShuffle(isOn)
        return dropStalePreparation()
    }

    private mutating func setRepeat(_ mode: RepeatMode?) -> [PlayerEffect] {
        let next: [RepeatMode: RepeatMode] = [.off: .all, .all: .one, .one: .off]
        queue.repeatMode = mode ?? next[queue.repeatMode] ?? .off
        return dropStalePreparation()
    }

    private mutating func add(_ source: String) -> [PlayerEffect] {
        queue.additionRequested()
        return [.resolve(source)]
    }

    private mutating func stopReading() -> [PlayerEffect] {
        isReadingSources ? [.stopReading] : [announcer.badCommand("Nothing is being read")]
    }

    private mutating func remove(_ numbers: TrackNumbers) -> [PlayerEffect] {
        guard numbers.count > 0, numbers.highest <= queue.tracks.count else {
            return [noTrack(numbers.highest)]
        }
        let interrupted = playback(at: numbers.places)
        let effects = removing(numbers.places) { $0.remove(numbers.places) }
        noteInterruption(interrupted)
        return effects
    }

    /// The playback of the current track if it is at one of `places`; `nil` if it is not, or if nothing
    /// plays.
    private func playback(at places: RangeSet<Int>) -> Interruption? {
        guard phase == .active, let pass = lane.current, let place = queue.place(of: pass.track.id),
            places.contains(place)
        else { return nil }
        return Interruption(
            track: pass.track.id,
            position: pass.isLive ? .zero : position,
            isPaused: isPaused
        )
    }

    private mutating func noteInterruption(_ playback: Interruption?) {
        guard var playback else { return }
        playback.successor = queue.currentTrack?.id
        queue.history.interrupted(playback)
    }

    /// Carries out `change`, which removes the tracks at `places` from the queue, and stops their playback.
    private mutating func removing(
        _ places: RangeSet<Int>,
        by change: (inout PlayQueue) -> Void
    ) -> [PlayerEffect] {
        let isCurrent = phase == .active && queue.current.map { places.contains($0) } == true
        // If PCM of a removed track follows the current track in the ring, the current track is decoded
        // again.
        let isCut = phase == .active && !isCurrent && areWritten(places)
        let effects = isCurrent ? leave(.skipped) + lane.cancelAll() + silence() : []
        if !announcer.failures.isEmpty {
            for place in places.ranges.joined() { announcer.forgetFailure(of: queue.tracks[place].id) }
        }
        change(&queue)
        guard isCurrent else {
            return isCut ? restart(at: position, answersSeek: false) : dropStalePreparation()
        }
        // Before the events of the next track, which have its number after the change.
        let ended = effects + queueEvents()
        guard let successor = queue.current else { return ended + endOfQueue() }
        return ended + begin(successor, at: .zero)
    }

    /// `true` if a track at `places` has a pass that was allowed to write, so that its PCM is in the ring or
    /// on its way.
    private func areWritten(_ places: RangeSet<Int>) -> Bool {
        lane.passes.contains { pass in
            pass.id != lane.prepared?.id && queue.place(of: pass.track.id).map { places.contains($0) } == true
        }
    }

    private mutating func move(_ numbers: TrackNumbers, to target: Int) -> [PlayerEffect] {
        let all = 1...max(1, queue.tracks.count)
        guard numbers.count > 0, numbers.highest <= queue.tracks.count, all.contains(target) else {
            return [announcer.badCommand("Tracks are numbered 1 to \(queue.tracks.count)")]
        }
        queue.move(numbers.places, to: target - 1)
        return dropStalePreparation()
    }

    private mutating func sort(by key: SortKey) -> [PlayerEffect] {
        queue.sort(by: key, facts: announcer.facts)
        return dropStalePreparation()
    }

    private mutating func shuffleNow() -> [PlayerEffect] {
        queue.shuffleNow()
        return dropStalePreparation()
    }

    private mutating func clear() -> [PlayerEffect] {
        let interrupted = playback(at: RangeSet(queue.tracks.indices))
        let effects = stop()
        queue.clear()
        announcer.forgetFailures()
        noteInterruption(interrupted)
        return effects
    }

    private mutating func clearOthers() -> [PlayerEffect] {
        guard let current = queue.current else { return clear() }
        var others = RangeSet(queue.tracks.indices)
        others.remove(current, within: queue.tracks)
        return others.isEmpty ? [] : removing(others) { $0.remove(others) }
    }

    /// Undoes the last change of the queue. The current track keeps playing, unless it was part of an undone
    /// addition, or replaced the track whose playback the change ended: that track continues where it was.
    private mutating func undo() -> [PlayerEffect] {
        let added = queue.history.lastAddition.map { RangeSet($0) } ?? RangeSet()
        let interruption = queue.history.interruption.flatMap {
            $0.successor == queue.currentTrack?.id ? $0 : nil
        }
        var step: QueueStep?
        let effects = removing(added) { step = $0.undo() }
        guard let step else { return [announcer.badCommand("Nothing to undo")] }
        return [announcer.remark("undone", step.undoneText)] + effects + resume(interruption)
    }

    private mutating func resume(_ interruption: Interruption?) -> [PlayerEffect] {
        guard let interruption, let place = queue.place(of: interruption.track) else { return [] }
        queue.putBefore(place)
        currentPause = interruption.isPaused ? Pause(begin: now) : nil
        let effects = begin(place, at: interruption.position)
        guard isPaused, let pass = lane.current else { return effects }
        return effects + [pausedEvent(pass)]
    }
}
