import Media
import System

/// Closes resources after their last pass, some after fetching their missing bytes, and carries out the
/// downloads that `DownloadQueue` decides.
///
/// Committing waits for the disk, and a download for the network. Only reopening the same resource, or
/// shutting down, waits for them.
final class BackgroundDownloads: Sendable {
    private enum Purpose: Equatable {
        /// Nothing is downloaded, or no more.
        case closing
        /// A track that was heard in part.
        case heard
        /// A download of the queue, with its number.
        case download(Int)
    }

    private struct Job {
        let number: Int
        let location: ResourceLocation
        var purpose: Purpose
        let task: Task<Void, Never>
    }

    private struct State {
        var lastNumber = 0
        /// The oldest first.
        var jobs: [Job] = []
        var queue = DownloadQueue()
        /// Spares in the cache what is to be played, before anything is downloaded ahead.
        var sparing: Task<Void, Never>?
        /// The resources that were opened for playing: their downloads are no longer ahead of it.
        var played: Set<ResourceLocation> = []

        /// Cancels the downloads among the jobs that `isMeant` selects; returns the tasks of all of these
        /// jobs.
        mutating func cancel(where isMeant: (Job) -> Bool) -> [Task<Void, Never>] {
            for index in jobs.indices where isMeant(jobs[index]) && jobs[index].purpose != .closing {
                jobs[index].purpose = .closing
                jobs[index].task.cancel()
            }
            return jobs.filter(isMeant).map(\.task)
        }
    }

    /// What a download of the queue has opened and, at its end, loaded.
    private final class Loaded: Sendable {
        let reader = Locked<(any ResourceReader)?>(nil)
        let report = Locked(LoadReport())
    }

    private let parts: PlaybackParts
    private let mostFetches: Int
    private let send: @Sendable (PlayerInput) -> Void
    private let progressed: @Sendable (Track) -> Void
    private let state = Locked(State())

    /// `progressed` is called about once a second while a track is being downloaded, and once its resource is
    /// closed: only then is all of it committed, so that the cache has its final ranges.
    init(
        parts: PlaybackParts,
        mostFetches: Int,
        send: @escaping @Sendable (PlayerInput) -> Void,
        progressed: @escaping @Sendable (Track) -> Void
    ) {
        self.parts = parts
        self.mostFetches = mostFetches
        self.send = send
        self.progressed = progressed
    }

    /// The downloads that are not finished.
    var items: [DownloadReport] { state.withLock { $0.queue.items } }

    func close(_ resource: TrackResource) {
        state.withLock { add(.closing, resource.track, to: &$0) { await resource.close() } }
    }

    /// Fetches the missing bytes of `resource`, and closes it. If there are too many such fetches, the oldest
    /// one is cancelled.
    func fetchRest(of resource: TrackResource) {
        state.withLock { state in
            let heard = state.jobs.filter { $0.purpose == .heard }
            if heard.count >= mostFetches { _ = state.cancel { $0.number == heard[0].number } }
            add(.heard, resource.track, to: &state) { [parts, send, progressed] in
                if let reader = resource.openReader {
                    // A failure matters to nobody: the track was played as far as it was wanted.
                    try? await TrackDownload.fetchRest(through: reader, parts.clock) {
                        progressed(resource.track)
                    }
                }
                let report = resource.report
                await resource.close()
                send(.backgroundFetchEnded(report))
            }
        }
    }

    // MARK: The queue of downloads

    /// Downloads `tracks` after those that are waiting; returns those that were not awaited before. Leaves
    /// out local files, and throws if there are only those, or no cache. Never waits.
    func download(_ tracks: [Track]) throws(MediaError) -> [Track] {
        let remote = tracks.filter { $0.location.url != nil }
        guard let first = remote.first else {
            let reason: SafeText = "can't be downloaded (a local file needs no cache)"
            throw MediaError(.notCached, tracks.first?.location.safeText ?? "no track", reason)
        }
        guard parts.cache != nil else {
            let reason: SafeText = "can't be downloaded without a cache (leave out --no-cache)"
            throw MediaError(.notCached, first.location.safeText, reason)
        }
        return step { queue in queue.add(remote.map { DownloadReport($0) }) }
    }

