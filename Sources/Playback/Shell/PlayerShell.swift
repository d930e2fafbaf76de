import Media
import System

/// Carries out the effects of `PlayerState`. Used only by the player's loop, so it needs no lock.
final class PlayerShell {
    private let parts: PlaybackParts
    private let settings: PlaybackSettings
    private let events: Observers<PlayerEvent>
    /// The program that sent the command at hand.
    private var asker: Asker?
    /// `true` while the events are for the program alone that asked.
    private var isAnswering = false
    private let reading: SourceReader
    private let send: @Sendable (PlayerInput) -> Void
    private var state: PlayerState
    private var totals = PlayerEvent.SummaryReport()
    private(set) var isOver = false
    private var shownFailures: [Track.ID: MediaError] = [:]
    private let passes: PassTable
    private let sound: SoundPath
    private let cached: CachedWatch?
    /// `nil` if the tags of tracks are not shown before they are played.
    private let tags: TagWatch?
    /// `nil` if no server is asked for tags of tracks that are not played.
    private let heads: HeadWatch?
    /// `true` if tracks were added whose tags are to be looked up, once nothing waits for a track.
    private var hasNewTracks = false
    /// The downloads of an earlier session, until nothing waits for a track.
    private var restoredDownloads: [DownloadReport] = []
    /// `nil` without a cache.
    private var ahead: AheadWatch?
    /// Passes that were heard, at least in part, and ended without a failure. Once they are cancelled, the
    /// missing bytes of their tracks may be fetched.
    private var heardPasses: Set<PassID> = []
    private var lastLookup = Duration.zero
    private var fatal: MediaError?
    private let jobs: BackgroundJobs
    private var tick: (due: Duration, task: Task<Void, Never>)?
    private static let tickTolerance = Duration.milliseconds(20)

    init(
        parts: PlaybackParts,
        settings: PlaybackSettings,
        events: Observers<PlayerEvent>,
        tap: SoundTap,
        reading: SourceReader,
        sources: [String],
        send: @escaping @Sendable (PlayerInput) -> Void
    ) {
        self.parts = parts
        self.settings = settings
        self.events = events
        self.reading = reading
        self.send = send
        state = PlayerState(settings, joining: parts.output.joining, startSources: sources)
        state.queue.memory = parts.memory
        let cached = parts.cache.map { cache in CachedWatch(cache: cache) { send(.cacheChanged) } }
        self.cached = cached
        passes = PassTable(parts: parts, settings: settings, tap: tap, send: send) { cached?.lookUpAgain($0) }
        tags = TagWatch(parts: parts) { send(.factsFound($0, isLast: $1)) }
        heads = parts.openHead.map { open in
            HeadWatch(open: open, makeDecoder: parts.makeDecoder) { track, facts in
                cached?.lookUpAgain(track)
                if let facts { send(.factsFound([track.id: facts], isLast: false)) }
            }
        }
        ahead = cached.map { [downloads = passes.downloads] in AheadWatch(cached: $0, downloads: downloads) }
        jobs = BackgroundJobs(parts: parts, send: send)
        sound = SoundPath(output: parts.output, connecting: parts.connecting, settings: settings, send: send)
        if let device = settings.device { parts.output.setDevice(device) }
        if let volume = settings.volume { parts.output.setVolume(volume, isMuted: false) }
        if let connectivity = parts.connectivity {
            // The network's present state is displayed; only later changes are reported as events.
            connectivity.observe { send(.networkChanged($0)) }
            state.connectivity = connectivity.report
        }
    }

    /// The number of commands that were taken but are not carried out yet.
    var unfinishedCount: Int { state.heldCommands.count + jobs.count }

