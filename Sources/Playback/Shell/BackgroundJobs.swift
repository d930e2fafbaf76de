import Media
import System

/// Resolves sources in the background, in the order of the commands; likewise, but independently of that,
/// saves playlists and pins tracks.
final class BackgroundJobs: Sendable {
    private let reading: SourceReading
    private let save: @Sendable ([Track], String) async throws -> Void
    private let cache: (any CacheStatus)?
    private let send: @Sendable (PlayerInput) -> Void
    /// Resolves sources, which may wait for the network. `changes`, which saves playlists and pins tracks,
    /// does not wait for it.
    private let additions = JobLine()
    private let changes = JobLine()

    init(parts: PlaybackParts, send: @escaping @Sendable (PlayerInput) -> Void) {
        reading = SourceReading(resolver: parts.resolver, clock: parts.clock)
        save = parts.save
        cache = parts.cache
        self.send = send
    }

    /// The number of jobs that are not done.
    var count: Int { additions.count + changes.count }

    func resolve(_ source: String) {
        additions.add { [reading, send] in
            await reading.run([source]) { batch, isLast in
                send(.added(batch.tracks, problems: batch.problems, isLast: isLast))
            }
        }
    }

    /// Saves the result of `tracks`, which is called only when its turn comes: several saves that wait share
    /// the queue as it was.
    func save(_ tracks: @escaping @Sendable () -> [Track], to path: String) {
        change { [save] in
            let tracks = tracks()
            try await save(tracks, path)
            return .saved(count: tracks.count, path: path)
        }
    }

    /// Pins `tracks`, or unpins them; with `nil`, changes whether the first one is pinned, and all like it.
    /// Local files among them are left out.
    func pin(_ tracks: [Track], _ isPinned: Bool?) {
        change { [cache] in
            let remote = tracks.filter { $0.location.url != nil }
            guard let first = remote.first else {
                let reason: SafeText = "can't be pinned (a local file needs no cache)"
                throw MediaError(.notCached, tracks.first?.location.safeText ?? "no track", reason)
            }
            guard let cache else {
                let reason: SafeText = "can't be pinned without a cache (leave out --no-cache)"
                throw MediaError(.notCached, first.location.safeText, reason)
            }
            let urls = remote.compactMap(\.location.url)
            var target = isPinned
            if target == nil { target = await cache.availability(of: [urls[0]]).first??.isPinned != true }
            for url in urls { try await cache.setPinned(url, target == true) }
            return .pinned(remote, target == true)
        }
    }

    private func change(_ change: @escaping @Sendable () async throws -> PlayerInput) {
        changes.add { [send] in
            do {
                send(try await change())
            } catch {
                send(.notice(MediaError(describing: error)))
            }
        }
    }

    /// Cancels resolving: no more tracks are needed.
    func stopResolving() { additions.cancel() }

    /// Returns when every playlist is saved and every pin is set, or its failure was reported.
    func finishSaving() async { await changes.finish() }
}

/// Carries out jobs in the background, one after another, in the order in which they were added.
final class JobLine: Sendable {
    typealias Job = @Sendable () async -> Void

    private let jobs: AsyncStream<Job>.Continuation
    private let task: Task<Void, Never>
    private let unfinished = Locked(0)

    init(priority: TaskPriority? = nil) {
        let (waiting, jobs) = AsyncStream.makeStream(of: Job.self)
        self.jobs = jobs
        task = Task(priority: priority) { for await job in waiting { await job() } }
    }

    /// The number of jobs that are not done.
    var count: Int { unfinished.withLock { $0 } }

    /// Adds a job; never waits. Jobs after `cancel` or `finish` are dropped.
    func add(_ job: @escaping Job) {
        unfinished.withLock { $0 += 1 }
        jobs.yield { [self] in
            await job()
            unfinished.withLock { $0 -= 1 }
        }
    }

    func cancel() {
        jobs.finish()
        task.cancel()
    }

    /// Returns when all jobs are done.
    func finish() async {
        jobs.finish()
        await task.value
    }
}
