import Media

// What the listener asks for.
extension PlayerState {
    /// Obeys at once, or once the sources are known when the command is about them.
    mutating func obey(_ command: PlayerCommand) -> [PlayerEffect] {
        if mustWait(command) {
            held.append(command)
            return []
        }
        if let again = obeyedAgain(command) { held.append(again) }
        // What failed before may do better for a listener who asks anew.
        consecutiveFailures = 0
        let isTried = command.wantsMusic && connectivity.isOffline && !connectivity.isForced
        return (isTried ? [.retryNetwork] : []) + answer(to: command)
    }

    private mutating func answer(to command: PlayerCommand) -> [PlayerEffect] {
        switch command {
        case .play: play()
        case .pause: pause()
        case .toggle: phase == .active && !isPaused ? pause() : play()
        case .stop: stop()
        case .next: skip(to: queue.next(after: queue.current))
        case .previous: previous()
        case .jump(let number): jump(to: number)
        case .seek(let target): seek(target)
        case .volume(let percent): setVolume(percent, isMuted: false)
        case .changeVolume(let change): setVolume(volume + change, isMuted: false)
        case .mute: setVolume(volume, isMuted: !isMuted)
        case .shuffle: toggleShuffle()
        case .setRepeat(let mode): setRepeat(mode)
        case .setGain(let mode): setGain(mode ?? gainMode.next)
        case .add(let source): add(source)
        case .remove(let numbers): remove(numbers)
        case .move(let numbers, let target): move(numbers, to: target)
        case .sort(let key): sort(by: key)
        case .shuffleNow: shuffleNow()
        case .clear: clear()
        case .undo: undo()
        case .save(let path): [.save(path)]
        case .reload: reload()
        case .pin(let number): pin(number)
        case .status: status()
        case .quit: quit()
        }
    }

    private mutating func play() -> [PlayerEffect] {
        guard phase == .active else {
            let place = phase == .ended ? queue.next(after: nil) : queue.current ?? queue.next(after: nil)
            return place.map { begin($0, at: .zero) } ?? []
        }
        guard isPaused else { return [] }
        isPaused = false
        isPausedByServer = false
        if passes.first?.isLive == true, now - pausedSince >= Self.longestLivePause {
            // What waits is old; what is live by now is what the listener wants.
            return restart(at: .zero, answersSeek: false)
        }
        if output.isLost { return reconnect(atOnce: true) }
        return isPrimed ? [.startOutput] : []
    }

    private mutating func pause() -> [PlayerEffect] {
        // Who asks for a pause means it, also where the server asked before.
        isPausedByServer = false
        guard phase == .active, !isPaused, let pass = passes.first else { return [] }
        isPaused = true
        pausedSince = now
        let paused = PlayerEffect.emit(.paused(index: index(of: pass), position: position, isExact: isExact))
        guard output.isRunning else { return [paused] }
        output.isRunning = false
        isPrimed = true
        return [.pauseOutput, paused]
    }

    mutating func stop() -> [PlayerEffect] {
        guard phase == .active else { return [] }
        defer {
            phase = .stopped
            isPaused = false
        }
        return leave(.skipped) + cancelPasses() + silence()
    }

    private mutating func quit() -> [PlayerEffect] {
        isQuit = true
        let unsaved = held.compactMap { command in
            if case .save(let path) = command { path } else { nil }
        }
        held = []
        let notices = unsaved.map { misuse("\($0) was not saved: the tracks were not known yet") }
        return notices + leave(.skipped) + cancelPasses() + finish(fatal: nil)
    }

    private mutating func skip(to place: Int?) -> [PlayerEffect] {
        guard let place else {
            let effects = leave(.skipped) + cancelPasses() + silence()
            return effects + endOfQueue()
        }
        return begin(place, at: .zero)
    }

    /// Whether `previous` leads to the start of the current track, as the first press does on every player where the
    /// track is under way.
    var goesBackToStart: Bool {
        phase == .active && position > .seconds(3) && passes.first?.isLive != true
    }

    private mutating func previous() -> [PlayerEffect] {
        if goesBackToStart {
            return restart(at: .zero, answersSeek: true)
        }
        if phase == .ended, let last = queue.current ?? queue.last { return begin(last, at: .zero) }
        return queue.previous().map { begin($0, at: .zero) } ?? []
    }

