import Media

/// Carries out the effects of `PlayerState`. Used by the player's loop alone, so it needs no lock.
final class PlayerShell {
    /// One pass of the decoder that is under way.
    struct ActiveRun {
        var resource: TrackResource
        var control: RunControl
        var task: Task<Void, Never>
    }

    let parts: PlaybackParts
    let settings: PlaybackSettings
    let tell: @Sendable (PlayerInput) -> Void
    private(set) var state: PlayerState
    private(set) var summary = PlayerEvent.SummaryReport()
    private(set) var isOver = false
    private var fatal: MediaError?
    private var runs: [RunID: ActiveRun] = [:]
    /// Resources that are committing and closing behind the music's back.
    private var closings: [Task<Void, Never>] = []
    private var errands: [Task<Void, Never>] = []
    private var ring: PCMRing?
    private let space = SpaceSignal()
    private let decodeThread = WorkThread(name: "decode")
    private let connection: Task<Void, any Error>
    private var drainTask: Task<Void, Never>?
    private var tickTask: Task<Void, Never>?

    init(parts: PlaybackParts, settings: PlaybackSettings, tell: @escaping @Sendable (PlayerInput) -> Void) {
        self.parts = parts
        self.settings = settings
        self.tell = tell
        state = PlayerState(
            exitsAtEnd: settings.exitsAtEnd,
            volume: settings.volume,
            repeatMode: settings.repeatMode,
            seed: settings.seed
        )
        // The audio server is reached while the first track is looked up.
        connection = Task { [output = parts.output] in try await output.connect() }
        parts.output.setVolume(settings.volume, isMuted: false)
        if settings.shuffle { _ = state.handle(.command(.shuffle), heard: 0, now: .zero) }
    }

    /// Takes one input, and what its effects lead to at once.
    func take(_ input: PlayerInput) async {
        var pending = [input]
        while !pending.isEmpty, !isOver {
            let next = pending.removeFirst()
            let heard = ring == nil ? 0 : parts.output.heardFrames
            effects: for effect in state.handle(next, heard: heard, now: parts.clock.now) {
                if let followUp = await perform(effect) {
                    pending.append(followUp)
                    // What stands behind an opening that failed has lost its ground.
                    if case .outputFailed = followUp { break effects }
                }
                if isOver { break }
            }
        }
        updateTicks()
    }

    private func perform(_ effect: PlayerEffect) async -> PlayerInput? {
        switch effect {
        case .startRun(let id, let track, let start, let reused, let refresh):
            startRun(id, track, at: start, reusing: reused, refresh: refresh)
        case .cancelRun(let id, let keepsResource): await cancelRun(id, keepsResource: keepsResource)
        case .grant(let id, let holds): return grant(id, holds: holds)
        case .release(let id): runs[id]?.control.release()
        case .requestPrime(let id): requestPrime(id)
        case .openOutput(let format): return await openOutput(format)
        case .startOutput: return await startOutput()
        case .pauseOutput:
            await stopDraining()
            await parts.output.pause()
        case .flushOutput:
            await parts.output.flush()
            ring?.discard()
        case .finishRing:
            ring?.finish()
            parts.output.framesAvailable()
        case .drain: drain()
        case .allowReadAhead(let id): allowReadAhead(id)
        case .prefetchHead(let id): prefetchHead(id)
        case .reject(let id): await runs[id]?.resource.openReader?.reject()
        case .emit(let event): emit(event)
        case .endTrack(let id, let index, let reason, let frames, let stalls, let error):
            endTrack(id, index: index, reason, frames: frames, stalls: stalls, error)
        case .setVolume(let percent, let isMuted): parts.output.setVolume(percent, isMuted: isMuted)
        case .setTitle(let title): parts.output.setTitle(title)
        case .resolve(let source): resolve(source)
        case .save(let path): save(to: path)
        case .finish(let error):
            fatal = error
            isOver = true
        }
        return nil
    }

    // MARK: Passes

    private func startRun(_ id: RunID, _ track: Track, at start: Duration, reusing: RunID?, refresh: Bool) {
        let kept = reusing.flatMap { keptResources.removeValue(forKey: $0) }
        // Until its first sound the pass fetches only what it waits for.
        kept?.openReader?.allowReadAhead(bytesPerSecond: 0)
        let resource = kept ?? TrackResource(track: track, refresh: refresh, open: parts.open)
        let control = RunControl()
        let run = DecodeRun(
            id: id,
            resource: resource,
            start: start,
            control: control,
            makeDecoder: parts.makeDecoder,
            framesAvailable: { [output = parts.output] in output.framesAvailable() },
            tell: tell
        )
        let task = Task(executorPreference: decodeThread) { await run.run() }
        runs[id] = ActiveRun(resource: resource, control: control, task: task)
    }

