import Media

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
    private let tell: @Sendable (PlayerInput) -> Void
    /// All decoding, off the cooperative pool.
    private let thread = WorkThread(name: "decode")
    private var runs: [RunID: ActiveRun] = [:]
    /// The open resources of passes that ended, for those that take them over.
    private var kept: [RunID: TrackResource] = [:]
    /// Resources that are committing and closing behind the music's back: the last, which waits for the others.
    private var closing: Task<Void, Never>?

    init(parts: PlaybackParts, tell: @escaping @Sendable (PlayerInput) -> Void) {
        self.parts = parts
        self.tell = tell
    }

    var ids: [RunID] { runs.keys.sorted() }

    func resource(of id: RunID) -> TrackResource? { runs[id]?.resource }
    func reader(of id: RunID) -> (any ResourceReader)? { runs[id]?.resource.openReader }
    func control(of id: RunID) -> RunControl? { runs[id]?.control }

    /// Begins a pass, over the resource that `reusing` left where there is one.
    func start(_ id: RunID, _ track: Track, at start: Duration, reusing: RunID?, refresh: Bool) {
        let left = reusing.flatMap { kept.removeValue(forKey: $0) }
        // Until its first sound the pass fetches only what it waits for.
        left?.openReader?.allowReadAhead(bytesPerSecond: 0)
        let resource = left ?? TrackResource(track: track, refresh: refresh, open: parts.open)
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
        let task = Task(executorPreference: thread) { await run.run() }
        runs[id] = ActiveRun(resource: resource, control: control, task: task)
    }

    /// Ends a pass and returns when it writes nothing more, with what its resource counted when it is let go.
    func cancel(_ id: RunID, keepsResource: Bool) async -> LoadReport? {
        guard let run = runs.removeValue(forKey: id) else { return nil }
        run.task.cancel()
        await run.task.value
        guard !keepsResource else {
            kept[id] = run.resource
            return nil
        }
        let report = run.resource.report
        // Committing takes as long as the disk does; nobody waits for it but the end of the session.
        closing = Task { [closing] in
            await run.resource.close()
            await closing?.value
        }
        return report
    }

    /// Returns when every resource is closed. Only after all passes were cancelled.
    func close() async {
        await closing?.value
        thread.stop()
    }
}
