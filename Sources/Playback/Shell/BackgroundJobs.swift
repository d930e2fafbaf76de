import Media
import System

/// Works in the background: resolves sources and, independently of that, saves playlists and pins tracks in
/// the order of the commands.
final class BackgroundJobs: Sendable {
    private let save: @Sendable ([Track], String) async throws -> Void
    private let cache: (any CacheStatus)?
    private let send: @Sendable (PlayerInput) -> Void
    /// Resolves sources, which may wait for the network. `changes`, which saves playlists and pins tracks,
    /// does not wait for it.
    let additions: SourceReader
    let changes = JobLine()

    init(parts: PlaybackParts, send: @escaping @Sendable (PlayerInput) -> Void) {
        additions = SourceReader(
            resolver: parts.resolver,
            clock: parts.clock,
            order: ReadingOrder(.singly)
        ) { output in
            switch output {
            case .awaits(let source, let count): send(.reading(tracks: count, of: source, isAddition: true))
            case .part(let part, let isLast, let source):
                send(.added(part.tracks, problems: part.problems, isLast: isLast, source: source))
            }
        }
        save = parts.save
        cache = parts.cache
        self.send = send
    }

    /// The number of jobs that are not done.
    var count: Int { additions.count + changes.count }

    /// Saves `tracks` with all known tags and lengths. That list is made only when the job runs, so that
    /// waiting jobs share the parts of the queue instead of copying them.
    func save(_ tracks: [Track], _ facts: LearnedFacts, to path: String, for asker: Asker?) {
        change(.save(path), for: asker) { [save] in
            try await save(tracks.map { $0.described(by: facts[$0.id]) }, path)
            return .saved(count: tracks.count, path: path)
        }
    }

    /// Pins `tracks`, or unpins them. With `nil`, pins all if the first one is not pinned, and otherwise
    /// unpins all. Local files among them are left out.
    func pin(_ tracks: [Track], _ isPinned: Bool?, for asker: Asker?) {
        change(for: asker) { [cache] in
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

    /// Runs `change` after the jobs before it, and sends its result. If it fails, the notice names `command`,
    /// if there is one.
    private func change(
        _ command: PlayerCommand? = nil,
        for asker: Asker?,
        _ change: @escaping @Sendable () async throws -> PlayerInput
    ) {
        changes.add { [send] in
            let result: PlayerInput
            do {
                result = try await change()
            } catch {
                result = .notice(MediaError(describing: error), failed: command)
            }
            send(asker.map { .done(result, for: $0) } ?? result)
        }
    }
}

/// Carries out jobs in the background, one after another, in the order in which they were added.
package final class JobLine: Sendable {
    package typealias Job = @Sendable () async -> Void

    private let jobs: AsyncStream<Job>.Continuation
    private let task: Task<Void, Never>
    private let unfinished = Locked(0)

    package init(priority: TaskPriority? = nil) {
        let (waiting, jobs) = AsyncStream.makeStream(of: Job.self)
        self.jobs = jobs
        task = Task(priority: priority) { for await job in waiting { await job() } }
    }

    /// The number of jobs that are not done.
    var count: Int { unfinished.withLock { $0 } }

    /// Adds a job; never waits. Jobs after `cancel` or `finish` are dropped.
    package func add(_ job: @escaping Job) {
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