    private var keptResources: [RunID: TrackResource] = [:]

    private func cancelRun(_ id: RunID, keepsResource: Bool) async {
        guard let run = runs.removeValue(forKey: id) else { return }
        run.task.cancel()
        await run.task.value
        if keepsResource {
            keptResources[id] = run.resource
        } else {
            // Committing takes as long as the disk does; nobody waits for it but the end of the session.
            closings.append(Task { await run.resource.close() })
        }
    }

    private func grant(_ id: RunID, holds: Bool) -> PlayerInput? {
        guard let run = runs[id], let ring else { return nil }
        let start = ring.writtenFrames
        run.control.grant(ring, primeTarget: holds ? frames(in: settings.startTime, of: ring) : nil, holds: holds)
        return .runGranted(id, start: start)
    }

    private func requestPrime(_ id: RunID) {
        guard let ring, let run = runs[id] else { return }
        let target = frames(in: settings.restartTime, of: ring)
        run.control.requestPrime(at: target)
        // The pass may have filled the ring while the news of the empty one was on its way, and now sleep.
        if run.control.takePrime(available: ring.availableFrames, isLast: false) { tell(.runPrimed(id)) }
    }

    private func frames(in time: Duration, of ring: PCMRing) -> Int {
        min(Int(state.outputFormat?.frames(in: time) ?? 0), ring.capacityFrames)
    }

    // MARK: The sink

    private func openOutput(_ format: AudioFormat) async -> PlayerInput? {
        await stopDraining()
        do {
            try await connection.value
            let fresh = PCMRing(format: format, frames: Int(format.frames(in: settings.ringTime)), space: space)
            try await parts.output.open(format, reader: fresh)
            ring = fresh
            return nil
        } catch {
            return .outputFailed(Self.mediaError(error))
        }
    }

    private func startOutput() async -> PlayerInput {
        do {
            try await parts.output.start()
            return .outputStarted
        } catch {
            return .outputFailed(Self.mediaError(error))
        }
    }

    private func drain() {
        let output = parts.output
        drainTask?.cancel()
        drainTask = Task { [tell] in
            await output.drain()
            if !Task.isCancelled { tell(.drained) }
        }
    }

    private func stopDraining() async {
        guard let task = drainTask else { return }
        drainTask = nil
        task.cancel()
        await task.value
    }

    // MARK: Bytes

    private func allowReadAhead(_ id: RunID) {
        guard let reader = runs[id]?.resource.openReader, let info = state.info(of: id) else { return }
        reader.allowReadAhead(bytesPerSecond: info.bytesPerSecond)
    }

    private func prefetchHead(_ id: RunID) {
        guard let reader = runs[id]?.resource.openReader, let info = state.info(of: id) else { return }
        let bytes = Int64(min(info.bytesPerSecond * settings.headTime.seconds, 1e12))
        reader.prefetch(info.audioStart..<info.audioStart + max(0, bytes))
    }

    // MARK: Events

    private func emit(_ event: PlayerEvent) {
        switch event {
        case .position(let index, let position, let duration, let isExact, _):
            parts.report(
                .position(
                    index: index,
                    position: position,
                    duration: duration,
                    isExact: isExact,
                    buffered: buffered
                )
            )
        case .notice(let code, _):
            if MediaError.Code(rawValue: code)?.isLostSource == true { summary.failed += 1 }
            parts.report(event)
        default: parts.report(event)
        }
    }

    private func endTrack(
        _ id: RunID,
        index: Int,
        _ reason: PlayerEvent.EndReport.Reason,
        frames: FrameCount,
        stalls: Int,
        _ error: MediaError?
    ) {
        let report = runs[id]?.resource.report ?? LoadReport()
        switch reason {
        case .failed: summary.failed += 1
        case .finished: summary.played += 1
        case .skipped: if frames > 0 { summary.played += 1 }
        }
        summary.cachedBytes += report.cachedBytes
        summary.fetchedBytes += report.fetchedBytes
        summary.requestCount += report.requestCount
        summary.stalls += stalls
        parts.report(
            .ended(
                PlayerEvent.EndReport(
                    index: index,
                    reason: reason,
                    frames: frames,
                    cachedBytes: report.cachedBytes,
                    fetchedBytes: report.fetchedBytes,
                    requestCount: report.requestCount,
                    stalls: stalls,
                    error: error
                )
            )
        )
    }

