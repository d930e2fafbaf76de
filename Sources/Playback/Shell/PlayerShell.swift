import Media

/// Carries out the effects of `PlayerState`. Used by the player's loop alone, so it needs no lock.
final class PlayerShell {
    private let parts: PlaybackParts
    var clock: any MonotonicClock { parts.clock }
    private let settings: PlaybackSettings
    private let tell: @Sendable (PlayerInput) -> Void
    private(set) var state: PlayerState
    private(set) var ledger = Ledger()
    private(set) var isOver = false
    /// The failures of the newest snapshot.
    var shownFailures: [Track.ID: SafeText] = [:]
    let runs: RunTable
    private let sound: SoundPath
    let kept: KeptWatch?
    /// Passes of which something was heard; of those that end in good order the rest may be fetched.
    private var heardRuns: Set<RunID> = []
    private var lastLook = Duration.zero
    private var fatal: MediaError?
    private let errands: Errands
    private var tickTask: Task<Void, Never>?

    init(
        parts: PlaybackParts,
        settings: PlaybackSettings,
        tap: SoundTap,
        tell: @escaping @Sendable (PlayerInput) -> Void
    ) {
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
        state.resumePoint = parts.resumePoint
        runs = RunTable(parts: parts, settings: settings, tap: tap, tell: tell) { tell(.filled($0)) }
        kept = parts.kept.map { kept in KeptWatch(kept: kept) { tell(.keptChanged) } }
        errands = Errands(parts: parts, tell: tell)
        sound = SoundPath(output: parts.output, settings: settings, tell: tell)
        parts.output.setVolume(settings.volume, isMuted: false)
        if let connectivity = parts.connectivity {
            // What is known by now is no news, but is shown.
            connectivity.observe { tell(.networkChanged($0)) }
            state.start(with: connectivity.report)
        }
    }

    /// Takes one input, and what its effects lead to at once.
    func take(_ input: PlayerInput) async {
        if case .filled(let report) = input { return ledger.resourceClosed(report) }
        // What the state then hears is what the sink has taken, and no frame more.
        if state.willCut(input) { await sound.pause() }
        if case .pinned(let track, _) = input { kept?.look(again: track) }
        var pending = [input]
        if case .tick = input { pending += lookAtLoad() }
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
        case .togglePin(let track): errands.togglePin(track)
        case .retryNetwork: parts.connectivity?.retryNow()
        case .setVolume(let percent, let isMuted): parts.output.setVolume(percent, isMuted: isMuted)
        case .setTitle(let title): parts.output.setTitle(title)
        case .resolve(let source): errands.resolve(source)
        case .save(let path): errands.save(state.describedTracks, to: path)
        case .finish(let error):
            fatal = error
            isOver = true
        }
        return nil
    }

    // MARK: Passes

    private func cancelRun(_ id: RunID, keepsResource: Bool) async {
        let fills = heardRuns.remove(id) != nil
        if let report = await runs.cancel(id, keepsResource: keepsResource, fills: fills) {
            ledger.resourceClosed(report)
        }
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

    /// What the current pass waits for, and once a second how much of its track is here.
    private func lookAtLoad() -> [PlayerInput] {
        guard let id = state.currentRun, let resource = runs.resource(of: id) else { return [] }
        let now = parts.clock.now
        if now - lastLook >= .seconds(1) {
            lastLook = now
            kept?.look(again: resource.track)
        }
        return [.loadWaits(id, resource.report.wait)]
    }

    // MARK: Events

    private func emit(_ event: PlayerEvent) {
        var event = event
        // What is buffered and stored is known here and not to the state.
        if case .loaded = event { kept?.look(atNewOf: state.queue.tracks) }
        if case .track(var report) = event {
            report.cached = cachedPart(ofTrack: report.index - 1)
            event = .track(report)
        }
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
        if frames > 0, reason != .failed { heardRuns.insert(id) }
        if let track = runs.resource(of: id)?.track { kept?.look(again: track) }
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
        kept?.stop()
        errands.stopResolving()
        heardRuns = []
        for id in runs.ids { await cancelRun(id, keepsResource: false) }
        // The sink is silent before the disk is waited for.
        await sound.close()
        await runs.close()
        await errands.finishSaving()
        for input in closeInbox() {
            switch input {
            case .notice(let error):
                parts.report(.notice(code: error.code.rawValue, message: error.safeText))
            case .filled(let report): ledger.resourceClosed(report)
            default: break
            }
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
