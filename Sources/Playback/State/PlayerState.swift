import Media

/// Decides what the player does: inputs in, effects out. Pure.
///
/// It composes four machines: the queue, the lane of passes, the output and the announcer. This file has the
/// inputs, the output and the properties that the shell reads; commands and passes have files of their own.
struct PlayerState: Sendable {
    enum Phase: Sendable, Equatable {
        /// The sources are being read; nothing can be played yet.
        case launching
        case stopped
        case active
        /// The queue was played to its end.
        case ended
        case over
    }

    struct Pause: Sendable {
        var begin: Duration
        /// `true` if the audio server requested the pause, for instance for a phone call; it may then end the
        /// pause.
        var isByServer = false
    }

    /// Seeks that follow one another within this time come from a key held down or a drag along the bar. The
    /// request of such a seek is delayed by this time, in case another seek follows.
    static let seekPause = Duration.milliseconds(300)

    let exitsAtEnd: Bool
    var queue: PlayQueue
    var lane = PassLane()
    var output: OutputState
    var announcer = Announcer()
    var phase = Phase.launching
    /// Set while the music is paused.
    var currentPause: Pause?
    var isPaused: Bool { currentPause != nil }
    /// `true` while more tracks of the sources of the command line are being read.
    var isReading = false
    /// `true` while more tracks are being read: of the sources, or of an `add`.
    var awaitsTracks: Bool { isReading || queue.awaitsAdditions }
    /// The name of a source of the command line that takes long to read; `nil` if none does.
    var awaitedSource: SafeText?
    let startSources: [String]
    /// The name of an added source that takes long to read; `nil` if none does.
    var awaitedAddition: SafeText?
    /// The source of the last `open`, until its first tracks play.
    var openedSource: String?
    /// The sources of all `open`s that are not read to their end: other programs named them.
    var foreignSources: Set<String> = []
    /// `true` once a person has given a command, not a script.
    var isInteractive = false
    var isQuit = false
    /// Playing stops once this is reached; `nil` plays on.
    var stopPoint: PlayPoint?
    /// For `SleepGoal.after`, `stopPoint` is set too.
    var sleep = SleepTimer()
    /// How much is downloaded ahead; `nil` for nothing.
    var aheadGoal: AheadGoal?
    private(set) var now = Duration.zero
    var volume: Int
    var isMuted = false
    /// The name of the chosen sound device; `nil` follows the default of the audio server.
    private(set) var device: String?
    var gainMode: GainMode
    var connectivity = ConnectivityReport()
    /// The number of consecutive tracks that failed or had no sound.
    var consecutiveFailures = 0
    var lastSeek: Duration?
    var heldCommands = HeldCommands()
    /// The input that pauses the sink, until that has said how many frames were heard.
    private var pausingInput: PlayerInput?

    init(_ settings: PlaybackSettings, joining: TrackJoining = .exactly, startSources: [String] = []) {
        self.startSources = startSources
        exitsAtEnd = settings.exitsAtEnd
        volume = settings.volume ?? 100
        device = settings.device
        gainMode = settings.gainMode
        aheadGoal = settings.ahead
        output = OutputState(joining: joining)
        queue = PlayQueue(seed: settings.seed, sources: startSources)
        queue.repeatMode = settings.repeatMode
        queue.setShuffle(settings.shuffle)
    }

    /// Handles one input. `heard` is the sink's count of heard frames, `now` the clock's time.
    ///
    /// Positions and reports need the final count, so an input that would pause a running sink only pauses
    /// it, and is decided once `outputPaused` has brought that count.
    mutating func handle(_ input: PlayerInput, heard: FrameCount, now: Duration) -> [PlayerEffect] {
        if case .outputPaused = input { return outputPaused(heard: heard, now: now) }
        guard output.isRunning else { return decide(on: input, heard: heard, now: now) }
        var next = self
        let effects = next.decide(on: input, heard: heard, now: now)
        guard effects.contains(.pauseOutput) else {
            self = next
            return effects
        }
        pausingInput = input
        return [.pauseOutput]
    }

    private mutating func outputPaused(heard: FrameCount, now: Duration) -> [PlayerEffect] {
        guard let input = pausingInput else { return [] }
        pausingInput = nil
        let effects = decide(on: input, heard: heard, now: now)
        let others = effects.filter { $0 != .pauseOutput }
        // If the track in question had just ended, there was nothing to pause.
        return others.count < effects.count ? others : others + [.startOutput]
    }

