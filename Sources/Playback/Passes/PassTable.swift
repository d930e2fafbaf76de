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
    /// `true` if tracks that were heard in part are fetched completely.
    private let fillsHeardTracks: Bool
    let downloads: BackgroundDownloads
    /// `nil` if waveforms are only made of what is played.
    private let scan: PeakScan?

    /// `progressed` is called when more of a track that no pass reads was downloaded or committed.
    init(
        parts: PlaybackParts,
        settings: PlaybackSettings,
        tap: SoundTap,
        send: @escaping @Sendable (PlayerInput) -> Void,
        progressed: @escaping @Sendable (Track) -> Void
    ) {
        self.parts = parts
        self.tap = tap
        self.send = send
        fillsHeardTracks = settings.fillsHeardTracks
        scan = settings.scanRest.map {
            PeakScan(makeDecoder: parts.makeDecoder, clock: parts.clock, rest: $0)
        }
        downloads = BackgroundDownloads(
            parts: parts,
            mostFetches: settings.mostBackgroundFetches,
            send: send,
            progressed: progressed
        )
    }

    var ids: [PassID] { passes.keys.sorted() }

    func resource(of id: PassID) -> TrackResource? { passes[id]?.resource }
    func reader(of id: PassID) -> (any ResourceReader)? { passes[id]?.resource.openReader }
    func control(of id: PassID) -> PassControl? { passes[id]?.control }

    /// Starts a pass over the resource that another pass left for it, or over a new one.
    func start(_ start: PassStart) {
        let left = start.reusing.flatMap { kept.removeValue(forKey: $0) }
        // Until the pass is heard, only bytes for which it waits are fetched.
        left?.openReader?.allowReadAhead(bytesPerSecond: 0)
        let resource = left ?? makeResource(for: start)
        let control = PassControl()
        let pass = DecodePass(
            start: start,
            resource: resource,
            resolver: parts.resolver,
            clock: parts.clock,
            control: control,
            framesAvailable: { [output = parts.output] in output.framesAvailable() },
            tap: tap,
            send: send
        )
        let task = Task(executorPreference: thread) { await pass.run() }
        passes[start.id] = ActivePass(resource: resource, control: control, task: task)
    }

    /// Gives the reads of every pass except `exempt` the priority of the current track.
    func raisePriority(except exempt: PassID?) {
        for (id, pass) in passes where id != exempt { pass.resource.raisePriority() }
    }

    /// Scans in the background what is cached of the tracks of these passes, and of no others.
    func scanPeaks(of ids: [PassID]) { scan?.scan(ids.compactMap { passes[$0]?.resource }) }

    /// Cancels a pass. Returns when it has stopped writing, with the report of its resource if that is
    /// closed.
    ///
    /// If the track `wasHeard`, the missing bytes of the resource may be fetched in the background; then its
    /// report comes later.
    func cancel(_ id: PassID, keepsResource: Bool, wasHeard: Bool = false) async -> LoadReport? {
        guard let pass = passes.removeValue(forKey: id) else { return nil }
        pass.task.cancel()
        await pass.task.value
        guard !keepsResource else {
            kept[id] = pass.resource
            return nil
        }
        await scan?.end()
        pass.resource.endPasses()
        let report = pass.resource.report
        let isWanted = fillsHeardTracks && wasHeard && !downloads.isHeld
        if isWanted, pass.resource.openReader != nil, report.missingOffset != nil {
            downloads.fetchRest(of: pass.resource)
            return nil
        }
        downloads.close(pass.resource)
        return report
    }

    /// Returns when every resource is closed. Call it only after all passes were cancelled.
    func close() async {
        await scan?.close()
        await downloads.finish()
        thread.stop()
    }

    /// A new resource. It opens only after earlier ones at the same location have closed, since the old
    /// loader cannot provide a file that has changed or must be loaded again.
    private func makeResource(for start: PassStart) -> TrackResource {
        let location = start.track.location
        let before = downloads.end(at: location)
        return TrackResource(for: start, makeDecoder: parts.makeDecoder, openStream: parts.openStream) {
            [open = parts.open] track, opening in
            for task in before { await task.value }
            return try await open(track, opening)
        }
    }
}