    private mutating func jump(to number: Int) -> [PlayerEffect] {
        guard queue.tracks.indices.contains(number - 1) else {
            return [misuse("there is no track \(number)")]
        }
        isPaused = false
        queue.bringForward(number - 1)
        return begin(number - 1, at: .zero)
    }

    private mutating func seek(_ target: SeekTarget) -> [PlayerEffect] {
        guard phase == .active, let pass = passes.first else { return [] }
        guard !pass.isLive else { return [refusedSeek("a live stream cannot be seeked")] }
        guard pass.isSeekable else {
            return [misuse("this server cannot be seeked; it sends files only as a whole")]
        }
        guard let start = place(of: target) else { return [misuse("the track's length is not known yet")] }
        let isSearch = lastSeek.map { now - $0 < Self.searchPace } ?? false
        let isRepeated = isRepeated(target, in: pass, at: now)
        lastSeek = now
        if isRepeated { return [] }
        let isStep = if case .by = target { true } else { false }
        let effects = restart(at: start, answersSeek: true)
        seeking = passes.first.map { ($0.id, isSearch ? .search : isStep ? .step : .place) }
        return effects
    }

    /// Where `target` leads in the current track; nil where only the track's length would tell.
    private func place(of target: SeekTarget) -> Duration? {
        let wanted: Duration
        switch target {
        case .by(let distance): wanted = position + distance
        case .to(let time): wanted = time
        case .percent(let share):
            guard let duration else { return nil }
            wanted = duration * (share / 100)
        }
        return max(.zero, min(wanted, duration ?? .seconds(1_000_000)))
    }

    /// Whether a key is held down that names the place where the music is about to be, or just came to.
    func isRepeated(_ target: SeekTarget, in pass: Pass, at now: Duration) -> Bool {
        guard isByHand, pass.answersSeek, let lastSeek, now - lastSeek < Self.searchPace else { return false }
        if case .by = target { return false }
        return place(of: target) == pass.start
    }

    private mutating func setVolume(_ percent: Int, isMuted: Bool) -> [PlayerEffect] {
        volume = max(0, min(100, percent))
        self.isMuted = isMuted
        return [.setVolume(volume, isMuted: isMuted)]
    }

    private mutating func toggleShuffle() -> [PlayerEffect] {
        queue.toggleShuffle(using: &random)
        return dropStalePreparation()
    }

    private mutating func setRepeat(_ mode: RepeatMode?) -> [PlayerEffect] {
        switch mode {
        case .some(let mode): queue.repeatMode = mode
        case nil:
            switch queue.repeatMode {
            case .off: queue.repeatMode = .all
            case .all: queue.repeatMode = .one
            case .one: queue.repeatMode = .off
            }
        }
        return dropStalePreparation()
    }

    private mutating func reload() -> [PlayerEffect] {
        guard let pass = passes.first, phase == .active else { return [] }
        return restart(at: pass.stage == .opening ? pass.start : position, answersSeek: false, refresh: true)
    }

    private mutating func pin(_ number: Int?) -> [PlayerEffect] {
        guard let number else {
            return currentTrack.map { [.togglePin($0)] } ?? [misuse("there is no track to pin")]
        }
        guard queue.tracks.indices.contains(number - 1) else {
            return [misuse("there is no track \(number)")]
        }
        return [.togglePin(queue.tracks[number - 1])]
    }

    private func status() -> [PlayerEffect] {
        guard let pass = passes.first else { return [.emit(.loaded(tracks: queue.tracks.count))] }
        return [trackEvent(pass), isPaused ? pausedEvent(pass) : positionEvent(pass)]
    }

    private func pausedEvent(_ pass: Pass) -> PlayerEffect {
        .emit(.paused(index: index(of: pass), position: position, isExact: isExact))
    }

    private mutating func refusedSeek(_ text: SafeText) -> PlayerEffect {
        note(text)
        return .emit(.remark(code: "not-seekable", message: text))
    }

    mutating func misuse(_ text: String) -> PlayerEffect {
        note(SafeText(text))
        return .emit(.notice(code: "bad-command", message: SafeText(text)))
    }
}

extension PlayerCommand {
    /// Whether the listener wants to hear something that may not be here.
    fileprivate var wantsMusic: Bool {
        switch self {
        case .play, .toggle, .next, .previous, .jump, .seek, .reload: true
        case .pause, .stop, .volume, .changeVolume, .mute, .shuffle, .shuffleNow, .setRepeat, .setGain, .add,
            .remove,
            .move, .sort, .clear, .undo, .save, .pin, .status, .quit:
            false
        }
    }
}
