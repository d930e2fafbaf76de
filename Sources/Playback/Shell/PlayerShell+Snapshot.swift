import Media
import System

// The snapshot.
extension PlayerShell {
    private var currentResource: TrackResource? { state.currentPass.flatMap { passes.resource(of: $0) } }

    /// The duration of the music that is cached without a gap from the heard byte on. This includes decoded
    /// PCM, because its bytes are stored too.
    var buffered: Duration { currentResource.map { buffered($0.report) } ?? .zero }

    private func buffered(_ report: LoadReport) -> Duration {
        guard let info = state.currentInfo, info.bytesPerSecond > 0, let offset = byteOffset(report),
            let run = report.stored.run(from: offset)
        else { return .zero }
        return .seconds(Double(run.count) / info.bytesPerSecond)
    }

    /// The cached part of a track, 0...1; `nil` if unknown.
    func cachedPart(ofTrack place: Int) -> Double? {
        guard state.queue.tracks.indices.contains(place) else { return nil }
        let track = state.queue.tracks[place]
        guard case .web = track.location else { return nil }
        if let resource = currentResource, resource.track.id == track.id, let length = resource.report.length
        {
            return Availability(storedBytes: resource.report.stored.byteCount, length: length).fraction
        }
        return cached?.value[track.id]?.fraction
    }

    private func byteOffset(_ report: LoadReport) -> Int64? {
        guard let info = state.currentInfo, info.bytesPerSecond > 0 else { return nil }
        let offset = info.audioStart + Int64(min(state.position.seconds * info.bytesPerSecond, 1e15))
        guard let length = report.length else { return offset }
        return max(0, min(offset, length - 1))
    }

    /// Snapshots share the dictionary of failures with the state, which must copy it before it adds a
    /// failure. So while one track after another fails, the snapshot's failures are updated at growing
    /// intervals, and the cost of a failure stays constant.
    private func updateShownFailures() {
        let new = abs(state.failures.count - shownFailures.count)
        if isOver || state.snapshotState != .opening || new > state.failures.count / 16 {
            shownFailures = state.failures
        }
    }

    func snapshot() -> PlayerSnapshot {
        var snapshot = PlayerSnapshot()
        let load = currentResource?.report ?? LoadReport()
        snapshot.state = state.snapshotState
        snapshot.tracks = state.queue.tracks
        snapshot.queueRevision = state.queue.revision
        snapshot.learned = state.learned
        snapshot.currentIndex = state.queue.current
        snapshot.info = state.currentInfo
        snapshot.position = state.position
        snapshot.isExact = state.isExact
        snapshot.duration = state.duration
        snapshot.buffered = buffered(load)
        snapshot.load = load
        snapshot.retryIn = load.wait.map { max(.zero, $0.retryAt - clock.now) }
        snapshot.connectivity = state.connectivity
        snapshot.availability = cached?.value ?? [:]
        snapshot.byteOffset = byteOffset(load)
        snapshot.volume = state.volume
        snapshot.isMuted = state.isMuted
        snapshot.isShuffled = state.queue.isShuffled
        snapshot.repeatMode = state.queue.repeatMode
        snapshot.gainMode = state.gainMode
        snapshot.gainDecibels = state.gainDecibels
        updateShownFailures()
        snapshot.failures = shownFailures
        snapshot.messages = state.messages
        snapshot.totalCachedBytes = totals.summary.cachedBytes + load.cachedBytes
        snapshot.totalFetchedBytes = totals.summary.fetchedBytes + load.fetchedBytes
        snapshot.isOver = isOver
        return snapshot
    }
}