    private mutating func decide(on input: PlayerInput, heard: FrameCount, now: Duration) -> [PlayerEffect] {
        guard phase != .over else { return [] }
        if needsTicks { sleep.played(now - self.now) }
        self.now = now
        announcer.advance(to: now)
        // When the sink reports its start, it has already played some frames. The event has the position at
        // which the sound began, so it is made before these frames are counted.
        var effects: [PlayerEffect] = []
        let before = (modes, volume, isMuted, lane.current?.playing)
        if case .outputStarted = input { effects = outputStarted() }
        lane.heard(heard)
        effects += advance()
        effects += respond(to: input)
        effects += queueEvents()
        if lane.current?.playing != before.3 { noteResumption() }
        if (volume, isMuted) != (before.1, before.2) {
            effects.append(.emit(.volume(percent: volume, isMuted: isMuted)))
        }
        return effects + (modes == before.0 ? [] : [.emit(.mode(modes))])
    }

    private mutating func respond(to input: PlayerInput) -> [PlayerEffect] {
        switch input {
        case .command(let command): perform(command, isInTurn: false)
        case .scripted(let command, _): perform(command, isInTurn: true)
        case .launched(let sources, let start, let position, let isComplete):
            launched(sources, start: start, position: position, isComplete: isComplete)
        case .reading(let count, let source, let isAddition):
            reading(count, of: source, isAddition: isAddition)
        case .added(let tracks, let problems, let isLast, let source):
            added(tracks, problems, isLast: isLast, of: source)
        case .notice(let error, let failed): announcer.notice(error, failed: failed)
        case .passReady(let id, let info, let landing): passReady(id, info, landing)
        case .passAwaitsDownload(let id): awaitsDownload(id)
        case .passGranted(let id, let start): passGranted(id, at: start)
        case .infoChanged(let id, let info): infoChanged(id, info)
        case .landingCorrected(let id, let shift): landingCorrected(id, by: shift)
        case .liveFound(let id, let station): liveFound(id, station)
        case .titleReached(let id, let title, let frames):
            lane.titleReached(id, title, after: frames) ? announceCurrent() : []
        case .reconnected(let id): reconnected(id)
        case .loadWaits(let id, let wait):
            lane.isCurrent(id) ? wait.map { announcer.loadWaits(id, $0) } ?? [] : []
        case .networkChanged(let report): networkChanged(report)
        case .pinned(let tracks, let isPinned): announcer.pinned(tracks, isPinned)
        case .done(let result, _): respond(to: result)
        case .saved(let count, let path): [announcer.remark("saved", Announcer.savedText(count, path))]
        case .downloadsAdded(let tracks): [announcer.downloadsAdded(tracks)]
        case .downloadsChanged(let change, let count): [announcer.downloadsChanged(change, count)]
        case .downloadEnded(let report): [.emit(.download(report))]
        case .downloadsFinished(let sum): [announcer.downloadsFinished(sum)]
        case .aheadRestarted: [announcer.aheadSet(to: aheadGoal)]
        case .aheadStopped(let stop): [announcer.aheadStopped(stop)]
        case .downloadsHeld(let isHeld): [announcer.downloadsHeld(isHeld)]
        case .costChanged, .cacheChanged, .backgroundFetchEnded, .downloadsRestored, .tracksShown: []
        case .factsFound(let found, let isLast): factsFound(found, isLast: isLast)
        case .passPrimed(let id): passPrimed(id)
        case .loaded(let time): loaded(time)
        case .formatChanged(let id, let info, let frames): formatChanged(id, info, after: frames)
        case .passWritten(let id, let frames): passWritten(id, frames)
        case .passFailed(let id, let error, let frames): passFailed(id, error, after: frames)
        case .listFound(let id, let list): listFound(id, list)
        case .outputStarted, .outputPaused: []
        case .outputFailed(let error): outputFailed(error)
        case .searchEnded(let attempt, let isReached): searchEnded(attempt, isReached: isReached)
        case .outputEvent(let event): outputReported(event)
        case .devicesFound(let devices, let command): devicesFound(devices, for: command)
        case .drained: drained()
        case .tick: ticked() + sleepIfDue()
        }
    }