    private func resolve(_ source: String) {
        let resolver = parts.resolver
        let tell = tell
        let errand: @Sendable @concurrent () async -> Void = {
            do {
                let resolved = try await resolver.tracks(for: source)
                tell(.added(resolved.tracks, problems: resolved.problems))
            } catch {
                tell(.notice(Self.mediaError(error)))
            }
        }
        errands.append(Task(operation: errand))
    }

    private func save(to path: String) {
        let save = parts.save
        let tell = tell
        let tracks = state.queue.tracks
        let errand: @Sendable @concurrent () async -> Void = {
            do { try await save(tracks, path) } catch { tell(.notice(Self.mediaError(error))) }
        }
        errands.append(Task(operation: errand))
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

    /// Ends everything, and commits what came.
    func shutDown() async -> PlayerOutcome {
        tickTask?.cancel()
        await stopDraining()
        for task in errands { task.cancel() }
        for id in runs.keys.sorted() { await cancelRun(id, keepsResource: false) }
        // The sink is silent before the disk is waited for.
        connection.cancel()
        await parts.output.close()
        for closing in closings { await closing.value }
        space.stop()
        decodeThread.stop()
        if fatal == nil { parts.report(.summary(summary)) }
        return PlayerOutcome(summary: summary, fatal: fatal, isQuit: state.isQuit)
    }

    // MARK: What is shown

    private var currentResource: TrackResource? { state.currentRun.flatMap { runs[$0]?.resource } }

    /// Music that is there behind the position: in the ring, and stored behind the byte being heard.
    private var buffered: Duration {
        guard let info = state.currentInfo, info.bytesPerSecond > 0, let report = currentResource?.report,
            let offset = byteOffset, let run = report.stored.run(from: offset)
        else { return .zero }
        return .seconds(Double(run.count) / info.bytesPerSecond)
    }

    private var byteOffset: Int64? {
        guard let info = state.currentInfo, info.bytesPerSecond > 0 else { return nil }
        let offset = info.audioStart + Int64(min(state.position.seconds * info.bytesPerSecond, 1e15))
        guard let length = currentResource?.report.length else { return offset }
        return max(0, min(offset, length - 1))
    }

    func snapshot() -> PlayerSnapshot {
        var snapshot = PlayerSnapshot()
        let load = currentResource?.report ?? LoadReport()
        snapshot.state = state.snapshotState
        snapshot.tracks = state.queue.tracks
        snapshot.currentIndex = state.queue.current
        snapshot.info = state.currentInfo
        snapshot.position = state.position
        snapshot.isExact = state.isExact
        snapshot.duration = state.duration
        snapshot.buffered = buffered
        snapshot.load = load
        snapshot.byteOffset = byteOffset
        snapshot.volume = state.volume
        snapshot.isMuted = state.isMuted
        snapshot.isShuffled = state.queue.isShuffled
        snapshot.repeatMode = state.queue.repeatMode
        snapshot.failures = state.failures
        snapshot.messages = state.messages
        snapshot.totalCachedBytes = summary.cachedBytes + load.cachedBytes
        snapshot.totalFetchedBytes = summary.fetchedBytes + load.fetchedBytes
        snapshot.isOver = isOver
        return snapshot
    }

    private static func mediaError(_ error: any Error) -> MediaError {
        error as? MediaError ?? MediaError(.internalError, "reprise", SafeText("\(error)"))
    }
}

extension MediaError.Code {
    /// Whether a notice with this code means that something asked for is not played.
    var isLostSource: Bool {
        switch self {
        case .notFound, .unreadable, .emptyFolder, .emptyResource, .notAudio, .badPlaylist, .unsupportedScheme, .badURL,
            .refusedLocalFile, .unknownHost, .connectionRefused, .connectionFailed, .tlsFailed, .timedOut, .cut,
            .httpStatus, .tooManyRedirects, .offline, .missingLibrary:
            true
        case .resourceChanged, .notKept, .damaged, .decodingFailed, .audioServer, .audioLost, .sinkFailed, .sinkFormat,
            .internalError:
            false
        }
    }
}
