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

    /// Seeks that follow one another within this time come from a key held down or a drag along the bar. The
    /// request of such a seek is delayed by this time, in case another seek follows.
    static let seekPause = Duration.milliseconds(300)

    /// `true` if the player ends with the queue.
    let exitsAtEnd: Bool
    var queue: PlayQueue
    var lane = PassLane()
    var output: OutputState
    var announcer = Announcer()
    var phase = Phase.launching
    var isPaused = false
    /// `true` if the audio server requested the pause, for instance for a phone call; it may then end the
    /// pause.
    var isPausedByServer = false
    var pausedSince = Duration.zero
    /// `true` while more tracks of the sources of the command line are being read.
    var isReading = false
    /// `true` if the user quit.
    var isQuit = false
    var now = Duration.zero
    var volume: Int
    var isMuted = false
    var gainMode: GainMode
    var connectivity = ConnectivityReport()
    /// The number of consecutive tracks that failed or had no sound. Once it reaches the number of tracks in
    /// the queue, playback ends, because repeating the queue would fail for ever.
    var consecutiveFailures = 0
    var lastSeek: Duration?
    /// Commands that came before the tracks were known and need them; carried out in order by `launched`, those
    /// that need all tracks once the sources are read.
    var heldCommands: [PlayerCommand] = []
    /// Only read; changes are effects.
    var memory: (any ListeningMemory)? { didSet { queue.memory = memory } }

    /// `seed` determines every shuffle.
    init(
        exitsAtEnd: Bool,
        opensEachTrack: Bool = false,
        volume: Int = 100,
        repeatMode: RepeatMode = .off,
        isShuffled: Bool = false,
        gainMode: GainMode = .off,
        seed: UInt64
    ) {
        self.exitsAtEnd = exitsAtEnd
        self.volume = volume
        self.gainMode = gainMode
        output = OutputState(opensEachTrack: opensEachTrack)
        queue = PlayQueue(seed: seed)
        queue.repeatMode = repeatMode
        if isShuffled { queue.toggleShuffle() }
    }

    /// Handles one input. `heard` is the sink's count of heard frames, `now` the clock's time.
    mutating func handle(_ input: PlayerInput, heard: FrameCount, now: Duration) -> [PlayerEffect] {
        guard phase != .over else { return [] }
        self.now = now
        announcer.advance(to: now)
        // When the sink reports its start, it has already played some frames. The event has the position at
        // which the sound began, so it is made before these frames are counted.
        var effects: [PlayerEffect] = []
        if case .outputStarted = input { effects = outputStarted() }
        lane.heard(heard)
        effects += advance()
        return effects + respond(to: input)
    }

    private mutating func respond(to input: PlayerInput) -> [PlayerEffect] {
        switch input {
        case .command(let command): obey(command)
        case .launched(let sources, let start, let position, let isComplete):
            launched(sources, start: start, position: position, isComplete: isComplete)
        case .launchedMore(let sources, let isComplete): launchedMore(sources, isComplete: isComplete)
        case .reading(let count): phase == .launching ? [announcer.reading(count)] : []
        case .added(let tracks, let problems, let isLast): added(tracks, problems, isLast: isLast)
        case .notice(let error): announcer.notice(error)
        case .passReady(let id, let info, let landing, let isSeekable):
            passReady(id, info, landing, isSeekable: isSeekable)
        case .passGranted(let id, let start): passGranted(id, at: start)
        case .infoChanged(let id, let info): infoChanged(id, info)
        case .landingCorrected(let id, let shift): landingCorrected(id, by: shift)
        case .liveFound(let id, let station): liveFound(id, station)
        case .titleReached(let id, let title, let frames):
            lane.titleReached(id, title, after: frames) ? announceCurrent() : []
        case .loadWaits(let id, let wait):
            lane.isCurrent(id) ? wait.map { announcer.loadWaits(id, $0) } ?? [] : []
        case .networkChanged(let report): networkChanged(report)
        case .pinned(let tracks, let isPinned): announcer.pinned(tracks, isPinned)
        case .saved(let count, let path): [announcer.remark("saved", Announcer.savedText(count, path))]
        case .cacheChanged, .backgroundFetchEnded: []
        case .passPrimed(let id): passPrimed(id)
        case .formatChanged(let id, let info, let frames): formatChanged(id, info, after: frames)
        case .passWritten(let id, let frames): passWritten(id, frames)
        case .passFailed(let id, let error, let frames): passFailed(id, error, after: frames)
        case .outputStarted: []
        case .outputFailed(let error): outputFailed(error)
        case .outputReached(let attempt): outputReached(attempt)
        case .outputUnreachable(let attempt): outputUnreachable(attempt)
        case .outputEvent(let event): outputReported(event)
        case .drained: drained()
        case .tick: ticked()
        }
    }

    // MARK: Sources and the world outside

    /// The sources, or the first part of them, are read: plays track `start` (from 1), or else the first in
    /// playing order, and carries out the commands that waited for the tracks.
    private mutating func launched(
        _ sources: ResolvedTracks,
        start: Int?,
        position: Duration,
        isComplete: Bool
    ) -> [PlayerEffect] {
        let tracks = sources.tracks
        let place = queue.tracks.count
        queue.append(tracks)
        isReading = !isComplete
        var effects = sources.problems.flatMap { announcer.problem($0) }
        effects.append(.emit(.loaded(tracks: tracks.count)))
        guard phase == .launching else { return effects }
        phase = .stopped
        guard !tracks.isEmpty else { return effects + (exitsAtEnd ? endOfQueue() : obeyHeld()) }
        if let start, start > tracks.count { effects.append(announcer.badCommand("No track \(start)")) }
        let first = start.map { place + min($0, tracks.count) - 1 } ?? queue.next(after: nil) ?? place
        if start != nil { queue.bringForward(first) }
        return effects + begin(first, at: position) + obeyHeld()
    }

    /// More of the sources is read. If everything before it was played, it plays on.
    private mutating func launchedMore(_ sources: ResolvedTracks, isComplete: Bool) -> [PlayerEffect] {
        let place = queue.tracks.count
        queue.append(sources.tracks)
        isReading = !isComplete
        var effects = sources.problems.flatMap { announcer.problem($0) }
        if !sources.tracks.isEmpty {
            effects.append(.emit(.loaded(tracks: queue.tracks.count)))
            effects +=
                phase == .ended
                ? begin(queue.next(after: queue.current) ?? place, at: .zero) : dropStalePreparation()
        } else if isComplete, phase == .ended {
            effects += endOfQueue()
        }
        return effects + obeyHeld()
    }

    private mutating func obeyHeld() -> [PlayerEffect] {
        let commands = heldCommands
        heldCommands = []
        return commands.flatMap { phase == .over ? [] : obey($0) }
    }

    private mutating func added(
        _ tracks: [Track],
        _ problems: [MediaError],
        isLast: Bool
    ) -> [PlayerEffect] {
        queue.add(tracks, isLast: isLast)
        let notices = problems.flatMap { announcer.problem($0) }
        guard !tracks.isEmpty else { return notices }
        announcer.note(SafeText("Added " + Announcer.countText(tracks.count)))
        return notices + [.emit(.loaded(tracks: queue.tracks.count))] + dropStalePreparation()
    }

    private mutating func networkChanged(_ report: ConnectivityReport) -> [PlayerEffect] {
        let wasOffline = connectivity.isOffline
        connectivity = report
        guard wasOffline != report.isOffline else { return [] }
        return [announcer.networkChanged(to: report)] + (report.isOffline ? reopenEpisodes() : [])
    }

    private mutating func ticked() -> [PlayerEffect] {
        guard phase == .active, output.isRunning, let pass = lane.current else { return [] }
        var effects = markHeard(pass)
        if let duration, duration - position < .seconds(20), lane.lastGranted?.id == pass.id {
            effects += prepareNext()
        }
        if announcer.timeUntilPosition <= .zero {
            announcer.positionReported()
            effects.append(positionEvent(pass))
        }
        return effects
    }

    /// Ends the player. All later inputs are ignored.
    mutating func finish(fatal: MediaError?) -> [PlayerEffect] {
        phase = .over
        return [.finish(fatal: fatal)]
    }

    // MARK: The sink, and the failure, loss and return of the audio server

    private mutating func outputStarted() -> [PlayerEffect] {
        var effects = output.isRecovering ? [announcer.soundIsBack()] : []
        output.started()
        guard let pass = lane.current else { return effects }
        announcer.forgetFailure(of: pass.track.id)
        announcer.positionReported()
        effects += [
            .emit(.playing(index: index(of: pass), position: position, isExact: isExact)),
            .allowReadAhead(pass.id),
        ]
        if let writing = lane.lastGranted { effects.append(.release(writing.id)) }
        if output.isFinishing { effects.append(.drain) }
        return effects
    }

    private mutating func outputReported(_ event: OutputEvent) -> [PlayerEffect] {
        switch event {
        case .underrun: return underrun()
        case .lost(let error):
            guard error.code == .audioLost else {
                return leave(.failed, error: error) + lane.cancelAll() + finish(fatal: error)
            }
            return outputLost(error)
        case .pauseRequested:
            guard phase == .active, !isPaused else { return [] }
            let effects = obey(.pause)
            isPausedByServer = true
            return effects
        case .resumeRequested: return isPaused && isPausedByServer ? obey(.play) : []
        case .volumeChanged(let percent, let isMuted):
            volume = percent
            self.isMuted = isMuted
            return []
        }
    }

    /// The sink had an underrun. It pauses until the ring holds enough PCM.
    private mutating func underrun() -> [PlayerEffect] {
        guard phase == .active, output.isRunning, !output.isFinishing, let writing = lane.lastGranted,
            let pass = lane.current
        else { return [] }
        lane.update(pass.id) { $0.stalls += 1 }
        var effects = output.ranDry()
        effects.append(.emit(.buffering(index: index(of: pass), position: position)))
        // Between two tracks no pass writes; the next one gets the request when its turn comes.
        if writing.stage == .writing { effects.append(.requestPrime(writing.id)) }
        return effects
    }

    private mutating func outputFailed(_ error: MediaError) -> [PlayerEffect] {
        if error.code == .audioLost { return outputLost(error) }
        // The server is back but has no sink yet, or is failing again: keep waiting.
        if output.isRecovering, lane.current != nil { return waitForOutput(because: error) }
        output.failed()
        guard let pass = lane.current, error.code == .sinkFormat else {
            return leave(.failed, error: error) + lane.cancelAll() + finish(fatal: error)
        }
        // Only this track's format does not fit into the sink; others may.
        lane.update(pass.id) { $0.stage = .ready }
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
        guard phase == .active, let pass = lane.current else { return notices + [.forgetOutput] }
        let effects = notices + [.forgetOutput] + restart(at: start, answersSeek: false)
        guard !isPaused else { return effects }
        let buffering = PlayerEffect.emit(.buffering(index: index(of: pass), position: start))
        return effects + [buffering] + output.reconnect(atOnce: false)
    }

    private mutating func outputReached(_ attempt: Int) -> [PlayerEffect] {
        guard output.reached(by: attempt), phase == .active, lane.current?.stage == .ready else { return [] }
        return grantCurrent()
    }

    private mutating func outputUnreachable(_ attempt: Int) -> [PlayerEffect] {
        guard output.unreachable(by: attempt) else { return [] }
        // While paused or stopped, the player does not search again before the next command.
        return phase == .active && !isPaused ? output.reconnect(atOnce: false) : []
    }

    // MARK: Texts and numbers

    /// The displayed number of a pass's track, from 1.
    func index(of pass: Pass) -> Int { (queue.place(of: pass.track.id) ?? 0) + 1 }

    func announce(_ pass: Pass) -> [PlayerEffect] { announcer.announce(pass, index: index(of: pass)) }

    func announceCurrent() -> [PlayerEffect] { lane.current.map { announce($0) } ?? [] }

    /// The shell fills in the buffered time.
    func positionEvent(_ pass: Pass) -> PlayerEffect {
        .emit(
            .position(
                index: index(of: pass),
                position: position,
                duration: duration,
                isExact: isExact,
                buffered: .zero
            )
        )
    }

    // MARK: What snapshots show

    var currentTrack: Track? { lane.current?.track ?? queue.currentTrack }
    var position: Duration { lane.position }
    var isExact: Bool { lane.current?.landing.isExact ?? true }
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

    /// The tracks with all known tags and lengths, for saving a playlist.
    var describedTracks: [Track] { queue.tracks.map { announcer.described($0) } }

    /// The time until an event is due (a position, or a track or title that begins to be heard); at most `limit`.
    func untilDue(atMost limit: Duration) -> Duration {
        guard output.isRunning, let format = output.format else { return limit }
        var due = min(limit, announcer.timeUntilPosition)
        if let frames = lane.framesUntilChange {
            // A little later, because the change counts only once a frame after the boundary is heard.
            due = min(due, format.duration(of: frames) + .milliseconds(5))
        }
        return max(due, .milliseconds(10))
    }
}