    /// Goes on with the downloads of an earlier session.
    func restore(_ reports: [DownloadReport]) {
        _ = step { queue in queue.add(reports) }
    }

    /// Changes the downloads at `locations`; `nil` stands for all. Returns how many were changed.
    func change(_ change: DownloadChange, at locations: Set<ResourceLocation>?) -> Int {
        step { queue in queue.change(change, locations) }
    }

    /// While the network is away, downloads that wait for it report no progress. When it is back, what could
    /// not be loaded ahead is tried again.
    func networkChanged(to report: ConnectivityReport) {
        state.withLock { report.isOffline ? $0.queue.networkLost() : $0.queue.networkReturned() }
    }

    /// `true` unless the network is known to be unmetered.
    var isHeld: Bool { state.withLock { $0.queue.cost != .unmetered } }

    /// The cost of the network is known, or has changed. On a metered one, nothing is downloaded.
    func costChanged(to cost: NetworkCost) {
        if cost == .metered { state.withLock { state in _ = state.cancel { $0.purpose == .heard } } }
        step { queue in ((), queue.costChanged(to: cost)) }
    }

    /// Changes whenever another track may be the next to be downloaded ahead.
    var revision: Int { state.withLock { $0.queue.revision } }
    /// The resources that downloading ahead passes over.
    var settledAhead: Set<ResourceLocation> { state.withLock { $0.queue.settledAhead } }

    /// Downloads `track` ahead, instead of the one before; `nil` if none is wanted. Never waits.
    func goAhead(_ track: Track?) { step { queue in ((), queue.goAhead(track)) } }

    /// Tries again what could not be downloaded ahead.
    func restartAhead() { state.withLock { $0.queue.restartAhead() } }

    /// From now on, what is downloaded ahead evicts no entry of `urls`. Never waits.
    func spare(_ urls: [WebURL]) {
        state.withLock { state in
            state.sparing = Task { [before = state.sparing, cache = parts.cache] in
                await before?.value
                await cache?.spare(urls)
            }
        }
    }

    /// Cancels the downloads at `location`, which is about to be opened; one of the queue begins again
    /// afterwards. Returns the tasks to await before that.
    func end(at location: ResourceLocation) -> [Task<Void, Never>] {
        state.withLock { _ = $0.played.insert(location) }
        step { queue in ((), queue.giveBack(location)) }
        return state.withLock { state in state.cancel { $0.location == location } }
    }

    /// Cancels all downloads; returns when every resource is closed and every report was sent.
    func finish() async {
        let tasks = state.withLock { state in
            state.queue.finish()
            return state.cancel { _ in true }
        }
        for task in tasks { await task.value }
    }

    /// Changes the queue and carries out what it decides. Only what the player is told is sent after the lock
    /// is released.
    private func step<Value>(_ change: (inout DownloadQueue) -> (Value, [DownloadQueue.Output])) -> Value {
        let (value, inputs) = state.withLock { state in
            let (value, outputs) = change(&state.queue)
            return (value, carryOut(outputs, &state))
        }
        for input in inputs { send(input) }
        return value
    }

    private func carryOut(_ outputs: [DownloadQueue.Output], _ state: inout State) -> [PlayerInput] {
        var inputs = [PlayerInput.cacheChanged]
        for output in outputs {
            switch output {
            case .start(let number, let track): start(number, track, &state)
            case .cancel(let number): _ = state.cancel { $0.purpose == .download(number) }
            case .finished(let sum): inputs.append(.downloadsFinished(sum))
            case .stoppedAhead(let stop): inputs.append(.aheadStopped(stop))
            case .held(let isHeld): inputs.append(.downloadsHeld(isHeld))
            }
        }
        return inputs
    }

