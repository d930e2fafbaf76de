import Media
import System

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
    let passes: PassTable
    private let sound: SoundPath
    let kept: KeptWatch?
    /// Passes of which something was heard; of those that end in good order the rest may be fetched.
    private var heardPasses: Set<PassID> = []
    private var lastLook = Duration.zero
    private var fatal: MediaError?
    private let errands: Errands
    /// The tick that is to come.
    private var tick: (due: Duration, task: Task<Void, Never>)?
    /// What nobody sees.
    private static let tickTolerance = Duration.milliseconds(20)

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
            isByHand: settings.placeSettling == .zero,
            volume: settings.volume ?? 100,
            repeatMode: settings.repeatMode,
            isShuffled: settings.shuffle,
            gainMode: settings.gainMode,
            seed: settings.seed
        )
        state.resumePoint = parts.resumePoint
        passes = PassTable(parts: parts, settings: settings, tap: tap, tell: tell) { tell(.filled($0)) }
        kept = parts.kept.map { kept in KeptWatch(kept: kept) { tell(.keptChanged) } }
        errands = Errands(parts: parts, tell: tell)
        sound = SoundPath(output: parts.output, reaching: parts.reaching, settings: settings, tell: tell)
        if let volume = settings.volume { parts.output.setVolume(volume, isMuted: false) }
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
        if state.willCut(input, at: parts.clock.now) { await sound.pause() }
        if case .pinned(let track, _) = input { kept?.look(again: track) }
        var pending = [input]
        if case .tick = input {
            // One that was told as it was replaced must not begin a second row of them.
            tick?.task.cancel()
            tick = nil
            pending += lookAtLoad()
        }
        while !pending.isEmpty, !isOver {
            let next = pending.removeFirst()
            for effect in state.handle(next, heard: sound.heard, now: parts.clock.now) {
                guard let followUp = await perform(effect) else { continue }
                pending.append(followUp)
                // What stands behind an opening that failed has lost its ground.
                if case .outputFailed = followUp { break }
            }
        }
        if case .begun = input { kept?.look(atNewOf: state.queue.tracks) }
        passes.hurry(except: state.patientPass)
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
        case .startPass(let id, let track, let start, let reused, let refresh):
            let settling = settling(of: id, reusing: reused, at: start)
            passes.start(
                id,
                track,
                at: start,
                reusing: reused,
                refresh: refresh,
                isPatient: id == state.patientPass,
                settling: settling
            )
        case .cancelPass(let id, let keepsResource): await cancelPass(id, keepsResource: keepsResource)
        case .grant(let id, let holds): return grant(id, holds: holds)
        case .release(let id): passes.control(of: id)?.release()
        case .requestPrime(let id): requestPrime(id)
        case .openOutput(let format): return await sound.open(format)
        case .startOutput: return await sound.start()
        case .pauseOutput: await sound.pause()
        case .flushOutput: await sound.flush()
        case .forgetOutput: await sound.lost()
        case .reconnectOutput(let delay, let attempt):
            sound.reconnect(after: delay, attempt: attempt, by: parts.clock)
        case .finishRing: sound.finishRing()
        case .drain: sound.drain()
        case .allowReadAhead(let id): allowReadAhead(id)
        case .prefetchHead(let id): prefetchHead(id)
        case .reject(let id): await passes.reader(of: id)?.reject()
        case .emit(let event): emit(event)
        case .countLostSource: ledger.sourceLost()
        case .endTrack(let id, let index, let reason, let frames, let stalls, let error):
            endTrack(id, index: index, reason, frames: frames, stalls: stalls, error)
        case .togglePin(let track): errands.togglePin(track)
        case .retryNetwork: parts.connectivity?.retryNow()
        case .setVolume(let percent, let isMuted): parts.output.setVolume(percent, isMuted: isMuted)
        case .setGain(let id, let stage): passes.control(of: id)?.setGain(stage)
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

    private func cancelPass(_ id: PassID, keepsResource: Bool) async {
        let fills = heardPasses.remove(id) != nil
        if let report = await passes.cancel(id, keepsResource: keepsResource, fills: fills) {
            ledger.resourceClosed(report)
        }
    }

    /// How long the pass of a seek waits for another one before it costs a request.
    ///
    /// One into stored bytes goes at once.
    private func settling(of id: PassID, reusing reused: PassID?, at start: Duration) -> Duration {
        let wait: Duration =
            switch state.seekKind(of: id) {
            case .search: settings.seekSettling
            case .step: settings.stepSettling
            case .place: settings.placeSettling
            case nil: .zero
            }
        guard wait > .zero, let reused, let info = state.info(of: id),
            let reader = passes.keptReader(of: reused)
        else { return .zero }
        let offset = info.audioStart + Int64(min(start.seconds * info.bytesPerSecond, 1e15))
        let end = min(offset + settings.seekReach, reader.length ?? .max)
        guard offset < end else { return .zero }
        return reader.isStored(max(0, offset - settings.seekReach)..<end) ? .zero : wait
    }

    private func grant(_ id: PassID, holds: Bool) -> PlayerInput? {
        guard let control = passes.control(of: id), let ring = sound.ring else { return nil }
        let start = ring.writtenFrames
        control.grant(ring, primeTarget: holds ? sound.startFrames : nil, holds: holds)
        return .passGranted(id, start: start)
    }

    private func requestPrime(_ id: PassID) {
        guard let ring = sound.ring, let control = passes.control(of: id) else { return }
        control.requestPrime(at: sound.restartFrames)
        // The pass may have filled the ring while the news of the empty one was on its way, and now sleep.
        if control.takePrime(available: ring.availableFrames, isLast: false) { tell(.passPrimed(id)) }
    }

    // MARK: Bytes

    private func allowReadAhead(_ id: PassID) {
        guard let info = state.info(of: id) else { return }
        let reader = passes.reader(of: id)
        reader?.allowReadAhead(bytesPerSecond: info.bytesPerSecond)
        // What is missing before an estimated place tells where it is.
        if settings.fillsHeardTracks, !state.isExact(id) { reader?.fill() }
    }

    private func prefetchHead(_ id: PassID) {
        guard let reader = passes.reader(of: id), let info = state.info(of: id) else { return }
        let bytes = Int64(min(max(0, info.bytesPerSecond * settings.headTime.seconds), 1e12))
        reader.prefetch(info.audioStart..<info.audioStart + bytes)
    }

    /// What the current pass waits for, and once a second how much of its track is here.
    private func lookAtLoad() -> [PlayerInput] {
        guard let id = state.currentPass, let resource = passes.resource(of: id) else { return [] }
        let now = parts.clock.now
        if now - lastLook >= .seconds(1) {
            lastLook = now
            kept?.look(again: resource.track)
            if let next = state.prepared?.track { kept?.look(again: next) }
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
        _ id: PassID,
        index: Int,
        _ reason: PlayerEvent.EndReport.Reason,
        frames: FrameCount,
        stalls: Int,
        _ error: MediaError?
    ) {
        let load = passes.resource(of: id)?.report ?? LoadReport()
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
        if frames > 0, reason != .failed { heardPasses.insert(id) }
        if let track = passes.resource(of: id)?.track { kept?.look(again: track) }
        parts.report(.ended(report))
    }

    // MARK: Time and the end

    /// Lets the next tick come when something is due.
    private func updateTicks() {
        guard state.needsTicks, !isOver else {
            tick?.task.cancel()
            tick = nil
            return
        }
        let due = parts.clock.now + state.untilDue(atMost: settings.tick)
        // A tick that comes about then will do.
        if let tick, tick.due <= due + Self.tickTolerance { return }
        tick?.task.cancel()
        let task = Task { [clock = parts.clock, tell] in
            guard (try? await clock.sleep(until: due)) != nil else { return }
            tell(.tick)
        }
        tick = (due, task)
    }

    /// Ends everything, and commits what came. Lists that are being saved are waited for.
    ///
    /// `closeInbox` is called when nothing will be told any more, and returns what was told last.
    func shutDown(closeInbox: () -> [PlayerInput]) async -> PlayerOutcome {
        tick?.task.cancel()
        kept?.stop()
        errands.stopResolving()
        heardPasses = []
        for id in passes.ids { await cancelPass(id, keepsResource: false) }
        // The sink is silent before the disk is waited for.
        await sound.close()
        await passes.close()
        await errands.finishSaving()
        for input in closeInbox() {
            switch input {
            case .notice(let error):
                parts.report(.notice(code: error.code.rawValue, message: error.safeText))
            case .saved(let count, let path):
                parts.report(.remark(code: "saved", message: PlayerState.savedText(count, path)))
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