    /// Takes one input, and the inputs that its effects produce at once.
    func receive(_ received: PlayerInput) async {
        let input = received.withoutAsker
        if case .backgroundFetchEnded(let report) = input { return totals.resourceClosed(report) }
        if case .downloadsRestored(let reports) = input { restoredDownloads = reports }
        if case .tracksShown(let tracks) = input {
            let unknown = tracks.filter { state.announcer.facts[$0.id] == nil }
            heads?.lookUp(unknown, after: state.announcer.failures.values)
            return
        }
        if case .networkChanged(let report) = input { passes.downloads.networkChanged(to: report) }
        if case .costChanged(let cost) = input { return passes.downloads.costChanged(to: cost) }
        if case .pinned(let tracks, _) = input { for track in tracks { cached?.lookUpAgain(track) } }
        asker = received.asker
        defer { answerAsker() }
        var pending = [input]
        if case .tick = input {
            // If a tick was sent while it was being replaced, cancel its replacement.
            tick?.task.cancel()
            tick = nil
            pending += loadInputs()
        }
        while !pending.isEmpty, !isOver {
            var followUps: [PlayerInput] = []
            let next = pending.removeFirst()
            for effect in state.handle(next, heard: sound.heard, now: parts.clock.now) {
                guard let followUp = await perform(effect) else { continue }
                followUps.append(followUp)
                // The effects after a failed opening no longer make sense.
                if case .outputFailed = followUp { break }
            }
            pending = followUps + pending
        }
        passes.raisePriority(except: state.lane.lowPriority)
        let scanned = state.snapshotState == .playing ? [state.lane.current, state.lane.prepared] : []
        passes.scanPeaks(of: scanned.compactMap { $0?.id })
        ahead?.update(to: state, isIdle: isIdle)
        if isIdle { beginBackgroundWork() }
        updateTicks()
    }

    /// `true` if nothing waits for a track.
    private var isIdle: Bool { [.playing, .paused, .stopped, .ended].contains(state.snapshotState) }

    /// Nothing waits for a track: begins what must not delay one.
    private func beginBackgroundWork() {
        if hasNewTracks {
            hasNewTracks = false
            tags?.lookUp(newOf: state.queue.tracks, from: state.queue.current ?? 0)
        }
        // Without a cache they stay pending, for a later session.
        guard !restoredDownloads.isEmpty, parts.cache != nil else { return }
        // A download of a track in the queue shows its progress there.
        let restored = exchange(&restoredDownloads, with: [])
        let wanted = Set(restored.map(\.track.location))
        let known = state.queue.tracks.filter { wanted.contains($0.location) }.map { ($0.location, $0) }
        let tracks = Dictionary(known) { first, _ in first }
        passes.downloads.restore(
            restored.map { DownloadReport(tracks[$0.track.location] ?? $0.track, phase: $0.phase) }
        )
    }

    private func perform(_ effect: PlayerEffect) async -> PlayerInput? {
        switch effect {
        case .startPass(let start): passes.start(start)
        case .cancelPass(let id, let keepsResource): await cancelPass(id, keepsResource: keepsResource)
        case .grant(let id, let holds): return grant(id, holds: holds)
        case .release(let id): passes.control(of: id)?.release()
        case .requestPrime(let id, let refill): requestPrime(id, refill)
        case .openOutput(let format): return await sound.open(format)
        case .startOutput: return await sound.start()
        case .pauseOutput:
            await sound.pause()
            return .outputPaused
        case .flushOutput: await sound.flush()
        case .forgetOutput: await sound.lost()
        case .reconnectOutput(let delay, let attempt):
            sound.reconnect(after: delay, attempt: attempt, by: parts.clock)
        case .finishRing: sound.finishRing()
        case .drain: sound.drain()
        case .fade(let left, let length): sound.fade(left: left, of: length)
        case .endFade: sound.endFade()
        case .measureLoaded: return .loaded(loaded.arriving)
        case .allowReadAhead(let id): allowReadAhead(id)
        case .prefetchHead(let id): prefetchHead(id)
        case .reject(let id): await passes.reader(of: id)?.reject()
        case .emit(let event): emit(event)
        case .emitPosition(let index): emitPosition(index)
        case .emitStatus: publish(.status(snapshot()))
        case .emitList: publish(.list(snapshot()))
        case .answer(let effects):
            isAnswering = true
            for effect in effects { _ = await perform(effect) }
            isAnswering = false
        case .countLostSource: totals.sourceLost()
        case .endTrack(let id, let report): endTrack(id, report)
        case .rememberPlayed(let isPlayed, let episodes): parts.memory?.setPlayed(isPlayed, episodes)
        case .togglePin(let tracks, let isPinned): jobs.pin(tracks, isPinned, for: takeAsker())
        case .download(let tracks, let answers):
            do throws(MediaError) {
                let added = try passes.downloads.download(tracks)
                return answers ? .downloadsAdded(added) : nil
            } catch {
                return .notice(error)
            }
        case .changeDownloads(let change, let locations):
            return .downloadsChanged(change, count: passes.downloads.change(change, at: locations))
        case .stopDownload(let tracks):
            _ = passes.downloads.change(.cancel, at: Set(tracks.map(\.location)))
        case .restartAhead:
            guard ahead != nil || state.aheadGoal == nil else {
                let reason: SafeText = "can't be downloaded without a cache (leave out --no-cache)"
                return .notice(MediaError(.notCached, "music ahead", reason))
            }
            ahead?.restart()
            return .aheadRestarted
        case .retryNetwork: parts.connectivity?.retryNow()
        case .setVolume(let percent, let isMuted): parts.output.setVolume(percent, isMuted: isMuted)
        case .findDevices(let command): return .devicesFound(await sound.devices(), for: command)
        case .setDevice(let name): parts.output.setDevice(name)
        case .setGain(let id, let stage): passes.control(of: id)?.setGain(stage)
        case .setTitle(let title): parts.output.setTitle(title)
        case .resolve(let source, let isForeign): jobs.additions.read([source], areForeign: isForeign)
        case .stopReading:
            reading.stop()
            jobs.additions.stop()
        case .passOverSource: reading.passOver()
        case .save(let path, let tracks, let facts): jobs.save(tracks, facts, to: path, for: takeAsker())
        case .finish(let error):
            fatal = error
            isOver = true
        }
        return nil
    }