    // MARK: The world outside

    private mutating func networkChanged(_ report: ConnectivityReport) -> [PlayerEffect] {
        let wasOffline = connectivity.isOffline
        connectivity = report
        guard wasOffline != report.isOffline else { return [] }
        return [announcer.networkChanged(to: report)] + (report.isOffline ? reopenEpisodes() : [])
    }

    private mutating func ticked() -> [PlayerEffect] {
        if output.awaitsBytes, !isPaused { return [.measureLoaded] }
        guard output.isRunning, let pass = lane.current else { return [] }
        var effects = markHeard(pass)
        if let duration, duration - position < .seconds(20), lane.lastGranted?.id == pass.id {
            effects += prepareNext()
        }
        if announcer.timeUntilPosition <= .zero {
            announcer.positionReported()
            effects.append(.emitPosition(index: index(of: pass)))
        }
        return effects
    }

    /// Ends the player, because of `fatal` if it could not go on. All later inputs are ignored.
    mutating func finish(fatal: MediaError?) -> [PlayerEffect] {
        let left = leave(because: fatal)
        phase = .over
        let unsaved = heldCommands.unsavedPaths.map { path in
            announcer.badCommand("Not saved: \(path) (the tracks were not known yet)")
        }
        return left + unsaved + [.finish(fatal: fatal)]
    }

    // MARK: The sink, and the failure, loss and return of the audio server

    private mutating func outputStarted() -> [PlayerEffect] {
        var effects = output.isRecovering ? [announcer.remark("audio-back", "Sound is back")] : []
        output.started()
        effects += restOfFade()
        queue.wentBackFrom = nil
        guard let pass = lane.current else { return effects }
        effects += soundBegins(pass, at: position)
        if let writing = lane.lastGranted { effects.append(.release(writing.id)) }
        if output.isFinishing { effects.append(.drain) }
        return effects
    }

    private mutating func outputReported(_ event: OutputEvent) -> [PlayerEffect] {
        switch event {
        case .underrun: return underrun()
        case .lost(let error): return error.code == .audioLost ? outputLost(error) : finish(fatal: error)
        case .pauseRequested:
            guard phase == .active, !isPaused else { return [] }
            let effects = obey(.pause)
            currentPause?.isByServer = true
            return effects
        case .resumeRequested: return currentPause?.isByServer == true ? obey(.play) : []
        case .volumeChanged(let percent, let isMuted):
            volume = percent
            self.isMuted = isMuted
            return []
        }
    }

    private mutating func devicesFound(
        _ devices: [SoundDevice],
        for command: PlayerCommand
    ) -> [PlayerEffect] {
        guard !devices.isEmpty else {
            return [announcer.badCommand("No sound device can be chosen: there is no sound server")]
        }
        guard case .setDevice(let name) = command else {
            return [.answer([.emit(.devices(devices, chosen: device))])]
        }
        var title: SafeText = "the default device"
        if let name {
            guard let chosen = devices.first(where: { $0.name == name }) else {
                return [announcer.badCommand("No sound device is called \(name)")]
            }
            title = chosen.title
        }
        device = name
        return [.setDevice(name), announcer.remark("device", "Sound goes to " + title)]
    }

    /// The sink had an underrun. It pauses until the ring holds enough PCM.
    private mutating func underrun() -> [PlayerEffect] {
        guard output.isRunning, !output.isFinishing, let writing = lane.lastGranted, let pass = lane.current
        else { return [] }
        lane.update(pass.id) { $0.stalls += 1 }
        var effects = output.ranDry(at: now)
        effects.append(.emit(.buffering(index: index(of: pass), position: position)))
        // Between two tracks no pass writes; the next one gets the request when its turn comes.
        if writing.stage == .writing { effects.append(.requestPrime(writing.id, output.refill)) }
        return effects
    }

    /// The current track is loaded for `time` beyond its position; `nil` if no more is arriving.
    private func loaded(_ time: Duration?) -> [PlayerEffect] {
        let isEnough = time.map { $0 >= output.refill } ?? true
        return output.awaitsBytes && !isPaused && isEnough ? [.startOutput] : []
    }

