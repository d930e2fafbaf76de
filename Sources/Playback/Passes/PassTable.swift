import Media
import System

/// Starts and cancels the passes of decoders, and owns the resources that they read.
///
/// Used by the player's loop alone, so it needs no lock.
final class PassTable {
    private struct ActivePass {
        var resource: TrackResource
        var control: PassControl
        var task: Task<Void, Never>
    }

    private let parts: PlaybackParts
    private let tap: SoundTap
    private let send: @Sendable (PlayerInput) -> Void
    /// Runs all decoding, off the cooperative pool.
    private let thread = WorkThread(name: "decode")
    private var passes: [PassID: ActivePass] = [:]
    /// The open resources of passes that ended, for the passes that reuse them.
    private var kept: [PassID: TrackResource] = [:]
    /// Resources that commit and close in the background.
    private var closings: [ResourceTask] = []
    /// `nil` if tracks that were heard in part are not to be fetched completely.
    private let backgroundFetches: BackgroundFetches?

    /// `filled` is called, from any task, with the report of a resource after its background fetch.
    init(
        parts: PlaybackParts,
        settings: PlaybackSettings,
        tap: SoundTap,
        tell: @escaping @Sendable (PlayerInput) -> Void,
        filled: @escaping @Sendable (LoadReport) -> Void
    ) {
        self.parts = parts
        self.tap = tap
        send = tell
        backgroundFetches =
            settings.fillsHeardTracks
            ? BackgroundFetches(clock: parts.clock, most: settings.mostBackgroundFetches, ended: filled) : nil
    }

    var ids: [PassID] { passes.keys.sorted() }

    func resource(of id: PassID) -> TrackResource? { passes[id]?.resource }
    func reader(of id: PassID) -> (any ResourceReader)? { passes[id]?.resource.openReader }
    /// The open resource that pass `id` left to its successor.
    func retainedReader(of id: PassID) -> (any ResourceReader)? { kept[id]?.openReader }
    func control(of id: PassID) -> PassControl? { passes[id]?.control }

    /// Starts a pass over the resource that pass `reusing` left, if any, or over a new one.
    ///
    /// The pass waits for the time of `settling` before it reads. With `isLowPriority`, its reads have low
    /// priority until `raisePriority`.
    func start(
        _ id: PassID,
        _ track: Track,
        at start: Duration,
        reusing: PassID?,
        refresh: Bool,
        isLowPriority: Bool,
        settling: Duration
    ) {
        let left = reusing.flatMap { kept.removeValue(forKey: $0) }
        // Until the pass is heard, only bytes for which it waits are fetched.
        left?.openReader?.allowReadAhead(bytesPerSecond: 0)
        let resource = left ?? makeResource(track, refresh: refresh, isLowPriority: isLowPriority)
        let control = PassControl()
        let pass = DecodePass(
            id: id,
            resource: resource,
            start: start,
            settling: settling,
            clock: parts.clock,
            control: control,
            framesAvailable: { [output = parts.output] in output.framesAvailable() },
            tap: tap,
            send: send
        )
        let task = Task(executorPreference: thread) { await pass.run() }
        passes[id] = ActivePass(resource: resource, control: control, task: task)
    }

    /// Gives the reads of every pass except `exempt` the priority of the current track.
    func raisePriority(except exempt: PassID?) {
        for (id, pass) in passes where id != exempt { pass.resource.raisePriority() }
    }

    /// Cancels a pass. Returns when it has stopped writing, with the report of its resource if that is
    /// closed.
    ///
    /// With `fills`, the missing bytes of the resource may be fetched in the background; then its report
    /// comes later.
    func cancel(_ id: PassID, keepsResource: Bool, fills: Bool = false) async -> LoadReport? {
        guard let pass = passes.removeValue(forKey: id) else { return nil }
        pass.task.cancel()
        await pass.task.value
        guard !keepsResource else {
            kept[id] = pass.resource
            return nil
        }
        pass.resource.endPasses()
        let report = pass.resource.report
        if let backgroundFetches, fills, pass.resource.openReader != nil,
            BackgroundFetches.isWorthwhile(report)
        {
            backgroundFetches.add(pass.resource)
            return nil
        }
        // Committing waits for the disk, so it runs in the background. Only reopening the same resource, or shutting
        // down, waits for it.
        closings.removeAll(where: \.isDone)
        closings.append(ResourceTask(pass.resource) { [resource = pass.resource] in await resource.close() })
        return report
    }

    /// Returns when every resource is closed. Call it only after all passes were cancelled.
    func close() async {
        await backgroundFetches?.close()
        for closing in closings { await closing.task.value }
        thread.stop()
    }

    /// A new resource for `track`. It opens only after earlier ones at the same location have closed, since
    /// the old loader cannot provide a file that has changed or must be loaded again.
    private func makeResource(_ track: Track, refresh: Bool, isLowPriority: Bool) -> TrackResource {
        let before = closings.filter { $0.location == track.location }.map(\.task)
        let filled = backgroundFetches?.end(at: track.location) ?? []
        return TrackResource(
            track: track,
            refresh: refresh,
            isLowPriority: isLowPriority,
            makeDecoder: parts.makeDecoder
        ) { [open = parts.open] location, refresh in
            for task in before { await task.value }
            for task in filled { await task.value }
            return try await open(location, refresh)
        }
    }
}