    // MARK: Passes

    private func cancelPass(_ id: PassID, keepsResource: Bool) async {
        let wasHeard = heardPasses.remove(id) != nil
        let resource = wasHeard && !keepsResource ? passes.resource(of: id) : nil
        let closed = await passes.cancel(id, keepsResource: keepsResource, wasHeard: wasHeard)
        if let closed { totals.resourceClosed(closed) }
        guard let resource, let url = resource.track.location.url else { return }
        // Without a report the resource is still open, to fetch its rest.
        let report = closed ?? resource.report
        guard report.live == nil, report.readBytes > 0 else { return }
        parts.cache?.count(HeardBytes(heard: report.readBytes, saved: report.cachedBytes), of: url)
    }

    private func grant(_ id: PassID, holds: Bool) -> PlayerInput? {
        guard let control = passes.control(of: id), let ring = sound.ring else { return nil }
        let start = ring.writtenFrames
        control.grant(ring, primeTarget: holds ? sound.startFrames : nil, holds: holds)
        return .passGranted(id, start: start)
    }

    private func requestPrime(_ id: PassID, _ refill: Duration) {
        guard let ring = sound.ring, let control = passes.control(of: id) else { return }
        control.requestPrime(at: sound.frames(in: refill))
        // The pass may have filled the ring since the underrun. Then it sleeps until half of the ring is
        // free, but the paused sink takes no frames: more than half must be enough.
        let isEnough = !ring.hasRoom
        if control.claimPriming(available: ring.availableFrames, isLast: isEnough) { send(.passPrimed(id)) }
    }

    // MARK: Bytes

    private func allowReadAhead(_ id: PassID) {
        guard let info = state.lane[id]?.info else { return }
        let reader = passes.reader(of: id)
        reader?.allowReadAhead(bytesPerSecond: info.bytesPerSecond)
        // The exact position is known once the bytes before it are cached.
        if settings.fillsHeardTracks, state.lane[id]?.landing.isExact == false { reader?.fill() }
    }

    private func prefetchHead(_ id: PassID) {
        guard let reader = passes.reader(of: id), let info = state.lane[id]?.info else { return }
        let bytes = Int64(min(max(0, info.bytesPerSecond * settings.headTime.seconds), 1e12))
        reader.prefetch(info.audioStart..<info.audioStart + bytes)
    }

