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
        case .next: goOn(to: queue.next(after: queue.current))
        case .previous: previous()
        case .jump(let number): jump(to: number)
        case .seek(let target): seek(target)
        case .setPosition(let place, let id): lane.current?.track.id == id ? seek(.to(place)) : []
        case .chapter(let target): chapter(target)
        case .volume(let percent): setVolume(percent, isMuted: false)
        case .changeVolume(let change): setVolume(volume + change, isMuted: false)
        case .mute: setVolume(volume, isMuted: !isMuted)
        case .listDevices, .setDevice: [.findDevices(for: command)]
        case .setShuffle(let isOn): changeOrder { $0.setShuffle(isOn ?? !$0.isShuffled) }
        case .setRepeat(let mode): setRepeat(mode)
        case .setGain(let mode): setGain(mode ?? gainMode.next)
        case .add(let source): add(source)
        case .open(let source): open(source)
        case .stopReading: stopReading()
        case .remove(let numbers): remove(numbers)
        case .move(let numbers, let target): move(numbers, to: target)
        case .sort(let key): changeOrder { [facts = announcer.facts] in $0.sort(by: key, facts: facts) }
        case .shuffleNow: changeOrder { $0.shuffleNow() }
        case .playNext(let numbers, let point): playNext(numbers, after: point)
        case .stopAfter(let point): setStop(after: point)
        case .sleep(let goal): setSleep(goal)
        case .clear: clear()
        case .clearOthers: clearOthers()
        case .undo: undo()
        case .save(let path): [.save(path, queue.tracks, announcer.facts)]
        case .reload: restart(at: position, refresh: true)
        case .pin(let number): pin(number.map { TrackNumbers($0) }, nil)
        case .setPinned(let numbers, let isPinned): pin(numbers, isPinned)
        case .download(let numbers): download(numbers)
        case .changeDownloads(let change, let choice): changeDownloads(change, choice)
        case .setAhead(let goal): setAhead(goal)
        case .setPlayed(let isPlayed, let numbers): setPlayed(isPlayed, numbers)
        case .status: [.answer(status())]
        case .list: [.answer([.emitList])]
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
        let isLive = lane.current?.isLive == true
        if isLive, now - pause.begin >= Self.longestLivePause { return restart(at: .zero) }
        if output.isLost { return output.reconnect(atOnce: true) }
        return output.isPrimed ? [.startOutput] : []
    }

    private mutating func pause() -> [PlayerEffect] {
        // A pause by the user remains even if the audio server ends its own.
        currentPause?.isByServer = false
        guard !isPaused, let pass = lane.current else { return [] }
        currentPause = Pause(begin: now)
        return output.pause() + [pausedEvent(pass)]
    }

    private mutating func stop() -> [PlayerEffect] {
        guard phase == .active else { return [] }
        let effects = leave() + silence()
        phase = .stopped
        currentPause = nil
        return effects
    }

    private mutating func setStop(after point: PlayPoint?) -> [PlayerEffect] {
        let text: SafeText =
            switch point {
            case .track: "Stops after this track"
            case .album: "Stops after this album"
            case nil: "Plays on after this track"
            }
        let fade = sleep.point == nil ? [] : wake()
        return [announcer.remark("stop-after", text)] + fade + stop(after: point)
    }

    /// Stops playing after the track or its album, or plays on. If the next track is in the ring already, the
    /// current one is decoded again.
    mutating func stop(after point: PlayPoint?) -> [PlayerEffect] {
        stopPoint = point
        let isCut =
            lane.current.flatMap { queue.place(of: $0.track.id) }.map { stops(after: $0) } == true
            && lane.lastGranted?.id != lane.current?.id && lane.lastGranted != nil
        return isCut ? restart(at: position) : dropStalePreparation() + followUp()
    }

    private mutating func quit() -> [PlayerEffect] {
        isQuit = true
        // The sink is paused first, so that all frames it took are counted.
        return output.pause() + finish(fatal: nil)
    }

    /// As in other players, `previous` then first returns to the start of the track.
    private var hasPlayedForAWhile: Bool { position > .seconds(3) && lane.current?.isLive != true }

    /// `true` if `previous` plays the current track from its beginning.
    var previousRestarts: Bool { hasPlayedForAWhile || phase == .ended || !queue.hasPrevious }

    private mutating func previous() -> [PlayerEffect] {
        if hasPlayedForAWhile { return restart(at: .zero, answersSeek: true) }
        if phase == .ended, let last = queue.current ?? queue.last { return begin(last, at: .zero) }
        return queue.previous().map { begin($0, at: .zero) } ?? []
    }

    private mutating func jump(to number: Int) -> [PlayerEffect] {
        guard isInQueue(TrackNumbers(number)) else { return [noTrack(number)] }
        currentPause = nil
        queue.bringForward(number - 1)
        return begin(number - 1, at: .zero)
    }

    private mutating func seek(_ target: SeekTarget) -> [PlayerEffect] {
        guard let pass = lane.current else { return [] }
        if pass.isLive {
            guard pass.isSeekable else {
                return [announcer.remark(Announcer.notSeekableCode, "Can't seek in a live stream")]
            }
            guard case .by = target else {
                let message: SafeText = "Can't seek to a time in a live stream – seek by a distance, as -30"
                return [announcer.remark(Announcer.notSeekableCode, message)]
            }
        }
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
        guard let pass = lane.current else { return [] }
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

    /// The number of the current track; empty if there is none.
    var currentNumber: TrackNumbers { TrackNumbers(queue.current.map { $0 + 1 } ?? 0) }

    /// Pins tracks or unpins them, the current one without `numbers`. `nil` pins them if the first one is not
    /// pinned, and otherwise unpins them.
    private mutating func pin(_ numbers: TrackNumbers?, _ isPinned: Bool?) -> [PlayerEffect] {
        choose(numbers, to: "pin", refusesLive: isPinned != false) { .togglePin($0, isPinned) }
    }

    private mutating func download(_ numbers: TrackNumbers?) -> [PlayerEffect] {
        choose(numbers, to: "download") { .download($0, answers: true) }
    }

    /// The effect for the tracks with `numbers`; `nil` stands for the current track. Unless the caller says
    /// otherwise, leaves out the live stream that plays: none of it is ever cached.
    private mutating func choose(
        _ numbers: TrackNumbers?,
        to verb: String,
        refusesLive: Bool = true,
        _ effect: ([Track]) -> PlayerEffect
    ) -> [PlayerEffect] {
        let chosen = numbers ?? currentNumber
        guard isInQueue(chosen) else {
            return [numbers == nil ? announcer.badCommand("No track to \(verb)") : noTrack(chosen.highest)]
        }
        let live = refusesLive ? lane.current.flatMap { $0.isLive ? $0.track.id : nil } : nil
        let tracks = chosen.places.ranges.flatMap { queue.tracks[$0] }
        let cacheable = tracks.filter { $0.id != live }
        let refused = cacheable.count < tracks.count
        return (refused ? [announcer.badCommand("Can't \(verb) a live stream (it can't be cached)")] : [])
            + (cacheable.isEmpty ? [] : [effect(cacheable)])
    }

    private mutating func changeDownloads(
        _ change: DownloadChange,
        _ choice: DownloadChoice
    ) -> [PlayerEffect] {
        switch choice {
        case .all: return [.changeDownloads(change, nil)]
        case .at(let location): return [.changeDownloads(change, [location])]
        case .numbers(let numbers):
            guard isInQueue(numbers) else { return [noTrack(numbers.highest)] }
            let tracks = numbers.places.ranges.flatMap { queue.tracks[$0] }
            return [.changeDownloads(change, Set(tracks.map(\.location)))]
        }
    }

    private mutating func setAhead(_ goal: AheadGoal?) -> [PlayerEffect] {
        guard goal == nil || !connectivity.isForced else {
            return [announcer.badCommand("Can't download ahead: --offline forbids the network")]
        }
        aheadGoal = goal
        return [.restartAhead]
    }

    private func status() -> [PlayerEffect] {
        guard let pass = lane.current else {
            return [.emit(.loaded(tracks: queue.tracks.count)), .emitStatus]
        }
        let track = announcer.trackEvent(pass, index: index(of: pass), isPlayed: isPlayed(pass))
        let position = isPaused ? pausedEvent(pass) : .emitPosition(index: index(of: pass))
        return [track, position, .emitStatus]
    }

    var modes: PlayModes {
        PlayModes(isShuffled: queue.isShuffled, repeatMode: queue.repeatMode, gainMode: gainMode)
    }

    private func pausedEvent(_ pass: Pass) -> PlayerEffect {
        .emit(.paused(index: index(of: pass), position: position, isExact: isExact))
    }

    private func isInQueue(_ numbers: TrackNumbers) -> Bool {
        numbers.count > 0 && numbers.highest <= queue.tracks.count
    }

    mutating func noTrack(_ number: Int) -> PlayerEffect { announcer.badCommand("No track \(number)") }

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

    private mutating func setRepeat(_ mode: RepeatMode?) -> [PlayerEffect] {
        let next: [RepeatMode: RepeatMode] = [.off: .all, .all: .one, .one: .off]
        return changeOrder { $0.repeatMode = mode ?? next[$0.repeatMode] ?? .off }
    }

    /// Carries out `change`, after which the prepared track may no longer be the next one.
    private mutating func changeOrder(_ change: (inout PlayQueue) -> Void) -> [PlayerEffect] {
        change(&queue)
        return dropStalePreparation()
    }

    private mutating func add(_ source: String) -> [PlayerEffect] {
        queue.additionRequested()
        return [.resolve(source)]
    }

    private mutating func open(_ source: String) -> [PlayerEffect] {
        queue.additionRequested()
        openedSource = source
        foreignSources.insert(source)
        return [.resolve(source, isForeign: true)]
    }

    private mutating func stopReading() -> [PlayerEffect] {
        isReadingSources ? [.stopReading] : [announcer.badCommand("Nothing is being read")]
    }

    private mutating func remove(_ numbers: TrackNumbers) -> [PlayerEffect] {
        guard isInQueue(numbers) else { return [noTrack(numbers.highest)] }
        return removing(numbers.places) { $0.remove(numbers.places, ending: $1) }
    }

    /// The playback of the current track if it is at one of `places`; `nil` if it is not, or if nothing
    /// plays.
    private func playback(at places: RangeSet<Int>) -> EndedPlayback? {
        guard let pass = lane.current, let place = queue.place(of: pass.track.id), places.contains(place)
        else { return nil }
        let position = pass.isLive ? .zero : position
        return EndedPlayback(track: pass.track.id, position: position, heard: heardSpans, isPaused: isPaused)
    }

    /// Carries out `change`, which removes the tracks at `places` from the queue, and ends their playback.
    private mutating func removing(
        _ places: RangeSet<Int>,
        by change: (inout PlayQueue, EndedPlayback?) -> Void
    ) -> [PlayerEffect] {
        let playback = playback(at: places)
        // If PCM of a removed track follows the current track in the ring, the current track is decoded
        // again.
        let isCut = playback == nil && areWritten(places)
        let left = playback == nil ? [] : leave()
        if !announcer.failures.isEmpty {
            for place in places.ranges.joined() { announcer.forgetFailure(of: queue.tracks[place].id) }
        }
        change(&queue, playback)
        guard playback != nil else { return isCut ? restart(at: position) : dropStalePreparation() }
        // Before the events of the next track, which have its number after the change.
        return left + queueEvents() + goOn(to: queue.current)
    }

    /// `true` if a track at `places` has a pass that was allowed to write, so that its PCM is in the ring or
    /// on its way.
    private func areWritten(_ places: RangeSet<Int>) -> Bool {
        lane.passes.contains { pass in
            pass.id != lane.prepared?.id && queue.place(of: pass.track.id).map { places.contains($0) } == true
        }
    }

    private mutating func move(_ numbers: TrackNumbers, to target: Int) -> [PlayerEffect] {
        guard isInQueue(numbers), isInQueue(TrackNumbers(target)) else {
            return [announcer.badCommand("Tracks are numbered 1 to \(queue.tracks.count)")]
        }
        return changeOrder { $0.move(numbers.places, to: target - 1) }
    }

    private mutating func playNext(_ numbers: TrackNumbers, after point: PlayPoint) -> [PlayerEffect] {
        guard isInQueue(numbers) else { return [noTrack(numbers.highest)] }
        return changeOrder { [facts = announcer.facts] in
            $0.playNext(numbers.places, after: point, facts: facts)
        }
    }

    private mutating func clear() -> [PlayerEffect] {
        let playback = playback(at: RangeSet(queue.tracks.indices))
        let effects = stop()
        queue.clear(ending: playback)
        announcer.forgetFailures()
        return effects
    }

    private mutating func clearOthers() -> [PlayerEffect] {
        guard let current = queue.current else { return clear() }
        var others = RangeSet(queue.tracks.indices)
        others.remove(current, within: queue.tracks)
        return others.isEmpty ? [] : removing(others) { $0.remove(others, ending: $1) }
    }

    /// Undoes the last change of the queue. The current track keeps playing, unless it was part of an undone
    /// addition, or replaced the track whose playback the change ended: that track continues where it was.
    private mutating func undo() -> [PlayerEffect] {
        let added = queue.history.lastAddition.map { RangeSet($0) } ?? RangeSet()
        var undone: (step: QueueStep, playback: EndedPlayback?)?
        let effects = removing(added) { queue, _ in undone = queue.undo() }
        guard let undone else { return [announcer.badCommand("Nothing to undo")] }
        return [announcer.remark("undone", undone.step.undoneText)] + effects + resume(undone.playback)
    }

    private mutating func resume(_ playback: EndedPlayback?) -> [PlayerEffect] {
        guard let playback, let place = queue.place(of: playback.track) else { return [] }
        queue.putBefore(place)
        currentPause = playback.isPaused ? Pause(begin: now) : nil
        let effects = begin(place, at: playback.position, heard: playback.heard)
        guard isPaused, let pass = lane.current else { return effects }
        return effects + [pausedEvent(pass)]
    }
}
