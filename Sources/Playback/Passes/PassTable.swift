import Media
import System

/// The passes of the decoder that are under way, and the resources they read.
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
    private let tell: @Sendable (PlayerInput) -> Void
    /// All decoding, off the cooperative pool.
    private let thread = WorkThread(name: "decode")
    private var passes: [PassID: ActivePass] = [:]
    /// The open resources of passes that ended, for those that take them over.
    private var kept: [PassID: TrackResource] = [:]
    /// Resources that are committing and closing behind the music's back.
    private var closings: [Closing] = []
    /// Heard tracks whose rest is fetched; nil where that is not wanted.
    private let backgroundFetches: BackgroundFetches?

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
        backgroundFetches =
            settings.fillsHeardTracks
            ? BackgroundFetches(clock: parts.clock, most: settings.mostFillings, ended: filled) : nil
    }

    var ids: [PassID] { passes.keys.sorted() }

    func resource(of id: PassID) -> TrackResource? { passes[id]?.resource }
    func reader(of id: PassID) -> (any ResourceReader)? { passes[id]?.resource.openReader }
    /// The open resource that a pass left for another.
    func keptReader(of id: PassID) -> (any ResourceReader)? { kept[id]?.openReader }
    func control(of id: PassID) -> PassControl? { passes[id]?.control }

    /// Begins a pass, over the resource that `reusing` left where there is one; it reads nothing for the time of
    /// `settling`. With `isPatient` its reads wait for those of other tracks until `hurry`.
    func start(
        _ id: PassID,
        _ track: Track,
        at start: Duration,
        reusing: PassID?,
        refresh: Bool,
        isPatient: Bool,
        settling: Duration
    ) {
        let left = reusing.flatMap { kept.removeValue(forKey: $0) }
        // Until its first sound the pass fetches only what it waits for.
        left?.openReader?.allowReadAhead(bytesPerSecond: 0)
        let resource = left ?? makeResource(track, refresh: refresh, isPatient: isPatient)
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
            tell: tell
        )
        let task = Task(executorPreference: thread) { await pass.run() }
        passes[id] = ActivePass(resource: resource, control: control, task: task)
    }

    /// The reads of every pass but `patient` are urgent from now on.
    func hurry(except patient: PassID?) {
        for (id, pass) in passes where id != patient { pass.resource.hurry() }
    }

    /// Ends a pass and returns when it writes nothing more, with what its resource counted when it is let go.
    ///
    /// With `fills` the rest of the resource may be fetched in the background, and its report comes later.
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
        // Committing takes as long as the disk does; nobody waits for it but who opens the same again, and
        // the end of the session.
        closings.removeAll { $0.isDone }
        closings.append(Closing(pass.resource))
        return report
    }

    /// Returns when every resource is closed. Only after all passes were cancelled.
    func close() async {
        await backgroundFetches?.close()
        for closing in closings { await closing.task.value }
        thread.stop()
    }

    /// The resource of `track`, opened anew. What is still closing at the same place comes first: a file that has
    /// changed, or is asked for again, is not to be had from the loader of the old one.
    private func makeResource(_ track: Track, refresh: Bool, isPatient: Bool) -> TrackResource {
        let before = closings.filter { $0.location == track.location }.map(\.task)
        let filled = backgroundFetches?.end(at: track.location) ?? []
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