    /// Returns the input that reports if the current pass waits for an attempt to load. Once a second, also
    /// looks up how much of its track and of the next one is cached.
    private func loadInputs() -> [PlayerInput] {
        guard let id = state.lane.current?.id, let resource = passes.resource(of: id) else { return [] }
        let now = parts.clock.now
        if now - lastLookup >= .seconds(1) {
            lastLookup = now
            cached?.lookUpAgain(resource.track)
            if let next = state.lane.prepared?.track { cached?.lookUpAgain(next) }
        }
        return [.loadWaits(id, resource.report.wait)]
    }

    // MARK: Events

    private func emit(_ event: PlayerEvent) {
        var event = event
        // `PlayerState` does not know how much is cached, so that is filled in here.
        if case .loaded = event {
            cached?.lookUp(newOf: state.queue.tracks)
            hasNewTracks = true
        }
        if case .track(var report) = event {
            report.cached = cachedPart(ofTrack: report.index - 1)
            event = .track(report)
        }
        publish(event)
    }

    /// Sends `event` to all, or to the program alone that asked: its answers, and the refusal of its command.
    private func publish(_ event: PlayerEvent) {
        var isAnswer = isAnswering
        switch event {
        case .notice(Announcer.refusalCode, _), .remark(Announcer.notSeekableCode, _):
            asker?.isAccepted = false
            isAnswer = true
        // The command has failed, which concerns all.
        case .notice: asker?.isAccepted = false
        default: break
        }
        if isAnswer, let asker { asker.answer(event) } else { events.send(event) }
    }

    /// Removes and returns the program that asked: its command goes on in the background.
    private func takeAsker() -> Asker? { exchange(&asker, with: nil) }

    private func answerAsker() {
        if let asker = takeAsker() { asker.answer(.answered(isAccepted: asker.isAccepted)) }
    }

    private func emitPosition(_ index: Int) {
        let loaded = loaded
        publish(
            .position(
                index: index,
                position: loaded.position,
                duration: loaded.duration,
                isExact: state.isExact,
                buffered: loaded.buffered
            )
        )
    }

    private func endTrack(_ id: PassID, _ ended: PlayerEvent.EndReport) {
        let load = passes.resource(of: id)?.report ?? LoadReport()
        var report = ended
        report.cachedBytes = load.cachedBytes
        report.fetchedBytes = load.fetchedBytes
        report.requestCount = load.requestCount
        totals.trackEnded(report)
        if report.frames > 0, report.reason != .failed { heardPasses.insert(id) }
        events.send(.ended(report))
    }

    // MARK: The snapshot

    private var currentResource: TrackResource? {
        (state.lane.current?.id).flatMap { passes.resource(of: $0) }
    }

    private var loaded: LoadedMusic {
        LoadedMusic(
            report: currentResource?.report ?? LoadReport(),
            info: state.lane.current?.shownInfo,
            position: state.position,
            duration: state.duration
        )
    }

    /// The cached part of a track, 0...1; `nil` if unknown.
    private func cachedPart(ofTrack place: Int) -> Double? {
        guard state.queue.tracks.indices.contains(place) else { return nil }
        let track = state.queue.tracks[place]
        guard case .web = track.location else { return nil }
        if let resource = currentResource, resource.track.id == track.id, let length = resource.report.length
        {
            return Availability(stored: resource.report.stored, length: length).fraction
        }
        return cached?.result.value[track.id]?.fraction
    }

    /// Snapshots share the dictionary of failures with the state, which must copy it before it adds a
    /// failure. So while one track after another fails, the snapshot's failures are updated at growing
    /// intervals, and the cost of a failure stays constant.
    private func updateShownFailures() {
        let new = abs(state.announcer.failures.count - shownFailures.count)
        if isOver || state.snapshotState != .opening || new > state.announcer.failures.count / 16 {
            shownFailures = state.announcer.failures
        }
    }

