import Media

/// Carries out the effects of `PlayerState`. Used by the player's loop alone, so it needs no lock.
final class PlayerShell {
    private let parts: PlaybackParts
    private let settings: PlaybackSettings
    private let tell: @Sendable (PlayerInput) -> Void
    private(set) var state: PlayerState
    private(set) var ledger = Ledger()
    private(set) var isOver = false
    /// The failures of the newest snapshot.
    var shownFailures: [Track.ID: SafeText] = [:]
    let runs: RunTable
    private let sound: SoundPath
    private var fatal: MediaError?
    private let errands: Errands
    private var tickTask: Task<Void, Never>?

    init(parts: PlaybackParts, settings: PlaybackSettings, tell: @escaping @Sendable (PlayerInput) -> Void) {
        self.parts = parts
        self.settings = settings
        self.tell = tell
        state = PlayerState(
            exitsAtEnd: settings.exitsAtEnd,
            opensEachTrack: parts.output.opensEachTrack,
            volume: settings.volume,
            repeatMode: settings.repeatMode,
            isShuffled: settings.shuffle,
            seed: settings.seed
        )
        runs = RunTable(parts: parts, tell: tell)
        errands = Errands(parts: parts, tell: tell)
        sound = SoundPath(output: parts.output, settings: settings, tell: tell)
        parts.output.setVolume(settings.volume, isMuted: false)
    }

    /// Takes one input, and what its effects lead to at once.
    func take(_ input: PlayerInput) async {
        // What the state then hears is what the sink has taken, and no frame more.
        if state.willCut(input) { await sound.pause() }
        var pending = [input]
        while !pending.isEmpty, !isOver {
            let next = pending.removeFirst()
            for effect in state.handle(next, heard: sound.heard, now: parts.clock.now) {
                guard let followUp = await perform(effect) else { continue }
                pending.append(followUp)
                // What stands behind an opening that failed has lost its ground.
                if case .outputFailed = followUp { break }
            }
        }
        if !isOver { await goOn() }
        updateTicks()
    }

    /// Sounds again where the sink stood still for a cut that did not come to pass: the track it was meant
    /// for ended just before.
    private func goOn() async {
        guard state.isSounding, !sound.isRunning else { return }
        let started = await sound.start()
        guard case .outputFailed = started else {
            if state.isFinishing { sound.drain() }
            return
        }
        tell(started)
    }

    private func perform(_ effect: PlayerEffect) async -> PlayerInput? {
        switch effect {
        case .startRun(let id, let track, let start, let reused, let refresh):
            runs.start(id, track, at: start, reusing: reused, refresh: refresh)
        case .cancelRun(let id, let keepsResource): await cancelRun(id, keepsResource: keepsResource)
        case .grant(let id, let holds): return grant(id, holds: holds)
        case .release(let id): runs.control(of: id)?.release()
        case .requestPrime(let id): requestPrime(id)
        case .openOutput(let format): return await sound.open(format)
        case .startOutput: return await sound.start()
        case .pauseOutput: await sound.pause()
        case .flushOutput: await sound.flush()
        case .forgetOutput: await sound.lost()
        case .finishRing: sound.finishRing()
        case .drain: sound.drain()
        case .allowReadAhead(let id): allowReadAhead(id)
        case .prefetchHead(let id): prefetchHead(id)
        case .reject(let id): await runs.reader(of: id)?.reject()
        case .emit(let event): emit(event)
        case .countLostSource: ledger.sourceLost()
        case .endTrack(let id, let index, let reason, let frames, let stalls, let error):
            endTrack(id, index: index, reason, frames: frames, stalls: stalls, error)
        case .setVolume(let percent, let isMuted): parts.output.setVolume(percent, isMuted: isMuted)
        case .setTitle(let title): parts.output.setTitle(title)
        case .resolve(let source): errands.resolve(source)
        case .save(let path): errands.save(state.queue.tracks, to: path)
        case .finish(let error):
            fatal = error
            isOver = true
        }
        return nil
    }

