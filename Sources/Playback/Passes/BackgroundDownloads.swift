import Media
import System

/// Closes resources after their last pass, some after fetching their missing bytes, and downloads pinned
/// tracks one after another.
///
/// Committing waits for the disk, and a download for the network. Only reopening the same resource, or
/// shutting down, waits for them.
final class BackgroundDownloads: Sendable {
    private enum Purpose {
        /// Nothing is downloaded, or no more.
        case closing
        /// A track that was heard in part.
        case heard
        case pinned
    }

    private struct Job {
        let number: Int
        let track: Track
        var purpose: Purpose
        let task: Task<Void, Never>
    }

    private struct State {
        var lastNumber = 0
        /// The oldest first.
        var jobs: [Job] = []
        /// The pinned tracks whose download has not begun, in order.
        var pinned: [Track] = []
        var isOver = false

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

    /// Downloads `tracks`, which were pinned, after those that are waiting. Never waits.
    func download(_ tracks: [Track]) {
        state.withLock { state in
            let known = state.pinned + state.jobs.filter { $0.purpose == .pinned }.map(\.track)
            state.pinned += tracks.filter { track in !known.contains { $0.id == track.id } }
            startNext(&state)
        }
    }

    /// Gives up the downloads of `tracks`, which were unpinned.
    func stop(_ tracks: [Track]) {
        let ids = Set(tracks.map(\.id))
        state.withLock { state in
            state.pinned.removeAll { ids.contains($0.id) }
            _ = state.cancel { $0.purpose == .pinned && ids.contains($0.track.id) }
        }
    }

    /// Cancels the downloads at `location`, which is about to be opened; that of a pinned track begins again
    /// after the others. Returns the tasks to await before that.
    func end(at location: ResourceLocation) -> [Task<Void, Never>] {
        state.withLock { state in
            let isThere = { (job: Job) in job.track.location == location }
            state.pinned += state.jobs.filter { isThere($0) && $0.purpose == .pinned }.map(\.track)
            return state.cancel(where: isThere)
        }
    }

    /// Cancels all downloads; returns when every resource is closed and every report was sent.
    func finish() async {
        let tasks = state.withLock { state in
            state.isOver = true
            return state.cancel { _ in true }
        }
        for task in tasks { await task.value }
    }

    private func startNext(_ state: inout State) {
        guard !state.isOver, !state.pinned.isEmpty, !state.jobs.contains(where: { $0.purpose == .pinned })
        else { return }
        let track = state.pinned.removeFirst()
        add(.pinned, track, to: &state) { [self] in
            do {
                let outcome = try await download(of: track).run()
                guard case .list = outcome else { return }
                throw MediaError(.notAudio, track.location.safeText, "a list of tracks; play it to pin them")
            } catch {
                // Unpinned, interrupted or over.
                guard !Task.isCancelled else { return }
                send(.notice(MediaError(describing: error, of: track.location.safeText)))
            }
        }
    }

    private func download(of track: Track) -> TrackDownload {
        TrackDownload(
            of: track,
            open: { [parts] in try await parts.open($0, false) },
            makeDecoder: parts.makeDecoder,
            openStream: parts.openStream,
            resolver: parts.resolver,
            clock: parts.clock
        ) { [send, progressed] step in
            switch step {
            case .opened: break
            case .learned(let info):
                send(.factsFound([track.id: TrackFacts(of: info, for: track)], isLast: false))
            case .progressed: progressed(track)
            case .closing(let report): send(.backgroundFetchEnded(report))
            }
        }
    }

    private func add(
        _ purpose: Purpose,
        _ track: Track,
        to state: inout State,
        _ work: @escaping @Sendable () async -> Void
    ) {
        state.lastNumber += 1
        let number = state.lastNumber
        let task = Task {
            await work()
            progressed(track)
            self.state.withLock { state in
                state.jobs.removeAll { $0.number == number }
                startNext(&state)
            }
        }
        state.jobs.append(Job(number: number, track: track, purpose: purpose, task: task))
    }
}
