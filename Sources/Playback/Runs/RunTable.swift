import Media
import System

/// The passes of the decoder that are under way, and the resources they read.
///
/// Used by the player's loop alone, so it needs no lock.
final class RunTable {
    private struct ActiveRun {
        var resource: TrackResource
        var control: RunControl
        var task: Task<Void, Never>
    }

    private let parts: PlaybackParts
    private let tap: SoundTap
    private let tell: @Sendable (PlayerInput) -> Void
    /// All decoding, off the cooperative pool.
    private let thread = WorkThread(name: "decode")
    private var runs: [RunID: ActiveRun] = [:]
    /// The open resources of passes that ended, for those that take them over.
    private var kept: [RunID: TrackResource] = [:]
    /// Resources that are committing and closing behind the music's back.
    private var closings: [Closing] = []
    /// Heard tracks whose rest is fetched; nil where that is not wanted.
    private let fillings: Fillings?

    /// `filled` hears, from any task, what a resource counted whose rest was fetched.
    init(
        parts: PlaybackParts,
        settings: PlaybackSettings,
        tap: SoundTap,
        tell: @escaping @Sendable (PlayerInput) -> Void,
        filled: @escaping @Sendable (LoadReport) -> Void
    ) {
        self.parts = parts
        self.tap = tap
        self.tell = tell
        fillings =
            settings.fillsHeardTracks
            ? Fillings(clock: parts.clock, most: settings.mostFillings, ended: filled) : nil
    }

    var ids: [RunID] { runs.keys.sorted() }

    func resource(of id: RunID) -> TrackResource? { runs[id]?.resource }
    func reader(of id: RunID) -> (any ResourceReader)? { runs[id]?.resource.openReader }
    /// The open resource that a pass left for another.
    func keptReader(of id: RunID) -> (any ResourceReader)? { kept[id]?.openReader }
    func control(of id: RunID) -> RunControl? { runs[id]?.control }

    /// Begins a pass, over the resource that `reusing` left where there is one; it reads nothing for the time of
    /// `settling`. With `isPatient` its reads wait for those of other tracks until `hurry`.
    func start(
        _ id: RunID,
        _ track: Track,
        at start: Duration,
        reusing: RunID?,
        refresh: Bool,
        isPatient: Bool,
        settling: Duration
    ) {
        let left = reusing.flatMap { kept.removeValue(forKey: $0) }
        // Until its first sound the pass fetches only what it waits for.
        left?.openReader?.allowReadAhead(bytesPerSecond: 0)
        let resource = left ?? makeResource(track, refresh: refresh, isPatient: isPatient)
        let control = RunControl()
        let run = DecodeRun(
            id: id,
            resource: resource,
            start: start,
            settling: settling,
            clock: parts.clock,
            control: control,
            framesAvailable: { [output = parts.output] in output.framesAvailable() },
            tap: tap,
            tell: tell
        )
        let task = Task(executorPreference: thread) { await run.run() }
        runs[id] = ActiveRun(resource: resource, control: control, task: task)
    }

    /// The reads of every pass but `patient` are urgent from now on.
    func hurry(except patient: RunID?) {
        for (id, run) in runs where id != patient { run.resource.hurry() }
    }

    /// Ends a pass and returns when it writes nothing more, with what its resource counted when it is let go.
    ///
    /// With `fills` the rest of the resource may be fetched in the background, and its report comes later.
    func cancel(_ id: RunID, keepsResource: Bool, fills: Bool = false) async -> LoadReport? {
        guard let run = runs.removeValue(forKey: id) else { return nil }
        run.task.cancel()
        await run.task.value
        guard !keepsResource else {
            kept[id] = run.resource
            return nil
        }
        run.resource.endPasses()
        let report = run.resource.report
        if let fillings, fills, run.resource.openReader != nil, Fillings.isWorthwhile(report) {
            fillings.add(run.resource)
            return nil
        }
        // Committing takes as long as the disk does; nobody waits for it but who opens the same again, and
        // the end of the session.
        closings.removeAll { $0.isDone }
        closings.append(Closing(run.resource))
        return report
    }

    /// Returns when every resource is closed. Only after all passes were cancelled.
    func close() async {
        await fillings?.close()
        for closing in closings { await closing.task.value }
        thread.stop()
    }

    /// The resource of `track`, opened anew. What is still closing at the same place comes first: a file that has
    /// changed, or is asked for again, is not to be had from the loader of the old one.
    private func makeResource(_ track: Track, refresh: Bool, isPatient: Bool) -> TrackResource {
        let before = closings.filter { $0.location == track.location }.map(\.task)
        let filled = fillings?.end(at: track.location) ?? []
        return TrackResource(
            track: track,
            refresh: refresh,
            isPatient: isPatient,
            makeDecoder: parts.makeDecoder
        ) { [open = parts.open] location, refresh in
            for task in before { await task.value }
            for task in filled { await task.value }
            return try await open(location, refresh)
        }
    }
}

/// A resource on its way out.
private final class Closing: Sendable {
    let location: ResourceLocation
    let task: Task<Void, Never>
    private let done: DoneMark

    init(_ resource: TrackResource) {
        let done = DoneMark()
        self.done = done
        location = resource.track.location
        task = Task {
            await resource.close()
            done.set()
        }
    }

    var isDone: Bool { done.isSet }
}