    // MARK: Passes

    private func cancelRun(_ id: RunID, keepsResource: Bool) async {
        if let report = await runs.cancel(id, keepsResource: keepsResource) { ledger.resourceClosed(report) }
    }

    private func grant(_ id: RunID, holds: Bool) -> PlayerInput? {
        guard let control = runs.control(of: id), let ring = sound.ring else { return nil }
        let start = ring.writtenFrames
        control.grant(ring, primeTarget: holds ? sound.startFrames : nil, holds: holds)
        return .runGranted(id, start: start)
    }

    private func requestPrime(_ id: RunID) {
        guard let ring = sound.ring, let control = runs.control(of: id) else { return }
        control.requestPrime(at: sound.restartFrames)
        // The pass may have filled the ring while the news of the empty one was on its way, and now sleep.
        if control.takePrime(available: ring.availableFrames, isLast: false) { tell(.runPrimed(id)) }
    }

    // MARK: Bytes

    private func allowReadAhead(_ id: RunID) {
        guard let info = state.info(of: id) else { return }
        runs.reader(of: id)?.allowReadAhead(bytesPerSecond: info.bytesPerSecond)
    }

    private func prefetchHead(_ id: RunID) {
        guard let reader = runs.reader(of: id), let info = state.info(of: id) else { return }
        let bytes = Int64(min(max(0, info.bytesPerSecond * settings.headTime.seconds), 1e12))
        reader.prefetch(info.audioStart..<info.audioStart + bytes)
    }

    // MARK: Events

    private func emit(_ event: PlayerEvent) {
        var event = event
        // What is buffered is known here and not to the state.
        if case .position(let index, let position, let duration, let isExact, _) = event {
            event = .position(
                index: index,
                position: position,
                duration: duration,
                isExact: isExact,
                buffered: buffered
            )
        }
        parts.report(event)
    }

    private func endTrack(
        _ id: RunID,
        index: Int,
        _ reason: PlayerEvent.EndReport.Reason,
        frames: FrameCount,
        stalls: Int,
        _ error: MediaError?
    ) {
        let load = runs.resource(of: id)?.report ?? LoadReport()
        let report = PlayerEvent.EndReport(
            index: index,
            reason: reason,
            frames: frames,
            cachedBytes: load.cachedBytes,
            fetchedBytes: load.fetchedBytes,
            requestCount: load.requestCount,
            stalls: stalls,
            error: error
        )
        ledger.trackEnded(report)
        parts.report(.ended(report))
    }

    // MARK: Time and the end

    private func updateTicks() {
        guard state.needsTicks, !isOver else {
            tickTask?.cancel()
            tickTask = nil
            return
        }
        guard tickTask == nil else { return }
        tickTask = Task { [clock = parts.clock, tick = settings.tick, tell] in
            while (try? await clock.sleep(for: tick)) != nil { tell(.tick) }
        }
    }

    /// Ends everything, and commits what came. Lists that are being saved are waited for.
    ///
    /// `closeInbox` is called when nothing will be told any more, and returns what was told last.
    func shutDown(closeInbox: () -> [PlayerInput]) async -> PlayerOutcome {
        tickTask?.cancel()
        errands.stopResolving()
        for id in runs.ids { await cancelRun(id, keepsResource: false) }
        // The sink is silent before the disk is waited for.
        await sound.close()
        await runs.close()
        await errands.finishSaving()
        for case .notice(let error) in closeInbox() {
            parts.report(.notice(code: error.code.rawValue, message: error.safeText))
        }
        parts.report(.summary(ledger.summary))
        return PlayerOutcome(summary: ledger.summary, fatal: fatal, isQuit: state.isQuit)
    }
}

extension MediaError {
    /// The error itself when it is one of ours, else its words.
    init(describing error: any Error) {
        self = error as? MediaError ?? MediaError(.internalError, "reprise", SafeText("\(error)"))
    }
}