    func snapshot() -> PlayerSnapshot {
        var snapshot = PlayerSnapshot()
        let loaded = loaded
        let load = loaded.report
        snapshot.state = state.snapshotState
        snapshot.tracks = state.queue.tracks
        snapshot.queueRevision = state.queue.revision
        snapshot.isReading = state.isReadingSources
        snapshot.awaitedSource = state.awaitedSource ?? state.awaitedAddition
        snapshot.learned = state.announcer.facts
        snapshot.currentIndex = state.queue.current
        snapshot.upcoming = state.queue.upcomingPlaces(most: PlayerSnapshot.mostUpcoming)
        snapshot.info = loaded.info
        snapshot.position = state.position
        snapshot.isExact = state.isExact
        snapshot.duration = state.duration
        snapshot.heard = state.heardSpans
        snapshot.earlierTitles = state.lane.current?.earlierTitles ?? []
        snapshot.waveform = currentResource?.waveform ?? Waveform()
        snapshot.buffered = loaded.buffered
        snapshot.load = load
        snapshot.retryIn = load.wait.map { max(.zero, $0.retryAt - parts.clock.now) }
        snapshot.connectivity = state.connectivity
        snapshot.isOutputLost = state.output.isLost
        if let cached {
            let known = cached.result
            snapshot.availability = known.value
            snapshot.availabilityRevision = known.revision
        }
        // What waits for the first sound is pending, too: otherwise the first save would forget it.
        snapshot.downloads = passes.downloads.items + restoredDownloads
        snapshot.aheadGoal = ahead == nil ? nil : state.aheadGoal
        snapshot.offlineTime = ahead?.offlineTime(in: state, at: parts.clock.now)
        snapshot.timeMap = loaded.timeMap
        snapshot.byteOffset = loaded.byteOffset
        snapshot.volume = state.volume
        snapshot.isMuted = state.isMuted
        snapshot.device = state.device
        snapshot.hasNext = state.queue.hasNext
        snapshot.previousRestarts = state.previousRestarts
        snapshot.isShuffled = state.queue.isShuffled
        snapshot.repeatMode = state.queue.repeatMode
        snapshot.gainMode = state.gainMode
        snapshot.stopPoint = state.stopPoint
        snapshot.sleep = state.sleepReport
        snapshot.gainDecibels = state.gainDecibels
        updateShownFailures()
        snapshot.failures = shownFailures
        snapshot.messages = state.announcer.messages
        snapshot.totalCachedBytes = totals.cachedBytes + load.cachedBytes
        snapshot.totalFetchedBytes = totals.fetchedBytes + load.fetchedBytes
        snapshot.isOver = isOver
        return snapshot
    }

    // MARK: Time and the end

    /// Schedules the next tick for the time of the next event.
    private func updateTicks() {
        guard state.needsTicks, !isOver else {
            tick?.task.cancel()
            tick = nil
            return
        }
        let due = parts.clock.now + state.untilDue(atMost: settings.tick)
        // The scheduled tick comes early enough.
        if let tick, tick.due <= due + Self.tickTolerance { return }
        tick?.task.cancel()
        let task = Task { [clock = parts.clock, send] in
            guard (try? await clock.sleep(until: due)) != nil else { return }
            send(.tick)
        }
        tick = (due, task)
    }

    /// Ends everything and commits the fetched bytes. Waits for playlists that are being saved.
    ///
    /// `closeInbox` is called when no more inputs will be sent, and returns the last ones.
    func shutDown(closeInbox: () -> [PlayerInput]) async -> PlayerOutcome {
        tick?.task.cancel()
        cached?.stop()
        tags?.stop()
        let ends = [reading, jobs.additions].map { reader in Task { await reader.end() } }
        heardPasses = []
        for id in passes.ids { await cancelPass(id, keepsResource: false) }
        // Silence the sink before waiting for the disk.
        await sound.close()
        await passes.close()
        for end in ends { await end.value }
        await heads?.finish()
        // Every playlist is saved and every pin is set, or its failure was reported.
        await jobs.changes.finish()
        for input in closeInbox() {
            asker = input.asker
            switch input.withoutAsker {
            case .notice(let error, _):
                publish(.notice(code: error.code.rawValue, message: error.safeText))
            case .saved(let count, let path):
                publish(.remark(code: "saved", message: Announcer.savedText(count, path)))
            case .backgroundFetchEnded(let report): totals.resourceClosed(report)
            case .command(.save(let path)), .scripted(.save(let path), _):
                let message = SafeText("Not saved: \(path) (the player had ended)")
                publish(.notice(code: Announcer.refusalCode, message: message))
            case .scripted: asker = nil
            default: break
            }
            answerAsker()
        }
        events.send(.summary(totals))
        return PlayerOutcome(summary: totals, fatal: fatal, isQuit: state.isQuit)
    }
}