    private func start(_ number: Int, _ track: Track, _ state: inout State) {
        let result = Locked(DownloadQueue.Result.cancelled)
        let isAhead = state.queue.isAhead(track.location) && !state.played.contains(track.location)
        let sparing = isAhead ? state.sparing : nil
        add(.download(number), track, to: &state) { [self] in
            await sparing?.value
            let value = await download(number, track, as: isAhead ? .ahead : .playing)
            result.withLock { $0 = value }
        } ended: { queue in
            queue.ended(number, result.withLock { $0 })
        }
    }

    /// Returns when the resource is closed.
    private func download(
        _ number: Int,
        _ track: Track,
        as opening: PlaybackParts.Opening
    ) async -> DownloadQueue.Result {
        let loaded = Loaded()
        var failure: MediaError?
        do {
            let outcome = try await makeDownload(number, of: track, as: opening, loaded).run()
            failure = Self.refusal(of: outcome, at: track.location.safeText)
        } catch {
            guard !Task.isCancelled else { return .cancelled }
            failure = MediaError(describing: error, of: track.location.safeText)
        }
        if case .ahead = opening, failure?.code == .notCached, parts.cache?.isFullAhead == true {
            return .full
        }
        let last = loaded.report.withLock { $0 }
        send(.downloadEnded(PlayerEvent.DownloadEnd(of: track.location.safeText, last, failure)))
        return failure.map { .failed($0) } ?? .downloaded(isNew: last.fetchedBytes > 0)
    }

    private static func refusal(of outcome: TrackDownload.Outcome, at subject: SafeText) -> MediaError? {
        switch outcome {
        case .list: MediaError(.notAudio, subject, "a list of tracks; play it to download them")
        case .music(let report) where report.live != nil:
            MediaError(.notCached, subject, "a live stream can't be downloaded")
        case .music(let report) where !report.isCached:
            MediaError(.notCached, subject, "can't be downloaded (it can't be cached)")
        case .music: nil
        }
    }

    private func makeDownload(
        _ number: Int,
        of track: Track,
        as opening: PlaybackParts.Opening,
        _ loaded: Loaded
    ) -> TrackDownload {
        let showProgress: @Sendable () -> Void = { [self] in
            guard let report = loaded.reader.withLock({ $0 })?.report else { return }
            state.withLock { $0.queue.progressed(number, report, at: parts.clock.now) }
            send(.cacheChanged)
            progressed(track)
        }
        return TrackDownload(
            of: track,
            open: { [parts] in try await parts.open($0, opening) },
            makeDecoder: parts.makeDecoder,
            openStream: parts.openStream,
            resolver: parts.resolver,
            clock: parts.clock
        ) { [send] step in
            switch step {
            case .opened(let reader): loaded.reader.withLock { $0 = reader }
            case .learned(let info):
                send(.factsFound([track.id: TrackFacts(of: info, for: track)], isLast: false))
                showProgress()
            case .progressed: showProgress()
            case .closing(let report):
                loaded.report.withLock { $0 = report }
                send(.backgroundFetchEnded(report))
            }
        }
    }

    /// Adds a job. `ended` tells the queue of downloads that it has ended, if it is one of these.
    private func add(
        _ purpose: Purpose,
        _ track: Track,
        to state: inout State,
        _ work: @escaping @Sendable () async -> Void,
        ended: (@Sendable (inout DownloadQueue) -> [DownloadQueue.Output])? = nil
    ) {
        state.lastNumber += 1
        let number = state.lastNumber
        let task = Task {
            await work()
            progressed(track)
            let inputs = self.state.withLock { state in
                state.jobs.removeAll { $0.number == number }
                return ended.map { carryOut($0(&state.queue), &state) } ?? []
            }
            for input in inputs { send(input) }
        }
        state.jobs.append(Job(number: number, location: track.location, purpose: purpose, task: task))
    }
}