    private mutating func outputFailed(_ error: MediaError) -> [PlayerEffect] {
        if error.code == .audioLost { return outputLost(error) }
        // Waits in two cases. After a loss, the server may be back without a sink yet, or fail again. And a
        // session that does not end with its queue may find a server later.
        if lane.current != nil, output.isRecovering || error.code == .audioServer && !exitsAtEnd {
            return waitForOutput(because: error)
        }
        output.failed()
        guard let pass = lane.current, error.code == .sinkFormat else { return finish(fatal: error) }
        // Only this track's format does not fit into the sink; others may.
        return passFailed(pass.id, error, after: 0)
    }

    /// The audio server was lost. Playback stops at the heard position and continues there when the server is
    /// back.
    private mutating func outputLost(_ error: MediaError) -> [PlayerEffect] {
        // Both an event and a failing call report the loss.
        output.isLost ? [] : waitForOutput(because: error)
    }

    private mutating func waitForOutput(because error: MediaError) -> [PlayerEffect] {
        let start = position
        let notices = output.lost(because: error) ? announcer.soundLost(because: error) : []
        guard let pass = lane.current else { return notices + [.forgetOutput] }
        let effects = notices + [.forgetOutput] + restart(at: start)
        guard !isPaused else { return effects }
        let buffering = PlayerEffect.emit(.buffering(index: index(of: pass), position: start))
        return effects + [buffering] + output.reconnect(atOnce: false)
    }

    private mutating func searchEnded(_ attempt: Int, isReached: Bool) -> [PlayerEffect] {
        guard output.ended(attempt, isReached: isReached), phase == .active else { return [] }
        if isReached { return lane.current?.stage == .ready ? grantCurrent() : [] }
        // While paused or stopped, the player does not search again before the next command.
        return isPaused ? [] : output.reconnect(atOnce: false)
    }

    // MARK: Texts and numbers

    /// The displayed number of a pass's track, from 1.
    func index(of pass: Pass) -> Int { (queue.place(of: pass.track.id) ?? 0) + 1 }

    func announce(_ pass: Pass) -> [PlayerEffect] {
        announcer.announce(pass, index: index(of: pass), isPlayed: isPlayed(pass))
    }

    func announceCurrent() -> [PlayerEffect] { lane.current.map { announce($0) } ?? [] }

    func playingEvent(_ pass: Pass, at position: Duration) -> PlayerEffect {
        .emit(.playing(index: index(of: pass), position: position, isExact: pass.landing.isExact))
    }

    mutating func queueEvents() -> [PlayerEffect] { queue.takeChanges().map { .emit(.queue($0)) } }

    // MARK: What snapshots show

    var isReadingSources: Bool { phase == .launching || awaitsTracks }

    var position: Duration { lane.position }
    var isExact: Bool { lane.current?.landing.isExact ?? true }
    var heardSpans: HeardSpans { lane.heardSpans }
    var duration: Duration? { lane.current?.duration }

    /// The gain applied to the current track, in dB; `nil` if none is.
    var gainDecibels: Double? { lane.current.flatMap { gainStage(of: $0).decibels } }

    var snapshotState: PlayerSnapshot.State {
        switch phase {
        case .launching: .opening
        case .stopped: .stopped
        case .ended, .over: .ended
        case .active:
            if isPaused {
                .paused
            } else if output.isRunning {
                .playing
            } else if output.isBuffering || lane.current?.info != nil {
                // The format is known, so bytes are missing, for instance after a seek.
                .buffering
            } else {
                .opening
            }
        }
    }

    // MARK: What the shell reads

    /// `true` if the state needs ticks because a track is heard or awaited.
    var needsTicks: Bool { phase == .active && !isPaused }

    /// The time until an event is due (a position, or a track or title that begins to be heard); at most
    /// `limit`.
    func untilDue(atMost limit: Duration) -> Duration {
        guard output.isRunning, let format = output.format else { return limit }
        var due = min(limit, announcer.timeUntilPosition)
        if let frames = lane.framesUntilChange {
            // A little later, because the change counts only once a frame after the boundary is heard.
            due = min(due, format.duration(of: frames) + .milliseconds(5))
        }
        if let sleep = sleep.untilDue { due = min(due, sleep) }
        return max(due, .milliseconds(10))
    }
}
